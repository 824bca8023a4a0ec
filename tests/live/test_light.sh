#!/bin/sh
# SPDX-License-Identifier: MIT
# A process that calls no traced library has nothing of ours but the small library, also
# while it is recorded; one that does has LTTng.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

"$programs/light" >"$work/bare"
run 0 "a program that makes no call" "$ccltap" record -o "$work/none" -- "$programs/light"
same "it has the threads and descriptors that it has without us, and no LTTng" \
    "$(cat "$work/bare")" "$(cat "$work/out")"

run 0 "a program that makes one" "$ccltap" record -o "$work/one" -- \
    "$programs/light" "$top_builddir/tests/link/programs/copy1.so"
same "it has LTTng" "lttng 1 events 1" "$(tail -n 2 "$work/out" | tr '\n' ' ' | sed 's/ $//')"
check "and LTTng's threads" test "$(sed -n 's/^threads //p' "$work/out")" -gt 1

tap_done
