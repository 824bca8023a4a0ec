#!/bin/sh
# SPDX-License-Identifier: MIT
# Ranks that are only counted are recorded from outside, in the middle: ccltap start, stop,
# end, and again.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

mkdir "$work/out.d"
file=$work/out.d/job.prom
trap 'touch "$work"/*/go "$work"/*/end 2>/dev/null || true; rm -rf "$work"' EXIT

expect()
{
    /usr/bin/python3 "$top_srcdir/tests/live/expect/attach.py" "$@"
}

# begin FOLDER: two ranks that call all the time, through queue pairs, and one that is quiet,
# counted alone.
begin()
{
    mkdir "$work/$1"
    "$ccltap" record --layers none --metrics="$file" -o "$work/$1.trace" -- \
        env SOFTVERBS_FABRIC="attach.$1.$$" LD_LIBRARY_PATH="$top_builddir/tests/doubles/verbs" \
        NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 \
        "$programs/steady" "$work/$1" 2 2000 2>"$work/err" &
    recorder=$!
    for rank in 0 1 2; do
        check "rank $rank works" within 60 test -s "$work/$1/at.$rank"
    done
}

# finish FOLDER
finish()
{
    touch "$work/$1/go" "$work/$1/end"
    status=0
    wait "$recorder" || status=$?
    same "the program ends well" 0 "$status"
}

# ctl VERB...: to $work/said.
ctl()
{
    "$ccltap" "$@" >"$work/said" 2>&1 || { sed 's/^/# /' "$work/said" && false; }
}

of_lttng() # FOLDER RANK: how much of LTTng's a rank has mapped
{
    grep -c lttng "/proc/$(cat "$work/$1/at.$2")/maps" || true
}

says() # PATTERN
{
    grep -q "$1" "$work/said" || { sed 's/^/# /' "$work/said" && false; }
}

# calls: how many all-reduces the views see now.
calls()
{
    "$ccltap" timeline --format jsonl "$work/job.trace" >"$work/jsonl" || return
    grep -c '"name":"ncclAllReduce"' "$work/jsonl" || true
}

begin job
since() # when what goes on began
{
    "$ccltap" status "$file" | sed -n 's/.* since \([-0-9]* [:0-9]*\), in .*/\1/p'
}
counted=$(since)
check "status says since when it is counted" [ -n "$counted" ]
sleep 1 # what status shows is in seconds
same "a rank that is counted has nothing of LTTng's" 0 "$(of_lttng job 0)"
check "it is known by the folder that is not there yet" ctl status "$work/job.trace"
check "also to top" ctl top --once --interval=0.3 "$work/job.trace"
check "a recording begins in the middle" ctl start "$work/job.trace"
check "it says where" says "is recording, in .*job.trace/$host\$"
quiet=$(cat "$work/job/at.2")
check "and who is not there yet" says \
    "recorded: [0-2] of 3 processes; from their next call of NCCL or CUDA on: .*rank 2 (process $quiet)"
two() { "$ccltap" status "$file" | grep -q "recorded: 2 of 3 processes; from .* on: rank 2 (process $quiet)\$"; }
check "status says when all others are" within 60 two
check "it is recorded since now, not since it is counted" [ "$(since)" != "$counted" ]
check "the ranks have LTTng's libraries now" [ "$(of_lttng job 0)" -gt 0 ]
same "the quiet one has not" 0 "$(of_lttng job 2)"
check "it is stopped" ctl stop "$file"
check "status promises nothing meanwhile" ctl status "$file"
check "of who is not there" says "recorded: 2 of 3 processes; not yet: rank 2 (process $quiet)\$"
check "it goes on" ctl start "$file"
check "and does again" says "recorded: 2 of 3 processes; from .* on: rank 2 (process $quiet)\$"
touch "$work/job/speak"
three() { "$ccltap" status "$file" | grep -q 'recorded: 3 of 3 processes$'; }
check "the quiet one is recorded when it calls" within 60 three
before=$(calls)
check "what is recorded is read meanwhile" [ "$before" -gt 0 ]
more() { [ "$(calls)" -gt "$before" ]; }
check "and grows" within 20 more
check "it is stopped" ctl stop "$file"
before=$(calls)
sleep 0.5
same "and stands still" "$before" "$(calls)"
check "it goes on" ctl start "$work/job.trace"
check "with all at once" says 'recorded: 3 of 3 processes$'
check "and grows again" within 20 more
check "it ends, and the ranks go on" ctl end "$file"
check "with the trace" says "the trace is in .*job.trace/$host\$"
same "it is counted since its begin" "$counted" "$(since)"
check "which has the calls and what was before" expect "$work/job.trace" 2
run 1 "counted alone nothing can be stopped" "$ccltap" stop "$file"
said "it says what can be done" 'counts and records nothing: "ccltap start" records'
check "another recording begins" ctl start "$file"
check "with all that were attached" says 'recorded: 3 of 3 processes$'
sleep 0.5
finish job
check "the closing line names the metrics" grep -q "metrics of 3 processes were in" "$work/err"
check "and the trace" grep -q "recorded is in .*job.trace/$host" "$work/err"
check "which is whole" expect "$work/job.trace" 2
check "the one before is kept" expect "$work/job.trace.old" 2

# A program that closes what it does not know, and forks, when LTTng was loaded late.
mkdir "$work/closes"
"$ccltap" record --layers none --metrics="$file" -o "$work/closes.trace" -- \
    "$programs/closes" "$work/closes" >"$work/out" 2>"$work/err" &
recorder=$!
check "a program calls" within 60 test -s "$work/closes/at"
check "it is recorded" ctl start "$file"
one() { "$ccltap" status "$file" | grep -q 'recorded: 1 of 1 processes$'; }
check "with its next call" within 60 one
touch "$work/closes/close"
check "it closes all descriptors, and while a close waits" within 60 test -s "$work/closes/closed"
check "LTTng is asked and answers: the recording is stopped" ctl stop "$file"
check "and goes on" ctl start "$file"
touch "$work/closes/end"
status=0
wait "$recorder" || status=$?
same "it ends well" 0 "$status"
same "its descriptors are its own" "damaged: 0" "$(cat "$work/out")"
"$ccltap" timeline --format jsonl "$work/closes.trace" >"$work/jsonl"
check "its calls were recorded, and its child's" /usr/bin/python3 -c '
import collections, json, sys
spans = [json.loads(line) for line in open(sys.argv[1]) if "\"ncclGetVersion\"" in line]
calls = collections.Counter(span["pid"] for span in spans if span["type"] == "span")
assert len(calls) == 2 and 100 in calls.values(), calls' "$work/jsonl"

# Each rank has a recorder; the first, which made the supervisor, leaves with its rank.
for rank in 0 1; do
    mkdir "$work/left$rank"
    RANK=$rank "$ccltap" record --layers none --metrics="$file" -o "$work/left.trace" -- \
        "$programs/closes" "$work/left$rank" >"$work/out" 2>"$work/err" &
    first=$recorder
    recorder=$!
    check "rank $rank calls" within 60 test -s "$work/left$rank/at"
done
touch "$work/left0/close" "$work/left0/end"
wait "$first"
check "the other one is recorded" ctl start "$file"
check "it ends" ctl end "$file"
check "and is recorded again" ctl start "$file"
touch "$work/left1/close" "$work/left1/end"
wait "$recorder"
check "the recording before is kept" test -d "$work/left.trace.old/$host"
check "and this one is no part of it" test ! -e "$work/left.trace/$host/part-2"

# The library of events cannot be loaded.
mkdir "$work/libdir"
ln -s "$(cd "$top_builddir/.libs" && pwd)"/* "$work/libdir"
rm "$work/libdir/libccltap-events.so"
echo nothing >"$work/libdir/libccltap-events.so"
rm "$work/libdir/libccltap.so"
cp "$top_builddir/.libs/libccltap.so" "$work/libdir"
CCLTAP_LIBDIR=$work/libdir begin broken
mkdir -p "$work/broken.trace/$host"
echo mine >"$work/broken.trace/$host/mine"
run 1 "a folder of something else is refused" "$ccltap" start "$file"
said "with the reason, and what mends it" \
    'broken.trace.* holds "mine", which is not of a recording: free that place or mend it, "ccltap start" records nowhere else$'
check "and the ranks are counted as before" sh -c "'$ccltap' status '$file' | grep -q ': counting since'"
same "what is there stays" mine "$(cat "$work/broken.trace/$host/mine")"
rm -r "$work/broken.trace"
check "start is answered" ctl start "$file"
unable() { "$ccltap" status "$file" | grep -q 'recorded: 0 of 3 processes; .*rank 2 .*; 2 cannot be: process [0-9]*: .*libccltap-events.so: '; }
check "and status says who cannot be recorded, and why" within 60 unable
check "the ranks are still counted" within 20 grep -q 'function="ncclAllReduce"' "$file"
check "it ends" ctl end "$file"
check "and says who was not recorded" says \
    'the trace is in .*; 2 processes could not be recorded: process [0-9]*: .*libccltap-events.so: '
finish broken
check "as the closing line does" grep -q 'recorded is in .*; 2 processes could not be recorded' "$work/err"
tap_done
