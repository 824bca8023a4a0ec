#!/bin/sh
# SPDX-License-Identifier: MIT
# The bundled program: every call that it makes is counted once, and one that never
# returns, because a rank is killed in it or hangs, is shown.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

allreduce=$top_builddir/examples/allreduce

# Wherever this runs: the network is TCP, but for where it is softverbs.
NCCL_IB_DISABLE=1
export NCCL_IB_DISABLE

for ranks in 2 4; do
    # The oracle stands behind us in the same run: polls are as many as they are.
    mkdir "$work/truth-$ranks"
    run 0 "$ranks ranks are recorded" env LD_PRELOAD="$programs/count.so" \
        COUNT_FILE="$work/counts-$ranks" MININCCL_TRUTH="$work/truth-$ranks" \
        "$ccltap" record -o "$work/$ranks" -- "$allreduce" -n $ranks -i 3 -c 10000
    said "nothing was discarded" "$ranks processes.* 0 discarded"
    same "$ranks ranks have the right sums" "$ranks" "$(grep -c 'sums right' "$work/out")"
    check "its report reads" "$ccltap" report --json -o "$work/report-$ranks" "$work/$ranks"
    check "its report has exactly the calls that were made, and the messages" /usr/bin/python3 \
        "$top_srcdir/tests/live/expect/bundled.py" "$work/counts-$ranks" "$work/report-$ranks" $ranks \
        "$work/truth-$ranks"
    check "a trace of its calls is made" "$ccltap" timeline --format ctf --links \
        -o "$work/calls-$ranks" "$work/$ranks"
    "$ccltap" timeline --format jsonl -o "$work/jsonl-$ranks" "$work/$ranks"
    check "which tells what jsonl tells" /usr/bin/python3 "$top_srcdir/tests/lib/derived.py" \
        "$work/calls-$ranks" "$work/jsonl-$ranks"
done

# read_of TRACE: how many events hold what NCCL keeps to itself.
read_of()
{
    babeltrace2 "$1" | grep -cE ' (cuda:nccl_args|net:handshake|net:service_[a-z]*):' || true
}
run 0 "2 ranks are recorded without decoding" env CCLTAP_DECODE=0 \
    "$ccltap" record -o "$work/opaque" -- "$allreduce" -n 2 -i 3 -c 10000
same "they have the right sums" 2 "$(grep -c 'sums right' "$work/out")"
same "nothing that NCCL keeps to itself was read" 0 "$(read_of "$work/opaque")"
check "with decoding it is" test "$(read_of "$work/2")" -gt 0

# The same over softverbs: its calls are no others, and each message is there.
mkdir "$work/truth"
run 0 "2 ranks over verbs are recorded" env LD_PRELOAD="$programs/count.so" \
    COUNT_FILE="$work/counts-verbs" \
    "$ccltap" record -o "$work/verbs" -- env NCCL_IB_DISABLE=0 MININCCL_TRUTH="$work/truth" \
    LD_LIBRARY_PATH="$top_builddir/tests/doubles/verbs" SOFTVERBS_FABRIC="bundled.$$" \
    "$allreduce" -n 2 -i 3 -c 10000
said "nothing was discarded over verbs" "2 processes.* 0 discarded"
check "the report over verbs reads" "$ccltap" report --json -o "$work/report-verbs" \
    "$work/verbs"
check "it has exactly the calls that were made, and what was posted" /usr/bin/python3 \
    "$top_srcdir/tests/live/expect/bundled.py" "$work/counts-verbs" "$work/report-verbs" 2 \
    "$work/truth"
check "its timeline has the messages that NCCL sent" sh -c \
    "'$ccltap' timeline '$work/verbs' | grep -q ' net_send net_id=1 request=1 requests=1 '"
check "its report has them" sh -c \
    "'$ccltap' report --net '$work/verbs' | grep -A 2 '^NCCL messages' | grep -q ' net 1, rank '"

# Trace Compass takes it for one of LTTng's, on the same clock.
for entry in 'domain = "ust"' 'tracer_name = "lttng-ust"' "hostname = \"$(uname -n)\"" \
    'trace_name = ' 'name = monotonic' 'freq = 1000000000' \
    "uuid = \"$(cat /proc/sys/kernel/random/boot_id)\""; do
    check "it has $entry" grep -qF "$entry" "$work"/calls-2/*/metadata
done

# The main thread of $1 is known to wait when it was seen asleep many times in a row;
# between the file that tells its peers where it is and that wait it only computes.
wait_until_blocked()
{
    seen=0
    tries=0
    while [ "$seen" -lt 30 ] && [ "$tries" -lt 1000 ]; do
        if [ -s "$work/id" ] && grep -q '^State:.S' "/proc/$1/task/$1/status" 2>/dev/null; then
            seen=$((seen + 1))
        else
            seen=0
        fi
        tries=$((tries + 1))
        sleep 0.01
    done
    [ "$seen" -eq 30 ]
}

# Rank 0 of two, whose peer never comes; ended with signal $2, sent to the program or to
# the recorder as $3 says.
open_call() # NAME SIGNAL program|recorder STATUS
{
    rm -f "$work/id"
    RANK=0 WORLD_SIZE=2 "$ccltap" record -o "$work/$1" -- "$allreduce" --id-file "$work/id" \
        >"$work/out" 2>"$work/err" &
    recorder=$!
    program=
    tries=0
    while [ -z "$program" ] && [ "$tries" -lt 1000 ]; do
        program=$(cat "/proc/$recorder/task/$recorder/children" 2>/dev/null) || true
        # Not the recorder's session daemon, nor what it was before exec.
        program=$(for pid in $program; do
            # The first word of its command line, or behind an emulator's.
            tr '\0' '\n' <"/proc/$pid/cmdline" | head -n 2 | grep -qxF "$allreduce" && echo "$pid"
        done) || true
        tries=$((tries + 1))
        sleep 0.01
    done
    check "$1: rank 0 waits for its peer" wait_until_blocked "${program:-none}"
    case $3 in
    program) kill "-$2" "$program" ;;
    recorder) kill "-$2" "$recorder" ;;
    esac
    status=0
    wait "$recorder" || status=$?
    same "$1: the recorder ends as the program did" "$4" "$status"
    check "$1: the trace reads" sh -c "'$ccltap' timeline '$work/$1' >'$work/timeline'"
    check "$1: the timeline shows the call that never returned, with its arguments" \
        grep -q 'ncclCommInitRank nranks=2 commId_hash=0x[0-9a-f]* rank=0 .*never returned' \
        "$work/timeline"
    check "$1: it is the only one" test "$(sed -n '/^[Nn]ot returned/,$!p' "$work/timeline" |
        grep -c 'never returned')" -eq 1
    "$ccltap" timeline --format jsonl "$work/$1" >"$work/jsonl"
    check "$1: jsonl leaves its end open" \
        grep -q '"name":"ncclCommInitRank".*"end_ns":null,"state":"open"' "$work/jsonl"
}
open_call killed KILL program 137
open_call hung TERM recorder 143

tap_done
