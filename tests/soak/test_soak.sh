#!/bin/sh
# SPDX-License-Identifier: MIT
# `make soak` comes to its end, short, and the metrics are what the ranks counted; what
# grows in so short a time is not judged.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

/usr/bin/python3 "$top_srcdir/tests/soak/soak.py" "$top_builddir" 20 "$work/soak.md" \
    >"$work/out" 2>"$work/err" || true
grep -v '^soak: grew' "$work/err" | sed 's/^/# /'
same "nothing differs or fails" "" "$(grep -v '^soak: grew' "$work/err" || true)"
check "the table has the sums" grep -q '^| calls | ncclAllReduce | \([0-9]*\) | \1 |$' "$work/soak.md"
check "and what was done" grep -q '20 recordings started' "$work/soak.md"
tap_done
