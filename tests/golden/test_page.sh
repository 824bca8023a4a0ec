#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of `ccltap report --html`: it asks for nothing, no name of a trace becomes markup, its
# numbers are those of --json, and a long trace is thinned out. test_browser.sh opens it.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=page.$$
mkdir "$work"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
# shellcheck source=tests/golden/page.inc.sh
. "$top_srcdir/tests/golden/page.inc.sh"

ccltap() {
	"$top_builddir/ccltap" "$@"
}

look() { # COMMAND ARGUMENT...
	if python3 "$top_srcdir/tests/golden/page.py" "$@" >"$work/tap"; then
		passed_on "$work/tap"
	else
		passed_on "$work/tap"
		ok 1 "page.py $1 comes to its end"
	fi
}

# Exit status 2 and one line that has these words.
refuses() { # WORDS COMMAND...
	words=$1
	shift
	got=0
	"$@" >"$work/out" 2>"$work/error" || got=$?
	sed 's/^/# /' "$work/error"
	[ "$got" -eq 2 ] && [ "$(wc -l <"$work/error")" -eq 1 ] && grep -q -e "$words" "$work/error"
}

# ---- What the page is made of ----

check "the policy has the hashes of the script and the style" \
	python3 "$top_srcdir/tests/golden/page_hashes.py" "$CCLTAP_PAGEDIR"
cp -r "$CCLTAP_PAGEDIR" "$work/changed"
chmod -R u+w "$work/changed"
echo '/* another */' >>"$work/changed/charts.js"
status=0
python3 "$top_srcdir/tests/golden/page_hashes.py" "$work/changed" 2>/dev/null && status=1
ok $status "and with another script it has not"

for case in comm gpu net-groups net-sockets why-missing why-late two-hosts wire-rc; do
	[ -e "$traces/$case.events" ] || continue
	page "$traces/$case.events" "$work/$case.html"
done
look structure "$work"/*.html

# ---- Numbers ----

for case in comm gpu net-groups net-sockets why-missing two-hosts; do
	for view in report check audit; do
		"$convert" events "$traces/$case.events" $view json=yes >"$work/$view.json" || true
	done
	echo "# $case"
	look equal "$work/$case.html" "$work/report.json" "$work/check.json"
	look audits "$work/$case.html" "$work/audit.json"
	"$convert" events "$traces/$case.events" timeline format=jsonl >"$work/jsonl"
	look spans "$work/$case.html" "$work/jsonl"
done

# With filters the sums are of what they choose, and the check is of the whole trace.
page "$traces/comm.events" "$work/filtered.html" rank=0
"$convert" events "$traces/comm.events" report json=yes rank=0 >"$work/report.json"
"$convert" events "$traces/comm.events" check json=yes >"$work/check.json" || true
python3 "$top_srcdir/tests/golden/page.py" equal "$work/filtered.html" "$work/report.json" \
	"$work/check.json" >"$work/tap"
grep -v 'adds up to what each rank' "$work/tap" >"$work/tap.filtered"
passed_on "$work/tap.filtered"
"$convert" events "$traces/comm.events" timeline format=jsonl rank=0 >"$work/jsonl"
look spans "$work/filtered.html" "$work/jsonl"

# ---- Names that would be markup ----

hostile_comm >"$work/hostile-comm.events"
page "$work/hostile-comm.events" "$work/hostile-comm.html"
close=']]>-->\"></style></title>'
sed "s|text=\"my_kernel\"|text=\"$hostile_image.kernel\"|; s|host=\"alpha\"|host=\"$close.host\"|" \
	"$traces/gpu.events" >"$work/hostile-gpu.events"
page "$work/hostile-gpu.events" "$work/hostile-gpu.html"
look structure "$work/comm.html" "$work/hostile-comm.html" "$work/hostile-gpu.html"
look hostile "$work/hostile-comm.html" "$hostile_mark.host" \
	"$hostile_mark.command" "$hostile_image.comm" "$hostile_image.call"
look hostile "$work/hostile-gpu.html" "$hostile_image.kernel"

# ---- Much ----

many_calls >"$work/many.events"
page "$work/many.events" "$work/many.html"
look bound "$work/many.html" 22000
look structure "$work/comm.html" "$work/many.html"

# ---- The command ----

make_trace() { # CASE FOLDER
	"$convert" events "$traces/$1.events" ctf path="$2" assume-single-trace=yes quiet=yes
}
mkdir "$work/runs"
make_trace gpu "$work/runs/now"
make_trace comm "$work/runs/before<b>"
check "a page is written" ccltap report --html "$work/now.html" "$work/runs/now"
ccltap report --json "$work/runs/now" >"$work/report.json"
ccltap check --json "$work/runs/now" >"$work/check.json" || true
look equal "$work/now.html" "$work/report.json" "$work/check.json"
ccltap audit --json "$work/runs/now" >"$work/audit.json" || true
look audits "$work/now.html" "$work/audit.json"
sed 's/"summary":"[^"]*"/"summary":"another"/' "$work/audit.json" >"$work/other.json"
python3 "$top_srcdir/tests/golden/page.py" audits "$work/now.html" "$work/other.json" >"$work/tap" || true
check "an audit that says something else is found" grep -q '^not ok' "$work/tap"
check "and another that names the difference" \
	ccltap report --html="$work/diff.html" --diff "$work/runs/before<b>" "$work/runs/now"
ccltap report --json --diff "$work/runs/before<b>" "$work/runs/now" >"$work/diff.json"
look equal "$work/diff.html" "$work/report.json" "$work/check.json" "$work/diff.json"
look hostile "$work/diff.html" "before<b>"
look structure "$work/comm.html" "$work/now.html" "$work/diff.html"
cp "$work/now.html" "$work/kept.html"
status=0
refuses 'exists: choose another name' ccltap report --html "$work/now.html" "$work/runs/now" 2>/dev/null ||
	grep -q 'exists: choose another name' "$work/error" || status=1
cmp "$work/now.html" "$work/kept.html" || status=1
ccltap report --html "$work/now.html" --overwrite "$work/runs/now" || status=1
ok $status "a page is replaced only where it is asked for"
check "and refused before anything is read" sh -c "! '$top_builddir/ccltap' report --html '$work/now.html' \
	'$work/nowhere' 2>'$work/error' && grep -q 'exists: choose another name' '$work/error'"
status=0
for other in --json --full --net --output="$work/other" --stacks; do
	refuses 'a page of its own' ccltap report --html "$work/other.html" "$other" "$work/runs/now" ||
		status=1
done
ok $status "a page is not asked for with other outputs"
mkdir "$work/empty"
status=0
CCLTAP_PAGEDIR=$work/empty refuses 'the template of the page' ccltap report --html "$work/other.html" \
	"$work/runs/now" || status=1
[ ! -e "$work/other.html" ] || status=1
ok $status "without its template there is no page, and it says so"

tap_done
