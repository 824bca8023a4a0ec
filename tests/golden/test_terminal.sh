#!/bin/sh
# SPDX-License-Identifier: MIT
# What ccltap does for a person at a terminal, and for nobody else: a pager, colours, the
# manual. The exit status stays that of the verb.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

if ! /usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	echo "1..0 # SKIP no python3, or no terminal"
	exit 0
fi

traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
CCLTAP_LIBDIR=$top_builddir/.libs
TERM=xterm
export CCLTAP_LIBDIR TERM
unset CCLTAP_PAGER PAGER LESS NO_COLOR
work=terminal.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT
escape=$(printf '\033')

# on STATUS COMMAND...: of ccltap on a terminal, whose text is in $work/out.
on() {
	wanted=$1
	shift
	got=0
	"$top_srcdir/tests/lib/on_terminal.py" "$@" >"$work/out" || got=$?
	[ "$got" -eq "$wanted" ] && return
	echo "# status $got of $*"
	sed 's/^/# /' "$work/out"
	return 1
}

ccltap=$top_builddir/ccltap
"$convert" events "$traces/why-missing.events" ctf path="$work/missing" quiet=yes
"$convert" events "$traces/wire-lost.events" ctf path="$work/lost" quiet=yes
awk 'BEGIN {
	for (i = 1; i <= 30000; i++) {
		print i * 2, "s 10 11 nccl:ncclSend_entry call_id=" i, "parent_id=0"
		print i * 2 + 1, "s 10 11 nccl:ncclSend_exit call_id=" i, "result=0:ok"
	}
}' >"$work/many.events"
"$convert" events "$work/many.events" ctf path="$work/many" quiet=yes

CCLTAP_PAGER="sed s/^/paged:/"
export CCLTAP_PAGER
status=0
# shellcheck disable=SC2086 # words
for verb in report timeline 'timeline -f jsonl' check; do
	NO_COLOR=1 PAGER=false "$ccltap" $verb "$work/missing" | cat >"$work/plain"
	NO_COLOR=1 PAGER=false on 0 "$ccltap" $verb "$work/missing" || status=1
	grep -qv '^paged:' "$work/out" && status=1
	sed 's/^paged://' "$work/out" | cmp - "$work/plain" || status=1
done
NO_COLOR=1 "$ccltap" why "$work/missing" >"$work/plain" || :
NO_COLOR=1 "$top_srcdir/tests/lib/on_terminal.py" "$ccltap" why "$work/missing" |
	sed 's/^paged://' | cmp - "$work/plain" || status=1
ok $status "on a terminal the views are in a pager"

status=0
on 0 "$ccltap" report --no-pager "$work/missing" || status=1
grep -q '^paged:' "$work/out" && status=1
TERM=dumb on 0 "$ccltap" report "$work/missing" || status=1
grep -q '^paged:' "$work/out" && status=1
CCLTAP_PAGER='' PAGER='sed s/^/other:/' on 0 "$ccltap" report "$work/missing" || status=1
grep -q '^\(paged\|other\):' "$work/out" && status=1
(
	unset CCLTAP_PAGER
	PAGER='sed s/^/other:/' on 0 "$ccltap" report "$work/missing"
) || status=1
grep -q '^other:' "$work/out" || status=1
on 0 "$ccltap" report -o "$work/file" "$work/missing" || status=1
[ ! -s "$work/out" ] && ! grep -q '^paged:' "$work/file" || status=1
"$ccltap" report "$work/missing" | grep -q '^paged:' && status=1
on 0 "$ccltap" --version || status=1
grep -q '^paged:' "$work/out" && status=1
ok $status "in the one that the user chose, or in none"

status=0
for pager in 'true' 'head -n 1' 'exec <&-; sleep 0.2' 'cat >/dev/null; exit 5'; do
	CCLTAP_PAGER=$pager on 1 "$ccltap" check "$work/lost" || status=1
	CCLTAP_PAGER=$pager on 0 "$ccltap" report "$work/many" || status=1
	CCLTAP_PAGER=$pager on 0 "$ccltap" timeline "$work/many" || status=1
	grep -q ccltap: "$work/out" && status=1
done
CCLTAP_PAGER='true' on 2 "$ccltap" report "$work/absent" || status=1
grep -q '^ccltap: cannot read .*absent' "$work/out" || status=1
CCLTAP_PAGER='no-such-pager' on 1 "$ccltap" check "$work/lost" || status=1
grep -q '^ccltap: the pager cannot be run: ' "$work/out" || status=1
ok $status "leaving the pager early is no error, and the exit status is the verb's"

status=0
if command -v less >/dev/null; then
	(
		unset CCLTAP_PAGER
		on 0 --size 100x50 "$ccltap" check "$work/missing"
	) || status=1
	grep -q "verdict: $escape.*incomplete" "$work/out" || status=1
	ok $status "a screenful needs no key to be pressed in less"
else
	skip "needs less" "a screenful needs no key to be pressed in less"
fi

CCLTAP_PAGER=
status=0
on 1 "$ccltap" check "$work/lost" || status=1
grep -q "^verdict: $escape\[1;31mbad$escape\[m$" "$work/out" || status=1
"$top_srcdir/tests/lib/on_terminal.py" "$ccltap" why "$work/missing" >"$work/out" || :
head -n 1 "$work/out" | grep -q "^$escape\[1;3[13]m[A-Z]*$escape\[m " || status=1
NO_COLOR=1 on 1 "$ccltap" check "$work/lost" || status=1
grep -q '^verdict: bad$' "$work/out" || status=1
NO_COLOR='' on 1 "$ccltap" check "$work/lost" || status=1
grep -q "$escape" "$work/out" || status=1
TERM=dumb on 1 "$ccltap" check "$work/lost" || status=1
grep -q '^verdict: bad$' "$work/out" || status=1
"$ccltap" check "$work/lost" >"$work/out" && status=1
grep -q '^verdict: bad$' "$work/out" || status=1
on 1 "$ccltap" check --json "$work/lost" || status=1
grep -q "$escape" "$work/out" && status=1
on 0 "$ccltap" report --overwrite -o "$work/file" "$work/missing" || status=1
grep -q "$escape" "$work/file" && status=1
ok $status "words are coloured on a terminal that has colours, unless that is refused"

# Reading that is over within a second shows nothing: there is more of it until it does.
xz -dc "$top_srcdir/tests/golden/fuzz-seed.tar.xz" | tar xf - -C "$work"
mkdir "$work/copies"
copies=0
more=100
: >"$work/out"
while [ "$more" -le 6400 ] && ! grep -q '% read' "$work/out"; do
	while [ "$copies" -lt "$more" ]; do
		cp -r "$work/recorded" "$work/copies/$copies"
		copies=$((copies + 1))
	done
	more=$((more * 2))
	on 0 "$ccltap" report "$work/copies" || break
done
if grep -q '% read' "$work/out"; then
	status=0
	tr '\r' '\n' <"$work/out" | sed -n 's/ % read$//p' >"$work/shares"
	sort -nc "$work/shares" || status=1
	grep -qv '^[0-9]*$' "$work/shares" && status=1
	[ "$(tail -n 1 "$work/shares")" -le 100 ] || status=1
	grep -q "% read$(printf '\r')$escape\[K[^%]*$" "$work/out" || status=1
	"$ccltap" report "$work/copies" >"$work/plain" 2>&1 || status=1
	grep -q '% read' "$work/plain" && status=1
	ok $status "a long reading shows how far it is, and clears that away"
else
	skip "reading $copies traces takes no second" \
		"a long reading shows how far it is, and clears that away"
fi
rm -rf "$work/copies"

# A man that knows one page.
mkdir "$work/bin"
cat >"$work/bin/man" <<'END'
#!/bin/sh
[ "$1" != -w ] || shift
[ "$1" = ccltap-report ] && echo "the manual of $1"
END
chmod +x "$work/bin/man"
status=0
PATH=$PWD/$work/bin:$PATH
on 0 "$ccltap" help report || status=1
[ "$(cat "$work/out")" = "the manual of ccltap-report" ] || status=1
on 0 "$ccltap" help check || status=1
head -n 1 "$work/out" | grep -q '^Usage: ccltap check ' || status=1
on 0 "$ccltap" help || status=1
head -n 1 "$work/out" | grep -q '^Usage: ccltap ' || status=1
"$ccltap" help report | head -n 1 | grep -q '^Usage: ccltap report ' || status=1
ok $status "help is the manual page if there is one, and else the options"

tap_done
