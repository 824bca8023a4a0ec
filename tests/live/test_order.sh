#!/bin/sh
# SPDX-License-Identifier: MIT
# What calls mean together: each operation of four ranks, each communicator whose address
# was another's before, and what is said where packets are missing.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

order_py()
{
    /usr/bin/python3 "$top_srcdir/tests/live/expect/order.py" "$@"
}

timeline()
{
    "$ccltap" timeline --format jsonl --overwrite -o "$work/jsonl" "$1"
}

mkdir "$work/logs"
run 0 "10,000 operations in random groups are recorded" \
    "$ccltap" record -o "$work/trace" -- "$programs/order" 10000 1 "$work/logs"
said "nothing was discarded" "4 processes.* 0 discarded"
check "the timeline reads" timeline "$work/trace"
check "every link is right, and none is missing" order_py "$work/logs" "$work/jsonl" complete

run 0 "1,000 communicators at the same addresses are recorded" \
    "$ccltap" record -o "$work/reuse" -- "$programs/reuse" 1000
check "their timeline reads" timeline "$work/reuse"
check "each is a communicator of its own" /usr/bin/python3 "$top_srcdir/tests/live/expect/reuse.py" \
    "$work/jsonl" 1000

# Packets of 4 KiB, so that there are some to lose.
session=ccltap-test-$$
rm -f "$work"/logs/*
trap 'lttng --no-sessiond destroy "$session" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
start_session "$session" "$work/small" nccl 4096 2048
# shellcheck disable=SC2016
check "they run once more" sh -c 'eval "$("$0" env)"; exec "$1" 10000 2 "$2"' \
    "$ccltap" "$programs/order" "$work/logs"
quietly destroy "$session"
for share in 0.01 0.01 0.05 0.3; do
    seed=$((${seed-0} + 1))
    rm -rf "$work/lossy"
    cp -r "$work/small" "$work/lossy"
    check "$share of the packets go" /usr/bin/python3 "$top_srcdir/tests/lib/drop-packets.py" \
        "$work/lossy" "$share" "$seed"
    check "the timeline still reads" timeline "$work/lossy"
    check "no link is wrong, and what is missing is said" \
        order_py "$work/logs" "$work/jsonl" lossy
done

tap_done
