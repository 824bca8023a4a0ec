#!/bin/sh
# SPDX-License-Identifier: MIT
# Views open in Trace Compass, as far as its sources say when they do, and the check of
# that finds what it is for.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

if [ ! -x /usr/bin/python3 ]; then
    echo "1..0 # SKIP python3 is not installed: scripts/install-deps tests"
    exit 0
fi

views=$top_srcdir/share/ccltap/tracecompass
work=${top_builddir:?}/tests/tree/views.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"

view_ids() # XML...
{
    /usr/bin/python3 "$top_srcdir/tests/lib/view_ids.py" "$@"
}

refused() # WORDS SED-SCRIPT: the views, spoilt so, are refused with these words
{
    sed "$2" "$views/ccltap.xml" >"$work/spoilt.xml"
    ! view_ids "$work/spoilt.xml" >"$work/said" && grep -qF "$1" "$work/said"
}

finds() # SENTENCE WORDS SED-SCRIPT
{
    check "$1" refused "$2" "$3"
}

check "each view can be opened" view_ids "$views"/*.xml
label='s/label value="ccltap bytes in calls"'
finds "a colon in a label is found" 'it has ":"' "$label/label value=\"ccltap: bytes\"/"
finds "and a label that is empty" 'it is empty' "$label/label value=\"\"/"
finds "and none" 'it is empty' '/label value="ccltap bytes in calls"/d'
finds "and what cuts a label in two" 'it has ";;;"' "$label/label value=\"a;;;b\"/"
finds "and two that are alike" 'is the id of another window' \
    "$label/label value=\"ccltap lanes\"/"
finds "and a callstack whose window has a colon" 'it has ":"' \
    's/callstack id="ccltap.calls"/callstack id="ccltap:calls"/'
finds "and what is no replacement" "it has \"\$\"" \
    "s|<label value=\"ccltap latencies\"/>|&<viewLabelPrefix value=\"\$1\"/>|"
finds "and a view of an analysis that is not there" 'no file has the analysis' \
    's/analysis id="ccltap.rows"/analysis id="ccltap.row"/'

# Trace Compass reads a byte of a string as a character, and so do we what it compares.
check "the views are ASCII" sh -c "! LC_ALL=C grep -n '[^ -~	]' '$views'/*.xml"

# A user finds the views by these names.
sed -n 's/.*<label value="\(ccltap .*\)".*/\1/p' "$views"/*.xml | grep -v recording >"$work/labels"
while read -r name; do
    check "doc/trace-compass.md has $name" \
        grep -q "\*\(ccltap > \)\?$name\*" "$top_srcdir/doc/trace-compass.md"
done <"$work/labels"

tap_done
