#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that use libibverbs as others do than NCCL: each request, each completion and
# each receiver is what the program itself wrote down.
set -eu
# shellcheck source=tests/verbs/programs.inc.sh
. "${top_srcdir:?}/tests/verbs/programs.inc.sh"

recorded omnireduce omnireduce
agrees "all wr_id 0: all is matched, exactly"
recorded omnireduce-list omnireduce -i -2 -l 8
agrees "posted as lists: all is matched, exactly"
reported "the report has sums, depth and percentiles of the log" "$work/omnireduce-list"

# The same comparison, of a trace in which one thing is wrong.
sed 's/"seq":100,/"seq":101,/' "$work/jsonl" >"$work/wrong"
mv "$work/wrong" "$work/jsonl"
check "a wrong one is noticed" sh -c '! "$@"' - /usr/bin/python3 \
    "$top_srcdir/tests/verbs/expect/log.py" "$PROGRAM_LOGS" "$work/jsonl" -

recorded uccl uccl
# On a busy machine a message may find no receive and be lost: then what comes after it is
# inferred, which is as it should be (test_pingpong.sh has a run where nothing can be lost).
agrees "unreliable, with datagrams: all is matched" --inferred
reported "so with datagrams" "$work/uccl"
recorded uccl-extended uccl -x
agrees "the same from an extended completion queue" --inferred
recorded mscclpp mscclpp
agrees "a proxy, one in n signalled: all is matched, exactly"
reported "so with requests that are not signalled" "$work/mscclpp"
recorded windows windows
agrees "windows that are bound, written to and invalidated: all is matched, exactly"
SOFTVERBS_LINK=infiniband
export SOFTVERBS_LINK
recorded hugectr hugectr
agrees "a queue pair connected to itself by LID: all is matched, exactly"
same "its null memory region is told" "kind = 3 kind = 3" "$(events "$work/hugectr" |
    sed -n 's/.* verbs:mr: .*\(kind = ( "*[a-z]*"* : container = 3 )\|kind = 3\).*/kind = 3/p' |
    tr '\n' ' ' | sed 's/ $//')"

tap_done
