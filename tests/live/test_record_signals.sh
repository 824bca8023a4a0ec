#!/bin/sh
# SPDX-License-Identifier: MIT
# A signal reaches the program once, whoever sends it, and costs no trace.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# start COMMAND...: in the background as $pid, its output on descriptor 3; until ready.
start()
{
    rm -f "$work/fifo"
    mkfifo "$work/fifo"
    "$@" >"$work/fifo" 2>"$work/err" &
    pid=$!
    exec 3<"$work/fifo"
    read -r line <&3
}

# finish: sets $status and $counts.
finish()
{
    counts=$(grep counts <&3) || :
    status=0
    wait "$pid" || status=$?
    exec 3<&-
}

record()
{
    start "$ccltap" record --overwrite -o "$work/trace" -- "$programs/signals"
}

for name in TERM HUP USR2; do
    record
    kill -"$name" "$pid"
    read -r line <&3 || :
    # Signals are passed on in the order of their numbers or later: this one is last.
    kill -USR1 "$pid" || :
    finish
    case $counts in
    *"$name 1"*) ok 0 "SIG$name to record reaches the program once" ;;
    *) ok 1 "SIG$name to record reaches the program once, and not: $counts" ;;
    esac
    same "and the program ends as it likes" 5 "$status"
    check "with its trace" grep -q "in $work/trace" "$work/err"
done

start "$ccltap" record --overwrite -o "$work/trace" -- sh -c 'echo ready; exec sleep 1000'
kill -TERM "$pid"
finish
same "a program that is ended through record: the same signal is our end" 143 "$status"
check "with its trace" grep -q "in $work/trace" "$work/err"

# The group is the one that the program is in, and neither the test's nor make's.
setsid "$ccltap" record --overwrite -o "$work/trace" -- \
    sh -c 'trap "echo once" TERM; kill -TERM 0; :' >"$work/out" 2>"$work/err" || :
same "what a program sends to its own group reaches it once" once "$(cat "$work/out")"
check "and record outlives it" grep -q "in $work/trace" "$work/err"

status=0
"$programs/on_terminal" interrupt "$ccltap" record --overwrite -o "$work/trace" -- \
    "$programs/signals" >"$work/out" || status=$?
check "an interrupt from the terminal reaches the program once" \
    grep -q "INT 1 TERM 0" "$work/out"
same "and record ends as it does" 5 "$status"
check "with its trace" grep -q "in $work/trace" "$work/out"

status=0
"$programs/on_terminal" stop "$ccltap" record --overwrite -o "$work/trace" -- \
    "$programs/signals" >"$work/out" || status=$?
check "a stop from the terminal stops the whole job" grep -q "job stopped" "$work/out"
same "which ends as it likes once it goes on" 5 "$status"

# Whoever kills record itself does not kill the program.
record
kill -KILL "$pid"
wait "$pid" 2>/dev/null || :
kill -USR1 "${line#ready }"
check "a program whose record was killed goes on" grep -q "counts: INT 0 TERM 0" <&3
exec 3<&-
# The supervisor completes it, once the program has ended.
has_ended()
{
    tries=0
    while lttng list | grep -q "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || return 1
        sleep 0.1
    done
}
check "and its recording is completed" has_ended "$(session "$work/trace")"
tap_done
