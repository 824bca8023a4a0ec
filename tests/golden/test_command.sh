#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap timeline`, `report` and `check` on CTF traces on disk, and what they say
# when there is nothing to read.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
CCLTAP_LIBDIR=$top_builddir/.libs
export CCLTAP_LIBDIR
work=command.$$
mkdir "$work"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

ccltap() {
	"$top_builddir/ccltap" "$@"
}

# Exit status 2 and one line that has these words.
refuses() { # WORDS COMMAND...
	words=$1
	shift
	got=0
	"$@" >"$work/out" 2>"$work/error" || got=$?
	sed 's/^/# /' "$work/error"
	[ "$got" -eq 2 ] && [ "$(wc -l <"$work/error")" -eq 1 ] &&
		grep -q "$words" "$work/error"
}

make_trace() { # CASE FOLDER
	"$convert" events "$traces/$1.events" ctf path="$2" assume-single-trace=yes \
		quiet=yes
}

mkdir -p "$work/run/alpha/ust" "$work/run/beta/ust"
make_trace nesting "$work/run/alpha/ust/trace"
make_trace simple "$work/run/beta/ust/trace"

status=0
ccltap timeline "$work/run" >"$work/text" || status=$?
[ "$(grep -c '^ .*/.* nccl' "$work/text")" -eq 7 ] || status=1
grep -q '^7 calls, 1 host,' "$work/text" || status=1
ok $status "all traces below a folder are read"

status=0
ccltap timeline "$work/run" "$work/run/alpha" >"$work/again" || status=$?
cmp "$work/text" "$work/again" || status=1
ok $status "a trace that is named twice is read once"

status=0
ccltap timeline --format jsonl -o "$work/jsonl" "$work/run" || status=$?
[ "$(grep -c '^{"type":"span",.*}$' "$work/jsonl")" -eq 7 ] || status=1
ok $status "JSON lines have every call"

status=0
ccltap report --json "$work/run" >"$work/out" || status=1
grep -q '"name":"ncclAllReduce","inner":false,"wait":false,"calls":2,' "$work/out" || status=1
ccltap report --calls "$work/run" | grep -q 'ncclGetVersion (inner)' || status=1
ok $status "the report counts calls, inner ones apart"

status=0
ccltap report --diff "$work/run" "$work/run" >"$work/out" 2>"$work/error" || status=1
[ ! -s "$work/error" ] || status=1
head -n 1 "$work/out" | grep -qx 'No difference is larger than the noise of either run.' ||
	status=1
ccltap report --json --diff "$work/run" "$work/run" |
	grep -q '^{"type":"report-diff","schema":1,"changes":\[\],' || status=1
refuses 'is not a folder' ccltap report --diff "$work/text" "$work/run" || status=1
sed 's/^/# /' "$work/out"
ok $status "a run does not differ from itself"

status=0
make_trace wire-rc "$work/wire"
make_trace wire-lost "$work/lost"
ccltap check "$work/wire" >"$work/out" || status=1
grep -q '^verdict: ok$' "$work/out" || status=1
ccltap check --json "$work/wire" >"$work/out" || status=1
grep -q '"kind":"send-receive","exact":4,' "$work/out" || status=1
got=0
ccltap check "$work/lost" >"$work/out" || got=$?
if [ "$got" -ne 1 ] || ! grep -q '^verdict: bad$' "$work/out"; then status=1; fi
got=0
ccltap check --json "$work/lost" >"$work/out" || got=$?
if [ "$got" -ne 1 ] || ! grep -q '"verdict":"bad"' "$work/out"; then status=1; fi
ok $status "a check tells how sure things are, and fails where they are bad"

# Several filters over one trace, in every form.
status=0
make_trace gpu "$work/gpu"
ccltap timeline --rank 0 --op 1 --layer cuda,gpu "$work/gpu" >"$work/out" || status=1
[ "$(grep -c '^ .*/.* \(cuLaunch\|kernel\)' "$work/out")" -eq 2 ] || status=1
grep -q '^filtered: rank 0, op 1, layer cuda,gpu: 2 of 21 spans$' "$work/out" || status=1
grep -q '^process: rank 1' "$work/out" && status=1
sed 's/^/# /' "$work/out"
ccltap timeline -f jsonl --rank 0 --op 1 "$work/gpu" >"$work/out" || status=1
head -n 1 "$work/out" | grep -q '"filters":{"rank":"0","op":"1"},"spans_passed":3,"spans":21,' ||
	status=1
[ "$(grep -c '^{"type":"span",' "$work/out")" -eq 3 ] || status=1
ccltap timeline -f ctf -o "$work/chosen" --rank 0 --op 1 "$work/gpu" 2>"$work/error" || status=1
[ "$(babeltrace2 "$work/chosen" | grep -c ' ccltap:end: ')" -eq 3 ] || status=1
grep -qx 'filtered: rank 0, op 1: 3 of 21 spans' "$work/error" || status=1
ccltap report --full --rank 0 --comm=0xab "$work/gpu" >"$work/out" || status=1
head -n 1 "$work/out" | grep -qx 'filtered: rank 0, comm 0xab: 3 of 21 spans' || status=1
ccltap why --rank 7 "$work/gpu" >"$work/out" || status=1
head -n 1 "$work/out" | grep -qx 'filtered: rank 7' || status=1
ok $status "filters choose in every view what it shows"

status=0
refuses 'ilter rank, "x": give ranks, as 0,2-5' ccltap timeline --rank x "$work/gpu" || status=1
refuses 'ilter op, "1..": ' ccltap report --op 1.. "$work/gpu" || status=1
refuses 'ilter last, "": ' ccltap timeline -f ctf -o "$work/other" --last= "$work/gpu" ||
	status=1
[ ! -e "$work/other" ] || status=1
refuses 'no option "--rank"' ccltap check --rank 0 "$work/gpu" || status=1
ok $status "a filter that makes no sense is refused in one line"

# A program that hangs is no fault of the trace.
status=0
make_trace comm-missing "$work/missing"
ccltap check "$work/missing" >"$work/out" || status=1
grep -q '^verdict: incomplete: the trace is complete, the program is not$' "$work/out" ||
	status=1
grep -q '^program: ncclAllReduce #2 of 0xa1: missing rank 2$' "$work/out" || status=1
sed -n 's/^\(verdict\|program\|trace\)/# &/p' "$work/out"
ok $status "a rank that did not come is named, and the trace can be trusted"

# A flight recorder that has written twice: the second is read, and not both.
flight=$work/flight/alpha
first=snapshot-1-20261122-100000-0
second=snapshot-1-20261122-100001-1
mkdir -p "$flight/$first/ust/uid/0" "$flight/$second/ust/uid/0"
make_trace wire-rc "$flight/$first/ust/uid/0/64-bit"
make_trace wire-lost "$flight/$second/ust/uid/0/64-bit"

status=0
ccltap report "$work/flight" >"$work/out" 2>"$work/error" || status=1
sed 's/^/# /' "$work/error"
grep -q "^ccltap: reading snapshot 2 of 2 in .*/flight/alpha ($second): --snapshot=N reads" \
	"$work/error" || status=1
[ "$(wc -l <"$work/error")" -eq 1 ] || status=1
head -n 1 "$work/out" | grep -qx "snapshot: $second, one of 2 of a flight recorder" || status=1
ccltap timeline -f jsonl "$work/flight" 2>/dev/null | head -n 1 |
	grep -q "\"snapshots\":\[{\"name\":\"$second\",\"of\":2}\]" || status=1
ok $status "of several snapshots it is said which one is read"

status=0
ccltap report "$flight/$first" >"$work/out" 2>"$work/error" || status=1
[ ! -s "$work/error" ] || status=1
head -n 1 "$work/out" | grep -qx "snapshot: $first, one of 2 of a flight recorder" || status=1
ok $status "one that is named is read without a word"

status=0
ccltap report --snapshot=1 "$work/flight" >"$work/out" 2>"$work/error" || status=1
head -n 1 "$work/out" | grep -qx "snapshot: $first, one of 2 of a flight recorder" || status=1
grep -q "^ccltap: reading snapshot 1 of 2 in " "$work/error" || status=1
refuses 'there is no snapshot 3: the flight recorder has written 2' \
	ccltap check --snapshot=3 "$work/flight" || status=1
refuses 'snapshot "0": give its number' ccltap timeline --snapshot=0 "$work/flight" || status=1
ok $status "another one is read by its number"

status=0
refuses "$first and $second in .*/flight/alpha are of one flight recorder" \
	ccltap report "$flight/$first" "$flight/$second" || status=1
refuses "are of one flight recorder" ccltap timeline "$work/flight" "$flight/$first" ||
	status=1
ok $status "two of one recorder are not read as one"

status=0
ccltap check "$work/flight" >"$work/out" 2>/dev/null || status=1
sed -n 's/^\(verdict\|window\|snapshot\)/# &/p' "$work/out"
grep -qx 'verdict: ok' "$work/out" || status=1
grep -q '^window: a flight recorder overwrites' "$work/out" || status=1
ccltap check --json "$work/flight" 2>/dev/null | grep -q '"window":true' || status=1
ccltap timeline -f ctf -o "$work/calls" "$work/flight" 2>/dev/null || status=1
ok $status "what a flight recorder has overwritten makes no trace bad"

status=0
TMPDIR=$work/absent ccltap check "$work/wire" >"$work/out" || status=1
grep -q '^verdict: ok$' "$work/out" || status=1
refuses 'trace is missing: no recording is in this folder' ccltap check || status=1
refuses 'cannot read .*/absent: No such file' ccltap check "$work/absent" || status=1
ok $status "a check needs no room, and says why it cannot be made"

status=0
refuses 'cannot read .*/absent: No such file' ccltap timeline "$work/absent" || status=1
refuses 'is not a folder' ccltap report "$work/text" || status=1
mkdir "$work/empty"
refuses 'no trace in .*/empty: .*ccltap record -o NEW_FOLDER' ccltap timeline "$work/empty" ||
	status=1
echo 'ccltap recording 1' >"$work/empty/ccltap-recording"
refuses 'the recording in .*/empty is empty: no call' ccltap timeline "$work/empty" ||
	status=1
rm "$work/empty/ccltap-recording"
ok $status "what is no trace is refused with the reason"

status=0
mkdir "$work/bad"
echo "not CTF" >"$work/bad/metadata"
refuses 'cannot read the trace .*/bad: ' ccltap timeline "$work/bad" || status=1
grep -q 'bad: its metadata is damaged' "$work/error" || status=1
: >"$work/bad/metadata"
refuses 'cannot read the trace .*/bad: its metadata is empty' ccltap timeline "$work/bad" ||
	status=1
ok $status "what is not CTF is refused, with the reason"

status=0
ccltap timeline "$work/bad" "$work/run/alpha" >"$work/out" 2>"$work/error" || status=$?
grep -q 'cannot read the trace .*/bad' "$work/error" || status=1
grep -q ncclGroupEnd "$work/out" || status=1
ok $status "one trace that cannot be read leaves the others"

# babeltrace2 refuses the whole trace; what it refuses alone is the cut stream.
status=0
make_trace simple "$work/cut"
head -c 50 "$work/cut/hot" >"$work/short"
mv "$work/short" "$work/cut/hot"
ccltap timeline "$work/cut" >"$work/out" 2>"$work/error" || status=$?
sed 's/^/# /' "$work/error"
grep -q 'left 1 damaged streams of .*/cut out: hot: it is cut short$' "$work/error" ||
	status=1
grep -q '^process: rank 0 pid 10 on alpha' "$work/out" || status=1
grep -q '^loss: damaged streams 1$' "$work/out" || status=1
ok $status "a stream that is cut short leaves the others"

status=0
refuses 'jsonl exists' ccltap timeline -o "$work/jsonl" "$work/run" || status=1
grep -q '^{"type":"trace"' "$work/jsonl" || status=1
ccltap report --full --overwrite -o "$work/jsonl" "$work/run" || status=1
grep -q '^all processes' "$work/jsonl" || status=1
ok $status "a file that exists is replaced only when told to"

status=0
for verb in timeline 'timeline -f jsonl' 'report --full'; do
	# shellcheck disable=SC2086 # words
	ccltap $verb -o /dev/null "$work/run" || status=1
	rm -f "$work/fifo"
	mkfifo "$work/fifo"
	cat "$work/fifo" >"$work/out" &
	# shellcheck disable=SC2086 # words
	ccltap $verb -o "$work/fifo" "$work/run" || status=1
	wait $!
	grep -q ncclGroupEnd "$work/out" || status=1
	# shellcheck disable=SC2086 # words
	refuses 'Cannot write .*/run: Is a directory' ccltap $verb -o "$work/run" "$work/run" ||
		status=1
done
ok $status "an output that is no file is written, and is no folder"

status=0
mkdir "$work/ctf"
ccltap timeline --format ctf -o "$work/ctf" "$work/run" || status=$?
ccltap timeline --format ctf -o "$work/new" "$work/run" || status=$?
for made in ctf new; do
	[ "$(babeltrace2 "$work/$made" | grep -c ' ccltap:end: ')" -eq 7 ] || status=1
done
ok $status "a trace of the calls goes into a folder that is empty or not there"

status=0
refuses 'ctf exists and is not empty: choose' \
	ccltap timeline -f ctf -o "$work/ctf" "$work/run" || status=1
refuses 'absent/new: No such file' \
	ccltap timeline -f ctf -o "$work/absent/new" "$work/run" || status=1
refuses 'it is not a folder' ccltap timeline -f ctf -o "$work/text" "$work/run" || status=1
refuses 'name it with -o' ccltap timeline -f ctf "$work/run" || status=1
for option in --overwrite --absolute --all --stacks; do
	refuses 'format ctf has no' \
		ccltap timeline -f ctf $option -o "$work/other" "$work/run" || status=1
done
refuses 'no trace in .*/empty' ccltap timeline -f ctf -o "$work/other" "$work/empty" ||
	status=1
[ ! -e "$work/other" ] || status=1
ok $status "it goes nowhere else"

# No file may be larger than 50 KiB, and no signal says so; 600 calls take more.
awk 'BEGIN {
	for (i = 1; i <= 600; i++) {
		print i * 2, "s 10 11 nccl:ncclSend_entry call_id=" i, "parent_id=0"
		print i * 2 + 1, "s 10 11 nccl:ncclSend_exit call_id=" i, "result=0:ok"
	}
}' >"$work/many.events"
"$convert" events "$work/many.events" ctf path="$work/many" quiet=yes
got=0
(
	trap '' XFSZ
	ulimit -f 100
	ccltap timeline -f ctf -o "$work/full" "$work/many" 2>"$work/error"
) || got=$?
sed 's/^/# /' "$work/error"
status=0
[ "$got" -eq 1 ] && [ "$(wc -l <"$work/error")" -eq 1 ] || status=1
grep -q 'cannot write all of .*full, .*: is there room' "$work/error" || status=1
[ ! -e "$work/full" ] || status=1
ok $status "where there is no room, that is said"

# Lines go to a pipe as they come, and need no file; what is known last comes last.
status=0
TMPDIR=$work/absent ccltap timeline "$work/run" | cat >"$work/out" || status=1
lines='^ .*/.* nccl'
grep "$lines" "$work/text" >"$work/expected"
sed 7q "$work/out" | sed 1d | grep -c "$lines" | grep -qx 6 || status=1
grep "$lines" "$work/out" | cmp - "$work/expected" || status=1
sed -n '/^$/,$p' "$work/out" | grep -q '^7 calls, 1 host,' || status=1
[ "$(grep -c '^loss: ' "$work/out")" -eq 1 ] || status=1
ccltap timeline "$work/many" | head -n 1 | grep -q 'seconds .*call$' || status=1
TMPDIR=$work/absent ccltap timeline -f jsonl "$work/run" | cat >"$work/out" || status=1
[ "$(grep -c '^{"type":"span",.*}$' "$work/out")" -eq 7 ] || status=1
head -n 1 "$work/out" | grep -q '"type":"trace",.*"loss":null}$' || status=1
tail -n 1 "$work/out" | grep -q '"type":"trace",.*"loss":{"discarded_events":0,' || status=1
ok $status "lines are shown before the trace is read"

# The same limit as above, of which the output itself knows nothing.
got=0
(
	trap '' XFSZ
	ulimit -f 8
	TMPDIR=$work ccltap timeline -o /dev/null "$work/many" 2>"$work/error"
) || got=$?
status=0
sed 's/^/# /' "$work/error"
[ "$got" -eq 1 ] && [ "$(wc -l <"$work/error")" -eq 1 ] || status=1
grep -q "Cannot write a temporary file in $work: File too large; set TMPDIR" \
	"$work/error" || status=1
got=0
TMPDIR=$work/absent ccltap timeline -o /dev/null "$work/many" 2>"$work/error" || got=$?
[ "$got" -eq 1 ] || status=1
grep -q "Cannot write a temporary file in $work/absent: No such file" "$work/error" ||
	status=1
for verb in timeline 'timeline -f jsonl' report check; do
	got=0
	# shellcheck disable=SC2086 # words
	ccltap $verb "$work/many" >&- 2>"$work/error" || got=$?
	[ "$got" -gt 0 ] && [ "$got" -le 2 ] || status=1
	grep -q 'annot write .*: Bad file descriptor' "$work/error" || status=1
done
ok $status "a temporary file, and an output, that cannot be written is named"

status=0
refuses 'trace is missing' ccltap timeline || status=1
refuses 'choose text, jsonl, perfetto, json, json.gz or ctf' ccltap timeline -f xml "$work/run" || status=1
refuses 'option' ccltap report --colour "$work/run" || status=1
ccltap timeline --help | grep -q -- --format || status=1
ccltap report --help | grep -q -- --json || status=1
ok $status "a wrong command line is refused, --help explains"

# Rank 2 is process 30.
make_trace why-late "$work/of-late"
status=0
ccltap timeline --finding 1 -f jsonl -o "$work/focus" "$work/of-late" || status=1
grep -q '"filters":{"rank":"2","begin":"0.301290000","end":"2.314580000"},"spans_passed":29,' \
	"$work/focus" || status=1
[ "$(sed -n 's/^{"type":"span",.*"pid":\([0-9]*\),"tid".*/\1/p' "$work/focus" | sort -u)" = 30 ] ||
	status=1
make_trace why-missing "$work/of-missing"
ccltap timeline --finding 1 "$work/of-missing" |
	grep -q '^filtered: rank 1,0,2,3, begin 0.299999010: 8 of 17 spans' || status=1
refuses 'there is no finding 2' ccltap timeline --finding 2 "$work/of-late" || status=1
for number in 0 x 1x 99999999999; do
	refuses 'give its number' ccltap timeline --finding $number "$work/of-late" || status=1
done
for option in --rank=2 --begin=1 --end=1; do
	refuses 'it has no --rank' ccltap timeline --finding 1 $option "$work/of-late" || status=1
done
ok $status "--finding shows the ranks at fault in a finding, and its time, alone"

# Of the recordings in a folder the newest is read, if none is named.
status=0
top=$(cd "$top_builddir" && pwd)
CCLTAP_LIBDIR=$top/.libs
here() { # FOLDER: the newest there, as reported
	(cd "$1" && "$top/ccltap" check) >"$work/out" 2>"$work/error" || return 1
	sed -n 's/^ccltap: reading \(.*\), the newest recording here, of [-0-9]* [:0-9]*$/\1/p' \
		"$work/error"
}
mkdir -p "$work/here/b/alpha" "$work/here/c.old/alpha" "$work/here/d" "$work/here/a/alpha/ust"
make_trace wire-rc "$work/here/a/alpha/ust/trace"
cp -R "$work/here/a/alpha/ust" "$work/here/b/alpha/ust"
for one in a b c.old; do
	echo 'ccltap recording 1' >"$work/here/$one/alpha/ccltap-recording"
done
touch -d '2026-01-02 03:04:05' "$work/here/b/alpha/ccltap-recording"
[ "$(here "$work/here")" = a ] || status=1
touch -d '2025-01-02 03:04:05' "$work/here/a/alpha/ccltap-recording"
[ "$(here "$work/here")" = b ] || status=1
grep -q ', of 2026-01-02 03:04:05$' "$work/error" || status=1
[ "$(here "$work/here/a")" = . ] || status=1
[ "$(here "$work/here/a/alpha")" = . ] || status=1
here "$work/here/d" && status=1
grep -q 'no recording is in this folder' "$work/error" || status=1
for verb in 'timeline -f jsonl' report why; do
	# shellcheck disable=SC2086 # words
	(cd "$work/here" && "$top/ccltap" $verb) >"$work/out" 2>/dev/null || [ $? -eq 1 ] || status=1
	[ -s "$work/out" ] || status=1
done
ok $status "without a trace the newest recording here is read, and named"

status=0
refuses 'no verb "repotr": did you mean "report"?' ccltap repotr "$work/run" || status=1
refuses 'no verb "xylophone": "ccltap --help" lists them' ccltap xylophone || status=1
refuses 'did you mean "check"?' ccltap help chekc || status=1
refuses 'no option "--jsom": did you mean "--json"? "ccltap report --help"' \
	ccltap report "$work/run" --jsom || status=1
refuses 'no option "--formt": did you mean "--format"?' \
	ccltap timeline --formt=jsonl "$work/run" || status=1
refuses 'no option "--modlues": did you mean "--modules"?' \
	ccltap timeline -o --out --modlues x "$work/run" || status=1
refuses 'no option "--xylophone": "ccltap report --help" lists' \
	ccltap report --xylophone "$work/run" || status=1
refuses "^ccltap report: option '--output' requires an argument" \
	ccltap report "$work/run" --output || status=1
ccltap timeline --form jsonl "$work/run" | grep -q '"type":"span"' || status=1
refuses 'cannot read --odd: No such file' ccltap report -- --odd || status=1
ok $status "a word that is not known is answered with the one it is like"

status=0
for verb in record timeline report why check audit env doctor status start stop snapshot end help; do
	ccltap $verb --help >"$work/help" || status=1
	head -n 1 "$work/help" | grep -q "^Usage: ccltap $verb " || status=1
	ccltap $verb -h | cmp - "$work/help" || status=1
	ccltap $verb '-?' | cmp - "$work/help" || status=1
	ccltap help $verb | cmp - "$work/help" || status=1
	ccltap --help | grep -q "^  $verb " || status=1
	ccltap $verb --usage | head -n 1 | grep -q "^Usage: ccltap $verb " || status=1
	[ "$(ccltap $verb -V)" = "$(ccltap --version)" ] || status=1
done
[ "$(ccltap help)" = "$(ccltap --help)" ] || status=1
refuses 'one verb at a time: "check" is too much' ccltap help report check || status=1
ok $status "every verb has its help, under its full name"

status=0
# Where ccltap is installed, that one is found instead.
CCLTAP_LIBDIR=$work/empty ccltap timeline "$work/run" >"$work/out" 2>"$work/error" ||
	grep -q 'set CCLTAP_LIBDIR' "$work/error" || status=1
ok $status "a plugin that is missing is named"

tap_done
