#!/bin/sh
# SPDX-License-Identifier: MIT
# A job hangs at night: the flight recorder has written by itself where each rank stands,
# and why it did.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# because PATTERN: a snapshot was taken for that reason.
because()
{
    grep -Eq "^snapshot $1" "$work/trace/$host/ccltap-recording" 2>/dev/null
}

# stands RANK PATTERN: what the newest snapshot says of the rank.
stands()
{
    pid=$(sed -n "s/^$1 //p" "$work/pids")
    grep "^  rank $1 pid $pid on [^ ]*: " "$work/text"
    [ "$(grep -c "^  rank $1 pid $pid on [^ ]*: $2" "$work/text")" -eq 1 ]
}

# stand: the newest snapshot says it of all that hang.
stand()
{
    "$ccltap" timeline --overwrite -o "$work/text" "$work/trace" &&
        stands 0 "in ncclCommSplit" && stands 1 "in ncclCommSplit" &&
        stands 2 "idle" && stands 3 "in [A-Za-z]*, .*for at least"
}

"$ccltap" record -o "$work/trace" --flight-recorder=4M --stuck-after=2 --min-interval=1 -- \
    "$programs/hang" "$work" "$programs/stuck.so" often >"$work/pids" 2>"$work/err" &
recorder=$!
trap 'kill -KILL $recorder $(sed "s/.* //" "$work/pids") 2>/dev/null || true; rm -rf "$work"' EXIT

check "an error or an abort is a reason" \
    within 60 because 'process [0-9]*: (asynchronous error [0-9]|ncclCommAbort)'
check "a call that does not return is one, too" \
    within 60 because 'process [0-9]*: [A-Za-z]* has not returned for [0-9]* s'
# Each rank asks for itself: until the last has.
within 60 stand >/dev/null || true
check "the snapshot reads while all hang" \
    "$ccltap" timeline --overwrite -o "$work/text" "$work/trace"
check "it says of the first that it is in a split" stands 0 "in ncclCommSplit on .*(rank 0/3)"
check "and of the second" stands 1 "in ncclCommSplit on .*(rank 1/3)"
check "of the one that stays out of it that it is in no call" stands 2 "idle"
check "of the one in a call that never returns in which, and since when" \
    stands 3 "in [A-Za-z]*, .*for at least"
kill -KILL "$(sed -n 's/^1 //p' "$work/pids")"
parent=$(cat "/proc/$recorder/task/$recorder/children")
# The supervisor is one of them, and nobody's to kill.
for child in $parent; do
    [ "$(cat "/proc/$child/comm")" = hang ] && kill -KILL "$child"
done
status=0
wait $recorder || status=$?
same "the program is killed" 137 "$status"
check "which is the last reason" because "process [0-9]* died by signal 9"
check "what is left of all that still reads" \
    "$ccltap" timeline --overwrite -o "$work/text" "$work/trace"
check "and says where the others stood" stands 0 "in ncclCommSplit"
tap_done
