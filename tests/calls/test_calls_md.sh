#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/calls.md is what the rows say.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

made=${top_builddir:?}/tests/calls/calls.md.$$
trap 'rm -f "$made"' EXIT
"$top_builddir/list-calls" --markdown >"$made"
check "doc/calls.md is up to date (else: ./list-calls --markdown >doc/calls.md)" \
    diff -u "$top_srcdir/doc/calls.md" "$made"
rows=$("$top_builddir/list-calls" --names | wc -l)
same "each row is exported under both of its names" "$((2 * rows))" \
    "$("$top_builddir/list-calls" --exports | sort -u | wc -l)"
if "$top_builddir/list-calls" 2>/dev/null; then status=0; else status=$?; fi
same "wrong use has status 2" 2 "$status"
tap_done
