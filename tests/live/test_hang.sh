#!/bin/sh
# SPDX-License-Identifier: MIT
# A job hangs: where each rank stands is in the trace, also when nothing is left of how it
# came there, or when recording began after that; and a flight recorder is asked to keep it.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# session_of NAME MORE...: a session with one channel for all.
session_of()
{
    name=$1
    shift
    quietly create "$name" --output "$work/$name" "$@"
    set -- --subbuf-size 1M --num-subbuf 4
    case $name in
    *flight) set -- --subbuf-size 16k --num-subbuf 4 ;;
    esac
    quietly enable-channel -u -s "$name" --buffers-uid "$@" all
    quietly add-context -u -s "$name" -c all -t vpid -t vtid
    quietly enable-event -u -s "$name" -c all 'tap:*,nccl:*'
}

start_ranks()
{
    rm -f "$work"/at.*
    (
        eval "$("$ccltap" env)"
        exec "$programs/hang" "$work" "$programs/stuck.so" "$@"
    ) >"$work/pids" &
    pid=$!
}

arrived()
{
    [ "$(find "$work" -name 'at.*' | wc -l)" -eq 5 ]
}

pid_of() # RANK
{
    sed -n "s/^$1 //p" "$work/pids"
}

# They say that they have come before they wait, all but the one that ends.
wait_all()
{
    for rank in 0 1 2 3; do
        grep -q '^State:.S' "/proc/$(pid_of $rank)/status" || return
    done
}

stop_ranks()
{
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# stands RANK PATTERN: what the timeline says of the rank at the end.
stands()
{
    sed '1,/^At the end of the trace/d' "$work/text" | grep "^  rank $1 " >"$work/stands" || true
    cat "$work/stands"
    [ "$(wc -l <"$work/stands")" -eq 1 ] && grep -q "^  rank $1 pid $(pid_of "$1") on [^ ]*: $2" "$work/stands"
}

prefix=ccltap-test-$$
# shellcheck disable=SC2317 # called by the trap
destroy_all()
{
    for kind in paused late flight; do
        lttng --no-sessiond destroy "$prefix-$kind" >/dev/null 2>&1 || true
    done
}
trap 'stop_ranks
    destroy_all; rm -rf "$work"' EXIT

# Made and not started: as a recorder that is paused.
session_of "$prefix-paused"
start_ranks
check "the ranks come to where they hang while a session is paused" within 60 arrived
check "and wait there" within 60 wait_all
quietly start "$prefix-paused"
heard
quietly stop "$prefix-paused"
stop_ranks
quietly destroy "$prefix-paused"
check "the timeline of what was recorded then reads" \
    "$ccltap" timeline --overwrite -o "$work/text" "$work/$prefix-paused"
same "each that lives has said what it is, and all its threads" 4 \
    "$(babeltrace2 "$work/$prefix-paused" 2>/dev/null |
        grep -c ' tap:statedump_end: .*all_threads = 1')"
key='0x[0-9a-f]*\.*'
check "a call that began while nobody recorded is known" \
    stands 0 "in ncclCommSplit on $key (rank 0/3), thread $(pid_of 0), begun before the trace"
check "and a rank that waits outside of any" stands 2 "idle; last seen at"

# From the beginning, and by a recorder that keeps little.
session_of "$prefix-late"
session_of "$prefix-flight" --snapshot
quietly start "$prefix-late"
quietly start "$prefix-flight"
start_ranks often
check "the ranks come to where they hang while two sessions record" within 60 arrived

# keeps_house PID: it has one thread that looks, which takes no signal.
keeps_house()
{
    grep -l '^ccltap$' /proc/"$1"/task/*/comm >"$work/threads"
    cat "$work/threads"
    [ "$(wc -l <"$work/threads")" -eq 1 ] &&
        grep -q 'SigBlk:.*fffffffe7ffbfeff' "$(dirname "$(cat "$work/threads")")/status"
}
for rank in 0 2; do
    sentence="rank $rank, made by a fork, has a thread of its own that looks"
    if [ -n "${CCLTAP_EMULATED-}" ]; then
        skip "the signals that a thread blocks are the emulator's" "$sentence"
        continue
    fi
    check "$sentence" keeps_house "$(pid_of $rank)"
done

# kept: a snapshot has the state and nothing of how the call of rank 3 began.
kept()
{
    rm -rf "$work/$prefix-flight"
    quietly regenerate statedump -s "$prefix-flight"
    quietly snapshot record -s "$prefix-flight"
    babeltrace2 "$work/$prefix-flight" >"$work/events" 2>/dev/null || return 1
    grep -q 'statedump_thread: .*function = "ncclMemAlloc".* min_ns = [0-9]\{10,\}' \
        "$work/events" && ! grep -q 'ncclMemAlloc_entry' "$work/events"
}
check "a snapshot has only what is open, and for how long" within 60 kept
check "its timeline reads" "$ccltap" timeline --overwrite -o "$work/text" "$work/$prefix-flight"
check "it says where the rank stands" stands 3 \
    "in ncclMemAlloc, thread $(pid_of 3), begun before the trace, for at least [0-9.]* s; last seen at"
"$ccltap" timeline --format jsonl --overwrite -o "$work/jsonl" "$work/$prefix-flight"
check "as JSON too" grep \
    '"type":"open".*"rank":3.*"name":"ncclMemAlloc".*"begun_before":true,"begin_ns":null' "$work/jsonl"

kill -KILL "$(pid_of 1)"
quietly stop "$prefix-late"
stop_ranks
quietly destroy "$prefix-flight"
quietly destroy "$prefix-late"
rm -f "$work/text"
check "the timeline of all reads" "$ccltap" timeline --overwrite -o "$work/text" "$work/$prefix-late"
for rank in 0 1; do
    check "rank $rank is in the split" stands $rank \
        "in ncclCommSplit on $key (rank $rank/3), thread $(pid_of $rank), for at least [0-9.]* s; last seen at"
done
check "rank 2 is in none, and what it did last is known" stands 2 \
    "idle; last call ncclAllReduce, operation 1 of $key (rank 2/3), returned at .*; last seen at"
check "rank 3 is in a call that counts for nothing" stands 3 \
    "in ncclMemAlloc, thread $(pid_of 3), for at least [0-9.]* s; last seen at"
check "rank 4 has ended" stands 4 "idle; last call ncclCommAbort on $key (rank 0/1), returned at .*; began to exit at"
"$ccltap" report --full --overwrite -o "$work/report" "$work/$prefix-late"
check "the report counts them" grep "^3 calls never returned" "$work/report"

# asked COUNT VARIABLE...: the notes that a recorder gets.
asked()
{
    count=$1
    shift
    # shellcheck disable=SC2016 # for the other shell
    env "$@" /usr/bin/python3 "$top_srcdir/tests/live/programs/asked.py" "$work" "$count" \
        sh -c 'eval "$("$0" env)"; "$1" "$2" "$3" >/dev/null' \
        "$ccltap" "$programs/hang" "$work" "$programs/stuck.so" >"$work/asked" 2>&1
    cat "$work/asked"
}
expected='snapshot asynchronous error 6 on communicator 1
snapshot ncclCommAbort
snapshot ncclCommSplit has not returned for 2 s
snapshot ncclCommSplit has not returned for 2 s
snapshot ncclMemAlloc has not returned for 2 s'
quietly create "$prefix-late" --output "$work/asked-trace"
quietly enable-event -u -s "$prefix-late" 'tap:*,nccl:*'
quietly start "$prefix-late"
same "a flight recorder is asked once for each of an error, an abort and what is stuck" \
    "$expected" "$(asked 5 CCLTAP_FLIGHT=1 CCLTAP_STUCK_AFTER=2)"
same "another one is not" "" "$(asked 0 CCLTAP_FLIGHT=0 CCLTAP_STUCK_AFTER=2)"
quietly destroy "$prefix-late"
same "without a session each rank says that it reaches none" 5 \
    "$(asked 5 CCLTAP_PAUSED=0 | grep -c '^it reaches no session daemon: ')"
same "but for a recording that is paused" "" "$(asked 0 CCLTAP_PAUSED=1)"

session_of "$prefix-late"
quietly start "$prefix-late"
CCLTAP_RANKS=2,4-7
export CCLTAP_RANKS
start_ranks
check "ranks that are not recorded come to where they hang too" within 60 arrived
# shellcheck disable=SC2016 # for the other shell
check "they have nothing of LTTng in them" \
    sh -c '! grep -e ccltap-events -e "lttng-ust\.so" "/proc/$0/maps"' "$(pid_of 0)"
stop_ranks
CCLTAP_RANKS="2;4"
start_ranks
check "what is no list hinders nobody" within 60 arrived
stop_ranks
unset CCLTAP_RANKS
quietly destroy "$prefix-late"
"$ccltap" timeline --format jsonl --overwrite -o "$work/jsonl" "$work/$prefix-late"
same "of the first job two ranks were recorded, of the second all" "0 1 2 2 3 4 4" \
    "$(sed -n 's/^{"type":"process".*"rank":\([0-9]*\),.*"end":.*/\1/p' "$work/jsonl" | sort | xargs)"
same "each of which said that there was no list" 5 \
    "$(grep -c '"what":"recorded","detail":"CCLTAP_RANKS is no list such as 0,8-15"' "$work/jsonl")"

tap_done
