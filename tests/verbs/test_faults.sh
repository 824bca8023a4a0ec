#!/bin/sh
# SPDX-License-Identifier: MIT
# Faults that softverbs makes: each has its status at the right request, and why something
# has no other half is told.
set -eu
# shellcheck source=tests/verbs/programs.inc.sh
. "${top_srcdir:?}/tests/verbs/programs.inc.sh"

# faulty NAME FAULTS PROGRAM ARGUMENT...
faulty()
{
    SOFTVERBS_FAULTS=$2
    export SOFTVERBS_FAULTS
    faulty_name=$1
    shift 2
    recorded "$faulty_name" "$@"
    unset SOFTVERBS_FAULTS
}

# ended STATUS: how many sends did.
ended()
{
    grep '"type":"span"' "$work/jsonl" | grep -v '"name":"RECV"' | grep -c "\"result\":\"$1\""
}

faulty rnr rnr@100 omnireduce -i -2 -n 300
check "no receive there: it fails with that" test "$(ended RNR_RETRY_EXC_ERR)" -ge 4
agrees "each at its request, and what follows is flushed" --errors
faulty retry retry@100 omnireduce -i -2 -n 300
check "nobody answers: it fails with that" test "$(ended RETRY_EXC_ERR)" -ge 4
agrees "each at its request, and what follows is flushed" --errors
faulty flush flush@100 omnireduce -i -2 -n 300
check "a queue pair in error flushes" test "$(ended WR_FLUSH_ERR)" -ge 4
agrees "each request" --errors
reported "the report counts them" "$work/flush"
faulty one-cq flush@100 omnireduce -i -n 300
agrees "with one completion queue, too" --errors
faulty loss loss/50 uccl -n 1000
agrees "what is lost on the way is told" --partial --lost
faulty delay delay=300 omnireduce -n 200
agrees "requests that take long are matched all the same"

tap_done
