#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording that goes on, steered and read from elsewhere; one with a bound; a flight
# recorder.
# shellcheck disable=SC2016,SC2034,SC2086 # programs for other shells, lists of words
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

library=$top_builddir/tests/host/programs/slow.so

# start OPTION...: a program that makes a call when it is told to, and is recorded.
start()
{
    rm -f "$work/orders" "$work/answers"
    mkfifo "$work/orders" "$work/answers"
    "$ccltap" record --overwrite -o "$work/trace" "$@" -- \
        "$programs/obey" "$library" <"$work/orders" >"$work/answers" 2>"$work/err" &
    pid=$!
    exec 3>"$work/orders" 4<"$work/answers"
    read -r ready <&4
}

# obey ORDER: and waits until it is done.
obey()
{
    echo "$1" >&3
    read -r answer <&4
}

finish()
{
    exec 3>&-
    status=0
    wait "$pid" || status=$?
    exec 4<&-
}

# calls: how many calls the views see now.
calls()
{
    "$ccltap" timeline --format jsonl "$work/trace" >"$work/jsonl" || return
    grep -c '"type":"span"' "$work/jsonl" || true
}

ctl()
{
    "$ccltap" "$@" >"$work/said" 2>&1 || { cat "$work/said" && false; }
}

check "nothing goes on" sh -c '"$0" status | grep -q "no recording"' "$ccltap"
run 1 "nothing can be ended" "$ccltap" end
said "it is told" "no recording is running"

start --session mine-$$
obey 5
check "a recording is listed" sh -c '"$0" status mine-$1 | grep -q "recording since"' \
    "$ccltap" $$
same "what goes on is read, without ending it" 5 "$(calls)"
obey 3
same "and again" 8 "$(calls)"
i=0
while [ $i -lt 5 ]; do
    obey 10
    calls >"$work/count"
    i=$((i + 1))
done
same "however often, nothing is lost" 58 "$(cat "$work/count")"
same "and no heap of chunks is left" 1 "$(find "$work/trace/$host/archives" -name '2*' | wc -l)"
check "what LTTng wrote in several reads as one" "$ccltap" check "$work/trace"
check "it is found by its directory" ctl stop "$work/trace"
obey 2
same "stopped it records nothing" 58 "$(calls)"
check "it goes on" ctl start mine-$$
obey 4
same "what comes then is recorded" 62 "$(calls)"
run 1 "it is no flight recorder" "$ccltap" snapshot mine-$$
said "it is told how to make one" "flight-recorder"
run 2 "one recording at a time" "$ccltap" stop one two
run 1 "one that is not there" "$ccltap" stop nosuch
said "it is told" 'no recording "nosuch"'
obey 1
check "it is ended before its program" ctl end
check "its program is not said to be recorded" sh -c '
    "$0" status | tail -n 1 | grep -q "process [0-9]*: is running and no longer recorded$"' \
    "$ccltap"
obey 7
finish
same "the program ends as ever" 0 "$status"
check "all is there that was recorded" grep -q "nccl 126" "$work/err"
same "and read as before" 63 "$(calls)"

start --paused
obey 2
run 1 "nothing is there before it is started" "$ccltap" timeline "$work/trace"
said "it is told" "nothing is recorded"
ctl start
obey 3
finish
same "a recording that was started late has what came then" 3 "$(calls)"
check "it is complete" sh -c '! grep -q "could not be recorded" "$0"' "$work/err"

start --layers=nvtx
obey 3
finish
same "a layer that is not asked for is not recorded" 0 "$(calls)"

start --max-size=8M
i=0
while [ $i -lt 12 ]; do
    obey 40000
    sleep 0.4
    i=$((i + 1))
done
finish
size=$(du -sk "$work/trace" | cut -f 1)
check "what is kept is bounded (it is $size KiB of some 48000)" test "$size" -lt 20000
check "what is left is right, and says where it begins" /usr/bin/python3 -c '
import json, sys, subprocess
lines = subprocess.run([sys.argv[1], "timeline", "--format", "jsonl", sys.argv[2]],
                       capture_output=True, text=True, check=True).stdout.splitlines()
records = [json.loads(line) for line in lines]
spans = [r for r in records if r["type"] == "span"]
numbers = sorted(s["call_id"] for s in spans)
assert numbers[-1] == 480000, numbers[-1]
assert numbers == list(range(numbers[0], 480001)), "holes"
assert numbers[0] > 1, "nothing was removed"
assert all(s["fields"].get("version") == 2 for s in spans if s["state"] == "complete")
assert records[-1]["loss"]["removed_chunks"] > 0, records[-1]
' "$ccltap" "$work/trace"

before=$(df --output=used /dev/shm | tail -n 1)
start --flight-recorder=2M --min-interval=1000
obey 20
run 1 "a flight recorder has nothing to show at first" "$ccltap" timeline "$work/trace"
check "a snapshot is taken when it is asked for" ctl snapshot
same "and read while it goes on" 20 "$(calls)"
obey 5
kill -USR1 "$("$ccltap" status | sed -n 's/.*supervisor: process \([0-9]*\);.*/\1/p')"
tries=0
until "$ccltap" status | grep -q "snapshots: 2, .*signal" || [ $tries -eq 50 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
same "a signal to the supervisor takes one" 25 "$(calls)"
# LTTng has no names for its memory there.
memory()
{
    df --output=used /dev/shm | tail -n 1
}
used=$(memory)
obey 200000
same "memory is what it was" "$used" "$(memory)"
check "which is as much as was asked for" test "$used" -le $((2048 + before))
echo die >&3
finish
same "a program that dies" 139 "$status"
check "leaves a snapshot" grep -q "3 snapshots" "$work/err"
check "which says why" grep -q "^snapshot .*died by signal 11" \
    "$work/trace/$host/ccltap-recording"
check "with what it did last" sh -c '
    "$0" timeline --format jsonl "$1" | grep -q "\"call_id\":200025,"' "$ccltap" "$work/trace"

# What is set up once must be there however much has come since.
before=$(memory)
"$ccltap" record --overwrite -o "$work/trace" --flight-recorder=16M -- \
    "$programs/storm" 200 6 >"$work/storm" 2>"$work/err" &
pid=$!
check "a program makes 200 communicators" within 60 grep -q ready "$work/storm"
sleep 2
used=$(($(memory) - before))
check "at full speed memory is bounded ($used KiB of 16384)" test $used -le 16384
check "then a snapshot is taken" ctl snapshot
wait $pid
check "and the state in it is complete (after $(tail -n 1 "$work/storm") calls)" sh -c '
    babeltrace2 "$1"/snapshot-* | sed -n "s/.* tap:\(statedump_[a-z]*\): .*/\1/p" | sort | uniq -c |
        grep -c -e "200 statedump_comm" -e "1 statedump_end" -e "1 statedump_process" | grep -qx 3 &&
    babeltrace2 "$1"/snapshot-* | grep "tap:statedump_end" | grep -q "comms = 200"' - \
    "$work/trace/$host"

run 2 "too small a bound" "$ccltap" record --max-size=1M true
run 2 "a layer that is none" "$ccltap" record --layers=gin true
said "it is told which there are" "nccl, nvtx"
run 2 "ranks that are none" "$ccltap" record --ranks=1,x true
run 2 "a session name that is none" "$ccltap" record --session=a/b true
run 2 "seconds that are none" "$ccltap" record --stuck-after=soon true
run 2 "a stuck call without a flight recorder" "$ccltap" record --stuck-after=5 true
said "it is told what writes then" "give --flight-recorder"
run 2 "nor the interval of what it writes" "$ccltap" record --min-interval=5 true
said "it is told that, too" "--min-interval says when a flight recorder is written"
run 1 "too small a flight recorder" "$ccltap" record --overwrite -o "$work/trace" \
    --flight-recorder=64K true
said "it is told" "flight recorder .* needs"

# An ordinary user's daemon is in a folder of this host, and goes again.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir "$work/home" "$work/user"
    chmod 755 "$work" && chown 65534 "$work/home" "$work/user"
    # shellcheck disable=SC2016
    run 10 "an ordinary user's recording" env -u LTTNG_HOME HOME="$work/home" \
        setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$ccltap" record -o "$work/user/trace" -- \
        "$programs/rank" "$library" "$work/user/count" 10 100
    said "is made" "nccl 20"
    check "outside of a home that hosts may share" test ! -e "$work/home/.lttng"
    check "by a daemon that is gone" sh -c '
        tries=0
        while pgrep -u 65534 lttng-sessiond >/dev/null && [ $tries -lt 100 ]; do
            tries=$((tries + 1)); sleep 0.1
        done
        ! pgrep -u 65534 -r S,R,D lttng-sessiond'
    rm -rf /tmp/ccltap-65534
else
    skip "needs root, to be somebody else" "an ordinary user's recording"
fi
tap_done
