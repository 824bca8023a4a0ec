#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap timeline --format ctf`: read back, it tells what jsonl tells of the same
# recording, and Trace Compass would draw the rows that are expected.
# GOLDEN_UPDATE=1 writes these anew: read the difference.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

for tool in babeltrace2 /usr/bin/python3; do
    if ! command -v "$tool" >/dev/null; then
        echo "1..0 # SKIP $tool is not installed: scripts/install-deps tests"
        exit 0
    fi
done

traces=$top_srcdir/tests/golden/traces
xml=$top_srcdir/share/ccltap/tracecompass/ccltap.xml
CCLTAP_LIBDIR=${top_builddir:?}/.libs
export CCLTAP_LIBDIR
work=derived.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT

ccltap()
{
    "$top_builddir/ccltap" "$@"
}

fails() # COMMAND...
{
    ! "$@"
}

# same_spans OUT JSONL
same_spans()
{
    /usr/bin/python3 "$top_srcdir/tests/lib/derived.py" "$1" "$2"
}

derive() # NAME: makes the trace, its jsonl, and the trace of its calls
{
    "$top_builddir/tests/golden/convert" events "$traces/$1.events" ctf path="$work/$1" \
        quiet=yes &&
        ccltap timeline --format jsonl -o "$work/$1.jsonl" "$work/$1" &&
        ccltap timeline --format ctf --links -o "$work/$1.out" "$work/$1" 2>"$work/$1.err"
}

for events in "$traces"/*.events; do
    name=$(basename "$events" .events)
    # CTF 1.8 cannot say that an unknown number of events was discarded.
    case $name in
    discarded | cuda-discarded) continue ;;
    esac
    check "$name becomes a trace" derive "$name"
    check "$name tells what jsonl tells" same_spans "$work/$name.out" "$work/$name.jsonl"
done

# babeltrace2 2.1 aborts where events have times and their packets have none.
check "packets have times" grep -q 'map = clock.*timestamp_begin;' "$work"/nesting.out/*/metadata

# The comparison would notice.
sed '/"id":"0.3"/d' "$work/nesting.jsonl" >"$work/less"
check "a span that is not in jsonl is found" fails same_spans "$work/nesting.out" "$work/less"
sed 's/"end_ns":1300/"end_ns":1299/' "$work/nesting.jsonl" >"$work/other"
check "another end is found" fails same_spans "$work/nesting.out" "$work/other"
sed '/"type":"link"/d' "$work/comm.jsonl" >"$work/less"
check "a link that is not in jsonl is found" fails same_spans "$work/comm.out" "$work/less"

same "what is lost is said" "loss: lost returns 1, lost beginnings 3, malformed events 2" \
    "$(cat "$work/nvtx.err")"
same "where nothing is, nothing is said" "" "$(cat "$work/comm.err")"
same "each host has a trace" "alpha beta" "$(cd "$work/two-hosts.out" && echo *)"
same "its own calls are in it" "1" \
    "$(babeltrace2 "$work/two-hosts.out/alpha" | grep -c ccltap:begin)"

if command -v xmllint >/dev/null; then
    check "the XML for Trace Compass is well formed" xmllint --noout "$xml"
else
    skip "xmllint is not installed: scripts/install-deps tests" \
        "the XML for Trace Compass is well formed"
fi
for rows in "$traces"/*.rows; do
    name=$(basename "$rows" .rows)
    check "Trace Compass reads $name" sh -c \
        "/usr/bin/python3 '$top_srcdir/tests/lib/tracecompass.py' '$xml' '$work/$name.out' >'$work/rows'"
    [ -z "${GOLDEN_UPDATE-}" ] || cp "$work/rows" "$rows"
    check "and draws the rows that are expected" diff -u "$rows" "$work/rows"
done
sed 's/stack="pop"/stack="popAll"/' "$xml" >"$work/other.xml"
check "XML that is not understood here is refused" fails /usr/bin/python3 \
    "$top_srcdir/tests/lib/tracecompass.py" "$work/other.xml" "$work/nesting.out"
sed 's/id="ccltap.view.flight"/id="ccltap.rows"/' "$xml" >"$work/other.xml"
check "and an id that is there twice" fails /usr/bin/python3 \
    "$top_srcdir/tests/lib/tracecompass.py" "$work/other.xml" "$work/nesting.out"

tap_done
