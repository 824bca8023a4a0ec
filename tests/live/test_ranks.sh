#!/bin/sh
# SPDX-License-Identifier: MIT
# Ranks that are each started through record: one recording, whoever is killed.
# shellcheck disable=SC2016,SC2034,SC2046,SC2086 # programs for other shells, lists of words
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# Some dozens of kills here; RUNS=100 for more.
runs=${RUNS:-8}
rank=$programs/rank
library=$top_builddir/tests/host/programs/slow.so

# In folders of LTTng's own, so that a daemon that is left is seen.
# shellcheck disable=SC2016
private='
    set -eu
    mount -t tmpfs tmpfs /var/run/lttng 2>/dev/null || mount -t tmpfs tmpfs /run/lttng
    exec "$@"'
if unshare -m sh -c "$private" - true 2>/dev/null; then
    check "recorders and ranks are killed at random: nothing is left, and nothing is lost" \
        env PRIVATE=1 unshare -m sh -c "$private" - /usr/bin/python3 -B \
        "$top_srcdir/tests/live/programs/ranks.py" "$ccltap" "$rank" "$library" "$work/ranks" \
        "$runs" "${SEED:-1}"
else
    skip "needs a mount namespace" "recorders and ranks are killed at random"
fi

# ranks NUMBER...: each with a recorder of its own, none of which ends before all are there; until
# all have ended.
ranks()
{
    started=
    rm -f "$work/count"
    for number; do
        RANK=$number "$ccltap" record $options -o "$work/trace" -- \
            "$rank" "$library" "$work/count" 100 1000 $# 2>>"$work/err" &
        started="$started $!"
    done
    statuses=
    for pid in $started; do
        status=0
        wait "$pid" || status=$?
        statuses="$statuses $status"
    done
}
: >"$work/err"
options=
ranks 0 1 2 3
same "each recorder ends as its rank" " 10 11 12 13" "$statuses"
same "the last one alone says what there is" 1 "$(grep -c '^ccltap: ' "$work/err")"
check "all of it" grep -q "trace in .*: 4 processes, .* 0 discarded" "$work/err"
: >"$work/err"
ranks 4
check "a rank that comes when they have ended is recorded beside them" \
    grep -q "trace in .*: 5 processes" "$work/err"
: >"$work/err"
options=--no-overwrite
ranks 4
same "one that was there already is another recording's" " 2" "$statuses"
said "which it is told" "has a recording"
options=--overwrite
: >"$work/err"
ranks 4
check "and that may take its place" grep -q "trace in .*: 1 process," "$work/err"

: >"$work/err"
rm -r "$work/trace"
options="--overwrite --ranks=1,3-4"
ranks 0 1 2 3
check "of some ranks alone it is said" grep -q "trace in .*: 2 processes" "$work/err"

# Another launcher, which has pipes and process groups of its own.
if command -v mpirun >/dev/null; then
    rm -f "$work/count"
    run 0 "the ranks of Open MPI" env OMPI_ALLOW_RUN_AS_ROOT=1 \
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 8 \
        "$ccltap" record --overwrite -o "$work/trace" -- \
        sh -c '"$0" "$@" || [ $? -ge 10 ]' "$rank" "$library" "$work/count" 100 1000 8
    check "share a recording" grep -q "trace in .*: 8 processes" "$work/err"
    same "which knows their numbers" "0 1 2 3 4 5 6 7" "$("$ccltap" timeline --format jsonl \
        "$work/trace" | sed -n 's/.*"type":"process".*"rank":\([0-9]*\).*/\1/p' |
        sort -u | xargs)"
else
    skip "needs Open MPI: scripts/install-deps tests" "the ranks of Open MPI"
fi

# launched NAME VARIABLE...: two ranks, each with a parent of its own, as these launchers
# tell them; RANK stands for the number.
launched()
{
    launcher=$1
    shift
    rm -rf "$work/trace" "$work/count"
    : >"$work/err"
    for number in 0 1; do
        sh -c '"$@"; :' - env $(echo "$@" | sed "s/=RANK/=$number/g") "$ccltap" record \
            -o "$work/trace" -- "$rank" "$library" "$work/count" 100 1000 2 2>>"$work/err" &
    done
    wait
    check "two ranks as $launcher tells them share a recording" \
        grep -q "trace in .*: 2 processes" "$work/err"
    same "$launcher: the last one alone says so" 1 "$(grep -c '^ccltap: ' "$work/err")"
}
launched Slurm SLURM_JOB_ID=4711 SLURM_STEP_ID=0 SLURM_PROCID=RANK SLURM_NTASKS=2
launched torchrun TORCHELASTIC_RUN_ID=none MASTER_ADDR=localhost MASTER_PORT=29500 \
    RANK=RANK WORLD_SIZE=2 LOCAL_RANK=RANK

# The one process whose death costs the recording.
# killed OPTION...: a recording whose supervisor is; its recorder's status.
killed()
{
    "$ccltap" record --overwrite -o "$work/trace" "$@" -- \
        "$rank" "$library" "$work/count" 2000 1000 2>"$work/err" &
    pid=$!
    tries=0
    until supervisor=$("$ccltap" status | sed -n 's/.*supervisor: process \([0-9]*\);.*/\1/p') &&
        [ -n "$supervisor" ] || [ $tries -eq 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -KILL "$supervisor"
    status=0
    wait $pid || status=$?
}
lttng create somebodys-$$ --no-output >/dev/null
killed
same "a supervisor that is killed: the program does not notice" 10 "$status"
said "the user does, and is told what to do" "ccltap end"
check "its session is still there" sh -c 'lttng --no-sessiond list | grep -q "$0"' \
    "$(session "$work/trace")"
"$ccltap" end >"$work/said"
same "it is ended" "$(session "$work/trace") has ended; its supervisor was killed" \
    "$(cat "$work/said")"
check "and gone" sh -c '! lttng --no-sessiond list | grep -q "$0"' "$(session "$work/trace")"
check "somebody else's is not" sh -c 'lttng --no-sessiond list | grep -q "$0"' somebodys-$$
lttng destroy somebodys-$$ >/dev/null
check "what was recorded reads" sh -c '
    [ "$("$0" timeline --format jsonl "$1" | grep -c "\"type\":\"span\"")" -eq 2000 ]' \
    "$ccltap" "$work/trace"

killed --session=again-$$
lttng destroy again-$$ >/dev/null
sleep 1
lttng create again-$$ --no-output >/dev/null
"$ccltap" end >/dev/null
check "a later session of the same name stays" \
    sh -c 'lttng --no-sessiond list | grep -q "$0"' again-$$
lttng destroy again-$$ >/dev/null
tap_done
