#!/bin/sh
# SPDX-License-Identifier: MIT
# Each case is a text of events (source.c says how it is written) and what each
# view makes of it.  "# params: NAME=VALUE" in a case gives parameters to the
# views, "# views: NAME..." names those that are shown.  GOLDEN_UPDATE=1 writes the expectations anew: read the difference.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
work=golden.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT
TZ=UTC
export TZ

# What a view writes, or why it does not.
view() { # TITLE EVENTS SINK [PARAMETER=VALUE]...
	echo "==> $1"
	shift
	events=$1
	shift
	"$convert" events "$events" "$@" output="$work/out" overwrite=yes 2>&1 || true
	cat "$work/out"
}

views() { # EVENTS
	params=$(sed -n 's/^# params: //p' "$1")
	window=
	for param in $params; do
		case $param in
		window=*) window=$param ;;
		*) others="${others-} $param" ;;
		esac
	done
	shown=$(sed -n 's/^# views: //p' "$1")
	# shellcheck disable=SC2086 # several words
	for one in ${shown:-text jsonl report report-full report-json check check-json}; do
		case $one in
		text) view text "$1" timeline $window ${others-} ;;
		jsonl) view jsonl "$1" timeline format=jsonl ${others-} ;;
		tree) view tree "$1" timeline tree=yes ${others-} ;;
		tree-jsonl) view tree-jsonl "$1" timeline tree=yes format=jsonl ${others-} ;;
		*-full) view $one "$1" ${one%-full} full=yes ${others-} ;;
		*-json) view $one "$1" ${one%-json} json=yes ${others-} ;;
		*) view $one "$1" $one ${others-} ;;
		esac
	done
	unset others
}

set -- "$traces"/*.events
for events; do
	name=$(basename "$events" .events)
	expect=${events%.events}.expect
	views "$events" >"$work/$name"
	if [ -n "${GOLDEN_UPDATE-}" ]; then
		cp "$work/$name" "$expect"
	fi
	status=0
	diff -u "$expect" "$work/$name" >"$work/diff" || status=1
	sed 's/^/# /' "$work/diff"
	ok $status "$name is shown as expected"
done

# AllReduce #1, Send #1 and Recv #1 of one rank are three operations for who joins by key.
status=0
"$convert" events "$traces/comm.events" timeline format=jsonl output="$work/comm.jsonl"
sed -n 's/^{"type":"span",.*"process":\([0-9]*\),.*"comm_key":"\([^"]*\)".*"op_key":"\([^"]*\)",.*"result":"nccl[SP].*/\1 \2 \3/p' \
	"$work/comm.jsonl" | sort >"$work/keys"
for key in all.1 '0>1.1' '1>0.1'; do
	[ "$(grep -c " $key$" "$work/keys")" -eq 2 ] || status=1
done
[ -z "$(uniq -d "$work/keys")" ] || status=1
sed 's/^/# /' "$work/keys"
ok $status "a key is that of one operation, on both ranks"

# 300 streams, each with its own thread; every microsecond another one is next.
awk 'BEGIN {
	for (i = 0; i < 3000; i++) {
		s = (i * 7) % 300
		who = "s" s " 10 " 100 + s
		call = "call_id=" i + 1
		print i * 1000, who, "nccl:ncclSend_entry", call, "parent_id=0 count=" i
		print i * 1000 + 500, who, "nccl:ncclSend_exit", call, "result=0:ok"
	}
}' >"$work/streams.events"
"$convert" events "$work/streams.events" timeline output="$work/streams" 2>&1
status=0
awk '/ncclSend count=/ { if ("count=" n != $7) exit 1; n++ }
	BEGIN { n = 0 } END { if (n != 3000) exit 1 }' "$work/streams" || status=1
grep -q '^loss: none$' "$work/streams" || status=1
ok $status "300 streams are brought into one order"

# The sends and receives of an all-to-all among 1,024 ranks.
awk 'function event(time, what) { print time, "hot 10 11", what }
BEGIN {
	print "1000 setup 10 10 tap:comm comm_id=1 comm=0xa01 comm_key=0xa1 alias_key=0x0", \
		"origin=1:init parent_comm_id=0 ordinal=1 phase=1:ready async_error=0:ncclSuccess", \
		"nranks=+1024 rank=+0 device=+0 collectives=0"
	print "1010 setup 10 90 gpu:name name=1 text=\"ncclDevKernel_SendRecv\""
	comm = "comm=0xa01 comm_id=1 comm_key=0xa1"
	event(2000, "nccl:ncclGroupStart_entry call_id=1 parent_id=0 inner=0 group_id=1")
	event(2001, "nccl:ncclGroupStart_exit call_id=1 result=0:ncclSuccess")
	for (i = 1; i < 1024; i++)
		for (j = 0; j < 2; j++) {
			at = 2000 + i * 10 + j * 5
			call = "call_id=" 2 * i + j
			name = j ? "ncclRecv" : "ncclSend"
			event(at, "nccl:" name "_entry " call " parent_id=0 inner=0 count=4 datatype=7 " \
				comm " op_number=1 not_counted=0 group_id=1 capture=0:none peer=+" i)
			event(at + 1, "nccl:" name "_exit " call " result=0:ncclSuccess")
		}
	event(20000, "nccl:ncclGroupEnd_entry call_id=3000 parent_id=0 group_id=1 group_depth=1")
	event(20020, "cuda:cuLaunchKernelEx begin_ns=20010 call_id=3001 parent_id=3000 context=0xc0" \
		" result=+0 capture=+0 correlation_id=1 gridDimX=2 hStream=0x50 f=0xf1")
	event(20030, "nccl:ncclGroupEnd_exit call_id=3000 result=0:ncclSuccess group_outcome=1:launched")
	print "30000 hot 10 90 gpu:kernel start_ns=20100 end_ns=20200 correlation_id=1 device=0" \
		" context=1 stream=7 name=1 graph=0 graph_node=0"
}' >"$work/all-to-all.events"
status=0
[ "$("$convert" events "$work/all-to-all.events" timeline format=jsonl |
	sed -n '/"kind":"kernel-collective"/s/.*"spans":\["0.g1"\(.*\)\].*/\1/p' |
	tr -cd , | wc -c)" -eq 2046 ] || status=1
ok $status "the kernel of an all-to-all among 1,024 ranks has all of its sends and receives"

# A graph with three collectives is launched a thousand times, by fours; a buffer of records
# comes when it is full, long after.
awk 'function event(time, what) { print time, "hot 10 11", what }
BEGIN {
	for (i = 1; i <= 3; i++) {
		event(1000 + i * 100, "nccl:ncclAllReduce_entry call_id=" 2 * i \
			" parent_id=0 inner=0 count=4 comm_id=1 comm_key=0xa1 op_number=" i)
		print 1010 + i * 100, "setup 10 11 gpu:graph_node call_id=" 2 * i + 1, \
			"graph=1 node=" i " original=0"
		event(1030 + i * 100, "cuda:cuLaunchKernelEx begin_ns=" 1005 + i * 100 \
			" call_id=" 2 * i + 1 " parent_id=" 2 * i " result=+0 capture=+1" \
			" correlation_id=" i " f=0xf1")
		event(1040 + i * 100, "nccl:ncclAllReduce_exit call_id=" 2 * i " result=0:ok")
		print 1900 + i, "setup 10 11 gpu:graph_node call_id=8 graph=2 node=" 10 + i, \
			"original=" i
	}
	print "1950 setup 10 90 gpu:name name=1 text=\"ncclDevKernel_AllReduce_Sum_f32_RING_LL\""
	for (i = 0; i < 1000; i++) {
		at = 10000 + i * 1000
		event(at + 10, "cuda:cuGraphLaunch begin_ns=" at " call_id=" 10 + i \
			" parent_id=0 result=+0 capture=+0 correlation_id=" 100 + i)
		for (j = 1; j <= 3; j++)
			told[n++] = "hot 10 90 gpu:kernel start_ns=" at + j * 200 \
				" end_ns=" at + j * 200 + 150 " correlation_id=" 100 + i \
				" device=0 context=1 stream=7 name=1 graph=2 graph_node=" 10 + j
		if (i % 4 < 3)
			continue
		for (j = 0; j < n; j++)
			print at + 900 + j, told[j]
		n = 0
	}
}' >"$work/replays.events"
"$convert" events "$work/replays.events" timeline format=jsonl |
	sed -n 's/.*"kind":"kernel-collective","known":"exact".*"spans":\["0\.g[0-9]*","\(0\.[246]\)"\].*/\1/p' |
	sort | uniq -c | awk '{ print $1, $2 }' >"$work/replays"
printf '1000 0.2\n1000 0.4\n1000 0.6\n' >"$work/expected"
status=0
cmp "$work/expected" "$work/replays" || status=1
# In order, though each kernel is told after the launches that follow.
"$convert" events "$work/replays.events" timeline output="$work/text"
sed -n '/^ *seconds/,/^$/p' "$work/text" >"$work/lines"
[ "$(grep -c ' kernel #' "$work/lines")" = 3000 ] || status=1
grep -q 'late line' "$work/lines" && status=1
awk '/cu|kernel/ { if ($1 < last) exit 1; last = $1 }' "$work/lines" || status=1
ok $status "each kernel of 1000 replays is of its collective, in order"

# A thread polls while another one makes 5000 calls: a line of polls waits for the end of the
# polling, but not for ever.
awk 'BEGIN {
	for (i = 1; i <= 5000; i++) {
		print i * 100, "a 10 11 nccl:ncclCommGetAsyncError_entry call_id=" i, "parent_id=0"
		print i * 100 + 5, "a 10 11 nccl:ncclCommGetAsyncError_exit call_id=" i, \
			"result=0:ok asyncError=0:ok"
		print i * 100 + 50, "b 10 12 nccl:ncclSend_entry call_id=" i + 5000, "parent_id=0"
		print i * 100 + 60, "b 10 12 nccl:ncclSend_exit call_id=" i + 5000, "result=0:ok"
	}
}' >"$work/polling.events"
"$convert" events "$work/polling.events" timeline output="$work/folded"
sed -n '/^ *seconds/,/^$/p' "$work/folded" | sed '1d;/^$/d' >"$work/lines"
sed -n 's/.*GetAsyncError [^0-9 ]*\([0-9]*\).*/\1/p' "$work/lines" >"$work/counts"
status=0
sed 's/^/# polls in a line: /' "$work/counts"
[ "$(grep -c ' ncclSend$' "$work/lines")" = 5000 ] || status=1
lines=$(wc -l <"$work/counts")
if [ "$lines" -lt 2 ] || [ "$lines" -gt 10 ]; then status=1; fi
[ "$(awk '{ sum += $1 } END { print sum }' "$work/counts")" = 5000 ] || status=1
[ "$(wc -l <"$work/lines")" = $((5000 + lines)) ] || status=1
awk '{ if ($1 < last) exit 1; last = $1 }' "$work/lines" || status=1
grep -q "^folded: 5000 polling calls in $lines lines" "$work/folded" || status=1
"$convert" events "$work/polling.events" timeline all=yes output="$work/unfolded"
[ "$(grep -c ' ncclCommGetAsyncError ' "$work/unfolded")" = 5000 ] || status=1
grep -q '^folded' "$work/unfolded" && status=1
ok $status "polling calls are folded, in order, and with a bound"

# All took 150 ns, and waited for 200, 400 or 600: a median of so many different ones has
# two digits.
"$convert" events "$work/replays.events" report gpu=yes output="$work/sums"
status=0
grep -q '^  pid 10 .* ncclAllReduce  *3000 .* 10 ns *~400 ns *150 ns *150 ns$' "$work/sums" || status=1
[ "$status" -eq 0 ] || sed -n '/^collectives on the GPU/,/^$/s/^/# /p' "$work/sums"
ok $status "medians of 3000 kernels claim two digits"

# Written to a file, the first line is patched; to a pipe, it comes once more.
"$convert" events "$traces/discarded.events" timeline format=jsonl output="$work/patched"
"$convert" events "$traces/discarded.events" timeline format=jsonl | cat >"$work/piped"
status=0
sed '1s/ *$//' "$work/patched" >"$work/first"
tail -n 1 "$work/piped" >"$work/last"
head -n 1 "$work/first" | cmp - "$work/last" || status=1
sed 1d "$work/first" >"$work/expected"
sed '1d;$d' "$work/piped" | cmp - "$work/expected" || status=1
grep -q '"discarded_events":12,' "$work/last" || status=1
head -n 1 "$work/piped" | grep -q '^{"type":"trace","schema":1,.*"loss":null}$' || status=1
ok $status "a pipe gets what a file gets"

status=0
"$convert" events "$traces/simple.events" report full=yes output="$work/patched" 2>"$work/error" &&
	status=1
grep -q 'exists: choose another name' "$work/error" || status=1
head -n 1 "$work/patched" | grep -q '^{"type":"trace"' || status=1
ok $status "a file that exists is not replaced"

status=0
for params in format=xml window=0 window=x columns=0 shade=yes json=yes; do
	got=0
	"$convert" events "$traces/simple.events" timeline "$params" >/dev/null \
		2>"$work/error" || got=$?
	[ $got -eq 1 ] && grep -q '^convert: ' "$work/error" || status=1
	sed 's/^/# /' "$work/error"
done
ok $status "a wrong parameter is refused"

# The escape sequences are all that differs.
status=0
for view in why check; do
	"$convert" events "$traces/why-missing.events" "$view" >"$work/plain" || status=1
	"$convert" events "$traces/why-missing.events" "$view" colour=yes \
		>"$work/coloured" || status=1
	grep -q "$(printf '\033')\[1;3[13]m[a-zA-Z]*$(printf '\033')\[m" "$work/coloured" || status=1
	sed "s/$(printf '\033')\[[0-9;]*m//g" "$work/coloured" | cmp - "$work/plain" || status=1
done
ok $status "colour changes no other byte"

tap_done
