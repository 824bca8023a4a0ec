#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of `ccltap report --html` in a browser: it opens, its timeline zooms and moves by keys,
# wheel and buttons, spans and findings are chosen, nothing is asked of a network, and names that
# would be markup are text. It needs Chromium (scripts/install-deps browser, or CCLTAP_CHROMIUM).
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/golden/page.inc.sh
. "$top_srcdir/tests/golden/page.inc.sh"

if ! (cd "$top_srcdir/tests/lib" && python3 -B -c 'import chromium, sys; sys.exit(not chromium.find())'); then
	skip "no Chromium: scripts/install-deps browser" "the page works in a browser"
	tap_done
	exit
fi

tar -xJf "$top_srcdir/tests/tree/screens/late.tar.xz" -C "$work"
check "a page is written" "${top_builddir:?}/ccltap" report --html "$work/late.html" "$work/late"
hostile_comm >"$work/hostile.events"
page "$work/hostile.events" "$work/hostile.html"
many_calls >"$work/many.events"
page "$work/many.events" "$work/many.html"
for run in usual:0 slowed:20000000; do
	slowed_calls "${run#*:}" >"$work/${run%:*}.events"
	"$convert" events "$work/${run%:*}.events" ctf path="$work/${run%:*}" quiet=yes
done
for run in slowed usual; do
	check "a page tells how $run differs from usual" "$top_builddir/ccltap" report --html "$work/$run.html" \
		--diff "$work/usual" "$work/$run"
done
status=0
timeout 300 python3 -B "$top_srcdir/tests/golden/browser.py" "$work/late.html" "$work/hostile.html" \
	"$work/many.html" "$work/slowed.html" "$work/usual.html" >"$work/tap" 2>"$work/error" || status=$?
passed_on "$work/tap"
sed 's/^/# /' "$work/error"
ok $status "the browser comes to its end"
picture() # PAGE PICTURE ELEMENT: down to that one
{
	python3 -B "$top_srcdir/tests/golden/page_picture.py" "$1" "$top_srcdir/doc/$2.png" "$3"
}
if [ -n "${SCREENS_UPDATE-}" ]; then
	sed -i "s|$work/late|late|g" "$work/late.html"
	picture "$work/late.html" page audit
	for job in hung late slow; do
		tar -xJf "$top_srcdir/tests/tree/screens/$job.tar.xz" -C "$work"
		"$top_builddir/ccltap" report --html "$work/$job.diagnosed.html" "$work/$job"
		sed -i "s|$work/$job|$job|g" "$work/$job.diagnosed.html"
		picture "$work/$job.diagnosed.html" "diagnoses/$job" timeline-box
	done
fi

tap_done
