#!/bin/sh
# SPDX-License-Identifier: MIT
# A collective whose peer never comes: its kernel waits on the GPU and its rank for its
# stream, and no call of NCCL's is open. The flight recorder notices, and what it wrote leads
# from the wait over the stream to the launch and from that to the collective.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

NCCL_IB_DISABLE=1
export NCCL_IB_DISABLE

absent_py() # PRESENT|ABSENT
{
    /usr/bin/python3 "$top_srcdir/tests/live/expect/absent.py" "$1" <"$work/jsonl"
}

because()
{
    grep -Eq "^snapshot $1" "$work/trace/$host/ccltap-recording" 2>/dev/null
}

stands() # RANK PATTERN
{
    grep "^  rank $1 " "$work/text"
    [ "$(grep -c "^  rank $1 pid [0-9]* on [^ ]*: $2" "$work/text")" -eq 1 ]
}

# Where it comes the same program hangs nowhere.
touch "$work/go"
run 0 "a program whose ranks all come is recorded" \
    "$ccltap" record -o "$work/present" -- "$programs/absent" "$work"
check "its timeline reads" \
    "$ccltap" timeline --format jsonl -o "$work/jsonl" "$work/present"
check "nothing is open, and both collectives are linked" absent_py present
rm "$work/go"

"$ccltap" record -o "$work/trace" --flight-recorder=4M --stuck-after=1 --min-interval=1 -- \
    "$programs/absent" "$work" >"$work/pids" 2>"$work/err" &
recorder=$!
trap 'kill -KILL $recorder $(sed "s/.* //" "$work/pids") 2>/dev/null || true; rm -rf "$work"' EXIT
check "a wait that does not return is a reason for a snapshot" \
    within 60 because 'process [0-9]*: cuStreamSynchronize has not returned for [0-9]* s'
# What is written down comes before what is written.
check "which reads while it hangs" within 20 "$ccltap" timeline --format jsonl --overwrite \
    -o "$work/jsonl" "$work/trace"
check "the wait is for the kernel of the collective that one rank alone has called" \
    absent_py absent
check "as text, too" "$ccltap" timeline -o "$work/text" "$work/trace"
key='0x[0-9a-f]*\.*'
check "it says in what the rank waits, and for which operation" stands 0 \
    "in cuStreamSynchronize, thread [0-9]*, for at least [0-9.]* m*s; on its stream ncclAllReduce, operation 2 of $key (rank 0/2); last seen at "
check "and of the other one that it is an operation behind" stands 1 \
    "idle; last call ncclAllReduce, operation 1 of $key (rank 1/2), returned at "
check "that operation lacks the other rank" grep -q '^program: operations with missing ranks 1$' "$work/text"

# The other one comes at last.
touch "$work/go"
status=0
wait $recorder || status=$?
same "it ends well when the other rank comes" 0 "$status"
tap_done
