#!/bin/sh
# SPDX-License-Identifier: MIT
# What is recorded: each call once, with the process and the thread that made it, and a
# closing line that counts this job's alone.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

program=$top_builddir/tests/link/programs/linked
# There is an event for each of these, and one that says that there are none.
for variable in $(env | sed -nE 's/^([RN]CCL_[A-Z0-9_]*|[A-Z_]*VISIBLE_DEVICES|CUDA_[A-Z_]*)=.*/\1/p'); do
    unset "$variable"
done

run 0 "a program with NCCL" "$ccltap" record -o "$work/one" "$program"
said "its calls are counted" "trace in $work/one/$host: 1 process, 13 events (.*nccl 8"
said "none is lost" ", 0 discarded"
said "the library is named, and that it refuses" "attached: copy2.so; FAILED: ncclSystemError: "

# shellcheck disable=SC2016
run 0 "several processes" "$ccltap" record -o "$work/three" -- \
    sh -c '"$0" & "$0" & "$0"; wait' "$program"
said "they are summed up" ": 3 processes, 39 events (.*attached: copy2.so; FAILED: "

# shellcheck disable=SC2016
run 0 "two jobs at once" "$ccltap" record -o "$work/two" -- \
    sh -c 'CCLTAP_JOB=other "$0"; "$0"' "$program"
said "the other one is told apart" \
    ": 1 process, 13 events (.*, and [1-9][0-9]* process.* of other jobs"
# shellcheck disable=SC2016
run 0 "only another job" "$ccltap" record -o "$work/other" -- \
    sh -c 'CCLTAP_JOB=other exec "$0"' "$program"
said "its library is not this job's" "nothing was attached"

# shellcheck disable=SC2016
run 3 "babeltrace2 dies of the trace: the status is the program's" \
    env LD_PRELOAD="$programs/dies.so" "$ccltap" record -o "$work/dies" -- \
    sh -c '"$0"; exit 3' "$program"
said "that it cannot be read is said, and no more" "the trace in $work/dies/$host cannot be read"
same "nor anything of babeltrace2's" 1 "$(wc -l <"$work/err")"

if command -v babeltrace2 >/dev/null; then
    # Other jobs of the machine may be in the trace: the first process is taken by number.
    # shellcheck disable=SC2016
    "$ccltap" record -o "$work/read" -- sh -c 'echo $$; exec "$0"' "$program" \
        >"$work/out" 2>/dev/null
    pid=$(head -n 1 "$work/out")
    babeltrace2 --no-delta "$work/read" >"$work/text"
    grep "vpid = $pid, vtid = $pid, " "$work/text" >"$work/mine" || :
    same "every event has the process and the thread, and is there once" \
        "13 13" "$(wc -l <"$work/mine") $(sort -u "$work/mine" | wc -l)"
    for call in ncclGetVersion ncclGroupStart; do
        same "$call: as many returns as calls" \
            "$(grep -c "nccl:${call}_entry" "$work/mine")" \
            "$(grep -c "nccl:${call}_exit" "$work/mine")"
    done
else
    skip "babeltrace2 is not installed" "every event has the process and the thread"
fi
tap_done
