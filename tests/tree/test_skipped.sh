#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/skipped says what was skipped, and why, from what automake's driver leaves: CI refuses
# reasons that it could have done something about.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build" "$work/passed"

# leaves FOLDER NAME LINE...: what the driver leaves of a test that prints these lines.
leaves()
{
    folder=$1
    name=$2
    shift 2
    {
        echo '#!/bin/sh'
        printf "echo '%s'\n" "$@"
    } >"$work/$name"
    chmod +x "$work/$name"
    sh "$top_srcdir/build-aux/tap-driver.sh" --test-name "$name" --log-file "$work/$folder/$name.log" \
        --trs-file "$work/$folder/$name.trs" --color-tests no --enable-hard-errors yes \
        --expect-failure no -- "$work/$name" >/dev/null
}

leaves build one 1..2 'ok 1 - it runs' 'ok 2 - in a browser # SKIP no Chromium'
leaves build whole '1..0 # SKIP CCLTAP_DUCKDB is not set'
leaves build quiet '1..1' 'ok 1 - its log is lost # SKIP no Chromium'
leaves passed fine '1..1' 'ok 1 - SKIP is no result of it'
echo 'SKIP: nothing' >>"$work/passed/fine.log"
rm "$work/build/quiet.log"

same "each with its reason, and none is lost" \
    "one 2 - in a browser # SKIP no Chromium
$work/build/quiet.trs (without a reason)
whole - CCLTAP_DUCKDB is not set" \
    "$("$top_srcdir/scripts/skipped" "$work/build" "$work/missing")"
same "what passed is none" "" "$("$top_srcdir/scripts/skipped" "$work/passed")"
check "it wants a folder" sh -c "! '$top_srcdir/scripts/skipped' 2>'$work/said' && grep -q usage '$work/said'"

tap_done
