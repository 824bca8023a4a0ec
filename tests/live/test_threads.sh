#!/bin/sh
# SPDX-License-Identifier: MIT
# The threads that a NCCL makes, each with its role, its creator and its communicator,
# however it makes them; and that the program's own threads are as they would be without us.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

timeline()
{
    "$ccltap" timeline --format jsonl --overwrite -o "$work/jsonl" "$1"
}

# try NAME LIBRARY [VARIABLE=VALUE]...
try()
{
    try_name=$1
    try_library=$2
    shift 2
    log=$work/log.$try_library
    rm -f "$log"
    run 0 "$try_name: records" "$ccltap" record --overwrite -o "$work/trace" -- env "$@" THREADS_LOG="$log" \
        LD_LIBRARY_PATH="$programs/$try_library" "$programs/threads"
    same "$try_name: the program finds its threads as they should be" \
        "1 rounds, all is well" "$(cat "$work/out")"
    check "$try_name: reads" timeline "$work/trace"
    check "$try_name: each thread of NCCL's, and no other, is what it is" \
        /usr/bin/python3 "$top_srcdir/tests/live/expect/threads.py" "$log" "$work/jsonl"
}

try "pthread_create()" threads-c
try "std::thread" threads-std
try "as NCCL 2.18" threads-c THREADS_OLD=yes
try "as RCCL" threads-r

# shellcheck disable=SC2016
run 0 "a trace of threads is a table" "$ccltap" report --net "$work/trace"
check "of each role" grep -Eq '^ .* progress +[^ ]+ +1 +1 +[1-9]' "$work/out"
run 0 "the timeline reads" "$ccltap" timeline "$work/trace"
check "and names each" grep -q "^NCCL's service thread: .*, thread [0-9]* on " "$work/out"

# ---- Recording that begins when they are there already ----

session=ccltap-test-$$
log=$work/log.late
trap 'lttng --no-sessiond destroy "$session" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
# shellcheck disable=SC2016
sh -c 'eval "$("$0" env)"; LD_LIBRARY_PATH=$1 THREADS_GATE=$2 THREADS_LOG=$3 exec "$4" 1' \
    "$ccltap" "$programs/threads-c" "$work/gate" "$log" "$programs/threads" >"$work/out" 2>&1 &
job=$!
check "a program makes its threads" within 60 test -e "$work/gate.here"
start_session "$session" "$work/late" nccl 65536 16
touch "$work/gate"
status=0
wait "$job" || status=$?
quietly destroy "$session"
same "it ends well" 0 "$status"
check "its trace reads" timeline "$work/late"
check "the threads that were there are known" \
    /usr/bin/python3 "$top_srcdir/tests/live/expect/threads.py" --late "$log" "$work/jsonl"

# ---- Without the way in ----

without pthread_create
run 0 "without pthread_create() it records" "$ccltap" record --overwrite -o "$work/trace" -- \
    env THREADS_LOG="$work/log.none" LD_LIBRARY_PATH="$programs/threads-c" "$programs/threads"
check "it reads" timeline "$work/trace"
same "no thread is known" 0 "$(grep -c '"nccl_thread"' "$work/jsonl" || true)"

tap_done
