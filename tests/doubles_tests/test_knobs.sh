#!/bin/sh
# SPDX-License-Identifier: MIT
# What mini-NCCL does otherwise than any release of NCCL when it is asked to: the data is right
# all the same, and the truth says that it is otherwise.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

programs=${top_builddir:?}/tests/doubles_tests/programs
truth=$PWD/knobs.$$
trap 'rm -rf "$truth"' EXIT
MININCCL_TRUTH=$truth
NCCL_NET=Socket
NCCL_ALGO=ring
NCCL_PROTO=simple
export MININCCL_TRUTH NCCL_NET NCCL_ALGO NCCL_PROTO

# right WHAT PROGRAM ARGUMENT...: with settings before it, if there are any
right()
{
    right_what=$1
    shift
    rm -rf "$truth"
    mkdir "$truth"
    check "$right_what: all values are right" env "$@"
}

# told EXPRESSION: what it makes of all records of the truth
told()
{
    cat "$truth"/truth.* | /usr/bin/python3 -c "
import json, sys
records = [json.loads(line) for line in sys.stdin]
print($1)"
}

# messages WHAT EXPECTED SETTING...: how many an all-reduce of 700001 elements takes, for each
# that it takes by default: two steps each, of chunks of four
messages()
{
    messages_what=$1
    messages_expected=$2
    shift 2
    right "$messages_what" "$@" timeout -s KILL 60 "$programs/messages" 2 1
    same "$messages_what: how many messages" "$messages_expected" "$(told "sum(
        r['record'] == 'message' and (r['name'], r['op'], r['rank'], r['direction'])
        == ('AllReduce', 2, 0, 'send') for r in records)")"
}

# An element of 4 bytes; a loop is two chunks of 2 MiB, twice sent, and there is one loop.
messages "as NCCL" 4 NCCL_RUNTIME_CONNECT=1
messages "messages of one step" 8 MININCCL_SLICE_STEPS=1
messages "messages of a chunk" 2 MININCCL_SLICE_STEPS=4
messages "chunks of two steps" 4 MININCCL_CHUNK_STEPS=2
messages "chunks of an eighth" 24 MININCCL_CHUNK_DIVISOR=8

# rising: whether the collectives of each launch are in the order of their calls
rising()
{
    told "all(calls == sorted(calls) for calls in (
        [op['op'] for op in r['ops'] if op['function'] not in ('Send', 'Recv')]
        for r in records if r['record'] == 'launch'))"
}
for call_order in 0 1; do
    right "call order $call_order" MININCCL_CALL_ORDER=$call_order timeout -s KILL 60 \
        "$programs/configuration" ranks=2 transport=socket operation=any rounds=6 seed=6
    if [ "$call_order" -eq 0 ]; then
        same "collectives of a group run in another order than that of their calls" False "$(rising)"
    else
        same "with the order of calls, in that" True "$(rising)"
    fi
done
tap_done
