#!/bin/sh
# SPDX-License-Identifier: MIT
# Filters of the views: each by an example whose text is in traces/filters.shown (GOLDEN_UPDATE=1
# writes it anew), and all on every golden trace, against a search in the unfiltered lines.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
work=filters.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT
TZ=UTC
export TZ

show() { # CASE VIEW PARAMETER=VALUE...
	echo "==> $*"
	events=$traces/$1.events
	view=$2
	shift 2
	"$convert" events "$events" "$view" "$@" output="$work/out" overwrite=yes 2>&1 || return 0
	# Columns that the filters do not concern.
	cut -c1-110 "$work/out"
}

{
	show gpu timeline rank=1
	show two-hosts timeline host=beta
	show two-hosts timeline rank=1 host=alpha
	show gpu-group timeline comm=0xa2
	show comm timeline op=1 comm=0xabcdef01..
	show gpu-group timeline op=2
	show gpu timeline op=1 layer=gpu
	show gpu timeline 'call=cuMem*'
	show comm timeline begin=0.000000100 end=0.000000200
	show comm timeline begin=00:00:00.000004
	show comm timeline 'end=1970-01-01 00:00:00.0000012'
	show gpu timeline last=300ns
	show gpu timeline errors=yes
	show not-returned timeline errors=yes
	show gpu timeline slowest=2
	show polls timeline op=3..4
	show comm-missing why rank=1
	show comm-missing why op=7
	show comm-missing report rank=1 json=yes
	show comm-missing check rank=1
} >"$work/shown"
if [ -n "${GOLDEN_UPDATE-}" ]; then
	cp "$work/shown" "$traces/filters.shown"
fi
status=0
diff -u "$traces/filters.shown" "$work/shown" >"$work/diff" || status=1
sed 's/^/# /' "$work/diff"
ok $status "each filter shows what it says"

status=0
for param in rank=x 'rank=1,' rank=5-2 rank= op=0x1 comm= comm=0x comm=0x12g layer=mpi 'layer=nccl,' \
	begin=soon begin=25:00 begin=1.5d end=10:61 last=0 last=-1 slowest=0 slowest=x \
	slowest=100001 errors=1 call= host=; do
	got=0
	"$convert" events "$traces/simple.events" timeline "$param" >/dev/null \
		2>"$work/error" || got=$?
	name=${param%%=*}
	if [ $got -ne 1 ] || ! grep -Eq "^convert: (Filter $name, |Parameter \"$name\")" "$work/error"; then
		status=1
		echo "# $param: $(cat "$work/error")"
	fi
done
ok $status "a filter that makes no sense is refused, with what would"

python3 "$top_srcdir/tests/golden/filters.py" "$convert" "$traces" "$work" >"$work/found"
while read -r status name; do
	case $status in
	[01]) ok "$status" "$name: what passes is what a search finds" ;;
	*) echo "$status $name" ;;
	esac
done <"$work/found"

tap_done
