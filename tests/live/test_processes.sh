#!/bin/sh
# SPDX-License-Identifier: MIT
# Forks, exec, and many threads whose first call comes at the same moment.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

run 0 "a program with forks, exec and threads is recorded" "$ccltap" record -o "$work/trace" -- \
    "$programs/processes" "$top_builddir/tests/link/programs/copy1.so"
check "reads" "$ccltap" timeline --format jsonl -o "$work/jsonl" "$work/trace"
check "each call is in the process that made it" \
    /usr/bin/python3 "$top_srcdir/tests/live/expect/processes.py" "$work/out" "$work/jsonl"

tap_done
