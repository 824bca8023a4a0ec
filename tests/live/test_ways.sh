#!/bin/sh
# SPDX-License-Identifier: MIT
# The trace says to which copy of a library each call went, however that was reached.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

link=$top_builddir/tests/link/programs

for way in two:0 frameworks:0 jumps:0 late:0 passed_on:0 trampoline:0 apart:1; do
    name=${way%:*}
    run 0 "$name is recorded" "$ccltap" record -o "$work/$name" -- \
        "$link/ways" "$name" "$link"
    mv "$work/out" "$work/said"
    check "its timeline reads" "$ccltap" timeline --format jsonl -o "$work/$name.jsonl" \
        "$work/$name"
    check "each call went where the trace says" /usr/bin/python3 \
        "$top_srcdir/tests/live/expect/ways.py" "$work/said" "$work/$name.jsonl" "${way#*:}"
done

same "what NCCL calls itself by a jump is its own" 4 "$(grep -c '"inner":true' "$work/jumps.jsonl")"

run 0 "calls past us are made, and one that is not" "$ccltap" record -o "$work/unseen" -- \
    "$link/ways" unseen "$link"
check "they were made" grep -qx "apart: 1" "$work/out"
check "its timeline reads" "$ccltap" timeline --format jsonl -o "$work/unseen.jsonl" \
    "$work/unseen"
for how in "bound to NCCL, bypasses ccltap" "bound to NCCL in a namespace of its own"; do
    same "a library is said to be $how, once" 1 "$(
        grep '"type":"problem"' "$work/unseen.jsonl" | grep -c "user-nccl.so: $how")"
done
run 0 "a linked program" "$ccltap" record --gpu=off -o "$work/linked" -- "$top_builddir/examples/allreduce"
same "of which nothing is said" 0 "$("$ccltap" timeline --format jsonl "$work/linked" |
    grep -c '"type":"problem"')"
same "nothing else is said" 2 "$(grep -c '"type":"problem"' "$work/unseen.jsonl")"

tap_done
