#!/bin/sh
# SPDX-License-Identifier: MIT
# Damaged traces, of which babeltrace2 dies or comes to no end: the rest of them is read, and
# what was left out is named and counted.  First each way that was met, then any at random.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

golden=$top_srcdir/tests/golden
traces=$golden/traces
convert=${top_builddir:?}/tests/golden/convert
CCLTAP_LIBDIR=$top_builddir/.libs
CCLTAP=$top_builddir/ccltap
export CCLTAP CCLTAP_LIBDIR
work=$PWD/damaged.$$
mkdir -p "$work/tmp" "$work/seeds"
trap 'rm -rf "$work"' EXIT
TMPDIR=$work/tmp
export TMPDIR
# A bad access of babeltrace2's is to end it as it does without sanitizers.
ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS

# judge SENTENCE STATUS: what stderr had is shown where it failed.
judge() {
	[ "$2" -eq 0 ] || sed 's/^/# /' "$work/error"
	ok "$2" "$1"
}

# Two ranks as LTTng wrote them: hot_1 has packets at 0, 16384, 32768 and 49152.
xz -dc "$golden/fuzz-seed.tar.xz" | tar xf - -C "$work/seeds"
trace=$work/run/trace
anew() {
	chmod -R u+w "$work/run" 2>/dev/null || true
	rm -rf "$work/run"
	cp -r "$work/seeds/recorded" "$work/run"
}

put() { # FILE OFFSET OCTAL-ESCAPES
	# shellcheck disable=SC2059 # escapes
	printf "$3" | dd of="$trace/$1" bs=1 seek="$2" conv=notrunc status=none
}
ones='\377\377\377\377\377\377\377\377'
high='\200\000\000\000\000\000\000\200'

# reads STATUS ARGUMENT...: ends so, with one line on stderr at most, which is ours.
reads() {
	wanted=$1
	shift
	got=0
	"$CCLTAP" "$@" >"$work/out" 2>"$work/error" || got=$?
	[ "$got" -eq "$wanted" ] && [ "$(wc -l <"$work/error")" -le 1 ] &&
		! grep -qv '^ccltap: ' "$work/error" && [ -z "$(ls "$work/tmp")" ]
}


anew
reads 0 timeline -f jsonl "$work/run"
grep -c '"type":"span"' "$work/out" >"$work/spans"
status=0
[ ! -s "$work/error" ] || status=1
judge "what is not damaged is read in silence" $status

# The second packet begins at a time that babeltrace2 takes for none.
status=0
put hot_1 $((16384 + 32)) "$ones"
reads 0 timeline -f jsonl "$work/run" || status=1
grep -q 'left the rest of the stream hot_1 of .*/run/trace out' "$work/error" || status=1
head -n 1 "$work/out" | grep -q '"damaged_streams":1,' || status=1
[ "$(grep -c '"type":"trace"' "$work/out")" -eq 1 ] || status=1
# What was read of the stream before stays, and so do the other streams.
[ "$(grep -c '"type":"span"' "$work/out")" -gt $(($(cat "$work/spans") / 4)) ] || status=1
[ "$(grep -c '"type":"span"' "$work/out")" -lt "$(cat "$work/spans")" ] || status=1
judge "JSON lines go on behind a packet of which babeltrace2 dies" $status

status=0
sed '1s/ *$//' "$work/out" >"$work/piped"
reads 0 timeline -f jsonl -o "$work/file" "$work/run" || status=1
sed '1s/ *$//' "$work/file" | cmp -s - "$work/piped" || status=1
"$CCLTAP" timeline -f jsonl "$work/run" 2>/dev/null | cat >"$work/again" || status=1
sed 1d "$work/piped" >"$work/expected"
sed '1d;$d' "$work/again" | cmp -s - "$work/expected" || status=1
tail -n 1 "$work/again" >"$work/expected"
head -n 1 "$work/piped" | cmp -s - "$work/expected" || status=1
echo before >"$work/file"
"$CCLTAP" timeline -f jsonl "$work/run" 2>/dev/null >>"$work/file" || status=1
sed 1d "$work/file" | sed '1s/ *$//' | cmp -s - "$work/piped" || status=1
judge "a file, a pipe and what is appended to get them once" $status

status=0
reads 0 timeline "$work/run" || status=1
[ "$(grep -c '^loss: .*damaged streams 1' "$work/out")" -eq 2 ] || status=1
reads 0 report "$work/run" || status=1
grep -q ' LOST: .*damaged streams 1' "$work/out" || status=1
reads 0 report --full "$work/run" || status=1
grep -q '^loss: .*damaged streams 1' "$work/out" || status=1
reads 1 check "$work/run" || status=1
grep -q '^verdict: bad$' "$work/out" || status=1
grep -q '^loss: the first damaged stream: babeltrace2 fails on it$' "$work/out" || status=1
judge "text, report and check count the stream" $status

# Some 80 KB of text are out when babeltrace2 dies of the last packet.
status=0
anew
put hot_1 $((49152 + 32)) "$ones"
reads 0 timeline "$work/run" || status=1
grep '^ *[0-9.]* .*/' "$work/out" >"$work/expected"
[ "$(wc -c <"$work/expected")" -gt 80000 ] || status=1
"$CCLTAP" timeline "$work/run" 2>"$work/error" | cat >"$work/out" || status=1
grep '^ *[0-9.]* .*/' "$work/out" | cmp -s - "$work/expected" || status=1
grep -q 'left the rest of the stream hot_1' "$work/error" || status=1
reads 0 timeline -f jsonl "$work/run" || status=1
sed 1d "$work/out" >"$work/expected"
"$CCLTAP" timeline -f jsonl "$work/run" 2>"$work/error" | sed '1d;$d' |
	cmp -s - "$work/expected" || status=1
judge "lines that were read already come once" $status

status=0
anew
put hot_1 $((16384 + 32)) "$ones"
"$CCLTAP" timeline -f ctf -o "$work/ctf" "$work/run" 2>"$work/error" || status=1
grep -q '^ccltap: left the rest of the stream hot_1' "$work/error" || status=1
grep -q '^loss: .*damaged streams 1' "$work/error" || status=1
babeltrace2 "$work/ctf" 2>/dev/null | grep -q 'ccltap:end: .*kind_id = 1,' || status=1
judge "a CTF trace is made once" $status

# The same in the first packets of two streams: neither gives anything.
status=0
anew
put hot_1 32 "$ones"
put setup_0 48 "$high"
reads 0 timeline -f jsonl "$work/run" || status=1
grep -q 'left 2 damaged streams of .*/run/trace out: ' "$work/error" || status=1
head -n 1 "$work/out" | grep -q '"damaged_streams":2,' || status=1
judge "streams of which babeltrace2 dies at once are left out" $status

status=0
for file in hot_0 hot_1 setup_0 setup_1; do
	put $file 32 "$ones"
done
reads 2 timeline "$work/run" || status=1
grep -q 'cannot read the trace .*/run/trace: babeltrace2 fails on it' "$work/error" ||
	status=1
reads 2 timeline -f ctf -o "$work/none" "$work/run" || status=1
[ ! -e "$work/none" ] || status=1
judge "a trace of which nothing is left is refused" $status

# A pipe in the place of an index: to open it is to wait for ever.
status=0
anew
rm "$trace/index/hot_1.idx"
mkfifo "$trace/index/hot_1.idx"
reads 0 timeline -f jsonl "$work/run" || status=1
grep -q 'read each stream of .*/run/trace by itself: babeltrace2 does not finish' \
	"$work/error" || status=1
head -n 1 "$work/out" | grep -q '"damaged_streams":0,' || status=1
judge "what babeltrace2 waits for in vain is read without it" $status

status=0
anew
for line in 'removed -5' 'removed 99999999999' 'removed 4294967295' 'name ' 'removed x' ''; do
	printf 'ccltap recording 1\nname x\n%b\n' "$line" >"$work/run/ccltap-recording"
	reads 0 timeline -f jsonl "$work/run" || status=1
	head -n 1 "$work/out" | grep -q '"removed_chunks":0,' || status=1
done
for at in 1 2 3 4 5 6 7; do
	echo 'removed 4294967295'
	echo "removed 90000000$at"
done >>"$work/run/ccltap-recording"
reads 0 timeline -f jsonl "$work/run" || status=1
head -n 1 "$work/out" | grep -q '"removed_chunks":1800000003,' || status=1
judge "a marker that is damaged is no reason to stop" $status

# A time that 64 bits of nanoseconds do not hold.
status=0
anew
put hot_1 $((16384 + 40)) "$high"
for format in jsonl text; do
	reads 0 timeline -f $format "$work/run" || status=1
done
rm -rf "$work/ctf"
"$CCLTAP" timeline -f ctf -o "$work/ctf" "$work/run" 2>"$work/error" || status=1
judge "a time that is too large is no reason to stop" $status

# Ctrl-C, and whoever is no longer read: both processes end, and leave nothing.
status=0
anew
got=0
"$CCLTAP" timeline "$work/run" 2>"$work/error" | : || got=$?
mkfifo "$work/fifo"
"$CCLTAP" timeline -f jsonl -o "$work/fifo" "$work/run" 2>"$work/error" &
pid=$!
while ! child=$(cat "/proc/$pid/task/$pid/children") || [ -z "$child" ]; do
	sleep 0.01
done
kill -TERM $pid
got=0
wait $pid || got=$?
[ $got -eq 143 ] || status=1
[ ! -e "/proc/${child% }" ] || status=1
[ -z "$(ls "$work/tmp")" ] || status=1
judge "a signal ends what reads, too" $status

for case in nesting comm wire-rc gpu-graph net-groups two-hosts; do
	mkdir "$work/seeds/$case"
	"$convert" events "$traces/$case.events" ctf path="$work/seeds/$case/trace" quiet=yes
done
: >"$work/error"
status=0
cd "$work"
python3 "$golden/fuzz_traces.py" --runs "${FUZZ_RUNS-200}" --seed "${FUZZ_SEED-1}" \
	"$work/seeds" || status=1
judge "${FUZZ_RUNS-200} traces damaged at random end with a word" $status

tap_done
