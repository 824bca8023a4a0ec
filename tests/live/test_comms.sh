#!/bin/sh
# SPDX-License-Identifier: MIT
# Every way of making, changing and ending a communicator is followed, also in a recording
# that begins when they are made.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

comms_py()
{
    /usr/bin/python3 "$top_srcdir/tests/live/expect/comms.py" "$@"
}

run 0 "the program is recorded" "$ccltap" record --gpu=off -o "$work/trace" -- "$programs/comms" "$work"
mv "$work/out" "$work/pids"
check "the timeline reads" "$ccltap" timeline --format jsonl -o "$work/jsonl" "$work/trace"
check "each communicator is right, and its operation linked" \
    comms_py "$work/pids" "$work/jsonl" complete

# All seven processes have come to the gate.
at_gate()
{
    tries=0
    until [ "$(find "$work" -name 'at.*' | wc -l)" -eq 7 ] || [ "$tries" -gt 1500 ]; do
        tries=$((tries + 1))
        sleep 0.02
    done
    [ "$tries" -le 1500 ]
}

session=ccltap-test-$$
(
    eval "$("$ccltap" env)"
    exec "$programs/comms" "$work" gate
) >"$work/late-pids" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true
    lttng --no-sessiond destroy "$session" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
check "the communicators are made while nobody records" at_gate
quietly create "$session" --output "$work/late"
quietly enable-channel -u -s "$session" --buffers-uid --subbuf-size 1M --num-subbuf 4 all
quietly add-context -u -s "$session" -c all -t vpid -t vtid
quietly enable-event -u -s "$session" -c all 'tap:*,nccl:*'
quietly start "$session"
heard
touch "$work/go"
status=0
wait "$pid" || status=$?
same "the program ends well" 0 "$status"
quietly destroy "$session"
check "the timeline of that reads" \
    "$ccltap" timeline --format jsonl -o "$work/late-jsonl" "$work/late"
check "it says the same" comms_py "$work/late-pids" "$work/late-jsonl" late

tap_done
