#!/bin/sh
# SPDX-License-Identifier: MIT
# record --metrics counts exactly what programs call, with a trace and without one, and a
# process that is only counted has nothing of LTTng, no thread and no descriptor more.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

allreduce=$top_builddir/examples/allreduce
NCCL_IB_DISABLE=1
export NCCL_IB_DISABLE
mkdir "$work/out.d"
file=$work/out.d/job.prom

metrics_py()
{
    /usr/bin/python3 "$top_srcdir/tests/live/expect/metrics.py" "$@"
}

# at FOLDER: the number of the process that waits there.
at()
{
    within 60 test -s "$1/at" || return 1
    cat "$1/at"
}

# of PID: its threads, descriptors and what it has mapped of LTTng's and of ours.
of()
{
    echo "threads $(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)"
    echo "descriptors $(find "/proc/$1/fd" -mindepth 1 | wc -l)"
    echo "LTTng's libraries $(grep -c lttng "/proc/$1/maps")"
}

# Metrics alone.
mkdir "$work/bare" "$work/alone"
"$programs/counts" "$work/bare" &
bare=$!
trap 'touch "$work/bare/go" "$work/alone/go" "$work/env/go" "$work/both/go" \
        "$work/spoils/spoil" "$work/spoils/go" 2>/dev/null || true
    rm -rf "$work"' EXIT
check "the program waits, bare" at "$work/bare"
of "$bare" >"$work/bare.of"
touch "$work/bare/go"
status=0
wait "$bare" || status=$?
same "and ends" 0 "$status"

(umask 077 && exec "$ccltap" record --layers none --metrics="$file" -- "$programs/counts" \
    "$work/alone") \
    2>"$work/err" &
recorder=$!
check "the program waits, counted alone" at "$work/alone"
counted=$(at "$work/alone")
same "it has no thread, descriptor or library more" "$(cat "$work/bare.of")" "$(of "$counted")"
same "its counters are one mapping" 1 "$(grep -c memfd:ccltap-metrics "/proc/$counted/maps")"
check "the metrics are what it did" within 20 metrics_py "$file" "$work/alone/truth" 1
before=$(stat -c %i "$file")
renewed() # BEFORE
{
    [ "$(stat -c %i "$file")" != "$1" ]
}
check "the file is another one each time, by a rename" within 20 renewed "$before"
same "nothing is beside it" job.prom "$(ls "$work/out.d")"
same "others may read it" 644 "$(stat -c %a "$file")"
check "status tells of it" sh -c "'$ccltap' status | grep -q 'metrics: 2 processes, in .*job.prom'"
check "a recording that records nothing cannot be stopped" sh -c \
    "! '$ccltap' stop '$file' 2>'$work/stop' && grep -q 'counts and records nothing' '$work/stop'"
if command -v promtool >/dev/null; then
    cp "$file" "$work/copy"
    check "promtool has nothing to say" sh -c "said=\$(promtool check metrics <'$work/copy' 2>&1) &&
        test -z \"\$said\""
else
    skip "promtool is not installed" "promtool has nothing to say"
fi

# Another shell's programs are counted by the same supervisor.
mkdir "$work/env"
(
    eval "$("$ccltap" env --metrics="$file")"
    exec "$programs/counts" "$work/env"
) &
other=$!
check "a program of another shell waits" at "$work/env"
same "it has no more than the bare one either" "$(cat "$work/bare.of")" "$(of "$other")"
cat "$work/alone/truth" "$work/env/truth" >"$work/both.truth"
check "the metrics are what both did" within 20 metrics_py "$file" "$work/both.truth" 2
processes() # NUMBER
{
    [ "$(sed -n 's/^ccltap_processes{[^}]*} //p' "$file")" = "$1" ]
}
check "two processes run" within 20 processes 2
kill -9 "$other"
wait "$other" 2>/dev/null || true
check "one that is killed does not run any more" within 20 processes 1
check "and its last values are there" metrics_py "$file" "$work/both.truth" 2
touch "$work/alone/go"
status=0
wait "$recorder" || status=$?
same "the program ends well" 0 "$status"
said "the closing line tells how many were counted" "metrics of 4 processes were in .*job.prom"
check "the file is gone with them" test ! -e "$file"
check "and nothing was recorded" test ! -e ccltap-trace

# With a trace.
mkdir "$work/both"
"$ccltap" record -o "$work/trace" --metrics="$file" -- "$programs/counts" "$work/both" \
    >"$work/out" 2>"$work/err" &
recorder=$!
check "the program waits, recorded and counted" at "$work/both"
check "the metrics are what it did, recorded" within 20 metrics_py "$file" "$work/both/truth" 1
touch "$work/both/go"
status=0
wait "$recorder" || status=$?
same "it ends well, too" 0 "$status"
"$ccltap" report --json -o "$work/report" "$work/trace"
check "and the trace has the same calls" /usr/bin/python3 -c '
import json, sys
calls = sum(call["calls"] for process in json.load(open(sys.argv[1]))["processes"]
            for call in process["calls"] if call["name"] == "ncclAllReduce")
truth = dict(line.split()[:2] for line in open(sys.argv[2]))
assert calls == int(truth["ncclAllReduce"]), (calls, truth)' "$work/report" "$work/both/truth"

# A shell in which programs are only counted.
run 0 "a program is recorded where others are only counted" env CCLTAP_METRICS=alone "$ccltap" \
    record -o "$work/again" -- "$programs/fork_inside"
"$ccltap" report --json -o "$work/report.again" "$work/again"
check "its calls are in the trace" grep -q ncclAllReduce "$work/report.again"
check "and env records again there" sh -c \
    "CCLTAP_METRICS=alone '$ccltap' env | grep -q '^export .* CCLTAP_METRICS=0\$'"

# The bundled program, while nobody records: the session is there and is not started.
run 0 "the bundled program is counted in a paused recording" env LD_PRELOAD="$programs/count.so" \
    COUNT_FILE="$work/counts" "$ccltap" record --paused -o "$work/paused" --metrics="$file" -- \
    sh -c "'$allreduce' -n 4 -i 3 -c 10000 && sleep 6 && cp '$file' '$work/copy'"
check "the metrics are what its oracle counted" metrics_py "$work/copy" "$work/counts" 40000

# A call that does not return.
RANK=0 WORLD_SIZE=2 "$ccltap" record --layers none --metrics="$file" -- "$allreduce" \
    --id-file "$work/id" >/dev/null 2>&1 &
recorder=$!
is_open()
{
    grep -q '^ccltap_nccl_open_call_seconds{.*rank="0",function="ncclCommInitRank"} [1-9]' "$file"
}
check "a call that does not return is seen open" within 30 is_open
kill "$recorder"
wait "$recorder" 2>/dev/null || true

# The child of a fork inside a call returns from it as the parent does.
run 0 "a library that forks inside a call is unharmed" "$ccltap" record --layers none \
    --metrics="$file" -- "$programs/fork_inside"
same "parent and child" "ncclAllReduce: 0" "$(cat "$work/out")"

# A program may write over its own counters: the supervisor goes on, with what it read last.
mkdir "$work/spoils"
"$ccltap" record --layers none --metrics="$file" -- "$programs/spoils" "$work/spoils" \
    2>"$work/err" &
recorder=$!
calls() # NUMBER
{
    [ "$(sed -n 's/^ccltap_nccl_calls_total{.*function="ncclAllReduce"} //p' "$file")" = "$1" ]
}
check "a program is counted" within 20 calls 3
touch "$work/spoils/spoil"
check "it spoils its counters" within 20 test -e "$work/spoils/spoilt"
for _ in first second; do
    before=$(stat -c %i "$file")
    check "the file is written after that" within 20 renewed "$before"
done
check "with what was read last" calls 3
touch "$work/spoils/go"
status=0
wait "$recorder" || status=$?
same "and the program ends well" 0 "$status"
said "the supervisor, too" "metrics of 1 process were in"

# A file of the counters' size would end a program that may not have one.
run 0 "a program that may have small files alone is unharmed" "$ccltap" record --layers none \
    --metrics="$file" -- sh -c "ulimit -f 100; exec '$programs/fork_inside'"
said "and is not counted" "metrics of 0 processes were in"

# Errors.
run 2 "without layers there must be metrics" "$ccltap" record --layers none -- true
said "it says so" "give --metrics too"
run 2 "without layers there is no flight recorder" "$ccltap" record --layers none --metrics \
    --flight-recorder -- true
run 2 "and no choice of ranks" "$ccltap" record --layers none --metrics --ranks 0 -- true
said "it says that, too" "leave out .*--ranks"
run 2 "and no NVTX" "$ccltap" record --layers none --metrics --nvtx -- true
said "nor that, it says" "leave out .*--nvtx"
run 2 "a file has a name" "$ccltap" record --metrics= -- true
run 1 "a file in no folder is refused" "$ccltap" record --layers none \
    --metrics="$work/none/job.prom" -- touch "$work/ran"
said "with the reason" "cannot write .*none/job.prom: No such file or directory"
check "and the program was not run" test ! -e "$work/ran"
echo mine >"$work/mine"
run 2 "a file of something else is refused" "$ccltap" record --layers none \
    --metrics="$work/mine" -- touch "$work/ran"
said "with what to do" "mine is there, and is not of metrics: move it away, or give another"
same "it stays" mine "$(cat "$work/mine")"
check "and the program was not run" test ! -e "$work/ran"
run 0 "a file of metrics is replaced" sh -c "echo '# HELP ccltap_old' >'$file' &&
    '$ccltap' record --layers none --metrics='$file' -- true"
check "and removed at the end" test ! -e "$file"
# node_exporter refuses two files with the same series.
run 0 "a batch job is counted" env SLURM_JOB_ID=12 "$ccltap" record --layers none \
    --metrics="$work/out.d/a 1.prom" -- cp "$work/out.d/a 1.prom" "$work/copy"
check "its series have the name of the file and of the job" grep -q \
    '^ccltap_refused_processes_total{recording="a%201",job_id="12"} 0$' "$work/copy"
run 0 "what takes the file's place" "$ccltap" record --layers none --metrics="$file" -- \
    mv "$work/mine" "$file"
same "stays" mine "$(cat "$file")"
rm "$file"
run 1 "env --metrics needs one that counts" "$ccltap" env --metrics
said "and tells how to begin" "no recording with metrics is running"
run 2 "what records nothing has no stacks" "$ccltap" env --metrics --stacks
tap_done
