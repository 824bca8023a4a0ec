#!/bin/sh
# SPDX-License-Identifier: MIT
# Recording begins in the middle, stops and begins again, by LTTng's own command:
# communicators, ranks and numbers are right from the first event on.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# at GATE: all ranks have come to it.
at()
{
    tries=0
    for rank in 0 1 2 3; do
        until [ -e "$work/logs/at.$1.$rank" ] || [ "$tries" -gt 3000 ]; do
            tries=$((tries + 1))
            sleep 0.02
        done
    done
    [ "$tries" -le 3000 ]
}

session=ccltap-test-$$
mkdir "$work/logs"
(
    eval "$("$ccltap" env)"
    exec "$programs/order" 4000 3 "$work/logs" 4
) &
pid=$!
trap 'kill "$pid" 2>/dev/null || true
    lttng --no-sessiond destroy "$session" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

check "the ranks are a fifth of the way" at 1
start_session "$session" "$work/trace" nccl 1M 4
heard
touch "$work/logs/go.1"
check "they go on while it records" at 2
quietly stop "$session"
heard
touch "$work/logs/go.2"
check "and while it does not" at 3
quietly start "$session"
quietly regenerate statedump -s "$session"
heard
touch "$work/logs/go.3"
check "and while it does again" at 4
touch "$work/logs/go.4"
status=0
wait "$pid" || status=$?
same "the program ends well" 0 "$status"
quietly destroy "$session"

check "the timeline reads" "$ccltap" timeline --format jsonl -o "$work/jsonl" "$work/trace"
check "all that was recorded is right, and linked" \
    /usr/bin/python3 "$top_srcdir/tests/live/expect/order.py" "$work/logs" "$work/jsonl" late
same "the processes were described once for each start, and once more when asked" 12 \
    "$(babeltrace2 "$work/trace" 2>/dev/null | grep -c ' tap:statedump_end: ')"

tap_done
