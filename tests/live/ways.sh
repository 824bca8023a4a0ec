#!/bin/sh
# SPDX-License-Identifier: MIT
# The trace says to which copy of a library each call went, however that was reached.
set -eu
# shellcheck source=tests/live/record.inc.sh
. "${top_srcdir:?}/tests/live/record.inc.sh"

link=$top_builddir/tests/link

for way in two:0 frameworks:0 late:0 passed_on:0 apart:1; do
    name=${way%:*}
    run 0 "$name is recorded" "$ccltap" record -o "$work/$name" -- \
        "$link/ways" "$name" "$link"
    mv "$work/out" "$work/said"
    check "its timeline reads" "$ccltap" timeline --format jsonl -o "$work/$name.jsonl" \
        "$work/$name"
    check "each call went where the trace says" /usr/bin/python3 \
        "$top_srcdir/tests/live/ways.py" "$work/said" "$work/$name.jsonl" "${way#*:}"
done

tap_done
