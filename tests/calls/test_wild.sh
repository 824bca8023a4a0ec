#!/bin/sh
# SPDX-License-Identifier: MIT
# Arguments that lead nowhere, given to each row of each table against a library that looks
# at none of them: the program says the same and ends the same as without us, and a second
# process, recorded on the same processor meanwhile, loses nothing.
#
# What the driver puts on a GPU, and what libibverbs is given, is read without asking the
# kernel: there a program may die of what the library had died of, and the second process
# loses nothing all the same.
set -eu

: "${top_srcdir:?}" "${top_builddir:?}"
# shellcheck source=tests/lib/tap.sh
. "$top_srcdir/tests/lib/tap.sh"
alone "$@"

made=$top_builddir/tests/calls
ours=$top_builddir/.libs/libccltap.so
session=ccltap-wild-$$
work=$made/wild.$$
recording=no
# The processor on which all of them are.
processor=$(taskset -pc $$ | sed 's/.*: *//; s/[-,].*//')

# shellcheck disable=SC2317 # called by the trap
clean()
{
    [ "$recording" = no ] || timeout 20 lttng destroy --no-wait "$session" >/dev/null 2>&1 || :
    rm -rf "$work"
}
trap clean EXIT
mkdir -p "$work"

# begin_recording: the events of all layers, each with its process.
begin_recording()
{
    rm -rf "$work/trace"
    lttng create "$session" --output "$work/trace" >/dev/null
    recording=yes
    lttng enable-channel -u -s "$session" --subbuf-size 1M --num-subbuf 8 all >/dev/null
    lttng enable-event -u -s "$session" -c all 'nccl:*,cuda:*,verbs:*' >/dev/null
    lttng add-context -u -s "$session" -c all -t vpid >/dev/null
    lttng start "$session" >/dev/null
    # The first call waits until the daemon has enabled its events.
    LTTNG_UST_REGISTER_TIMEOUT=-1
    export LTTNG_UST_REGISTER_TIMEOUT
}

# What an event that was not ended holds up is waited for without end.
end_recording()
{
    timeout 20 lttng destroy "$session" >/dev/null 2>&1 || echo "the recording does not end"
    recording=no
}

# run_one COMMAND...: all that it says, and how it ends.
run_one()
{
    timeout -s KILL 60 taskset -c "$processor" "$@" 2>&1 || echo "status $?"
}

has_daemon=no
if lttng --no-sessiond list >/dev/null 2>&1; then
    has_daemon=yes
fi

# begin_beside PROGRAM: it calls one function again and again; end_beside ends it.
begin_beside()
{
    mkfifo "$work/end"
    LD_PRELOAD=$ours taskset -c "$processor" "$made/programs/$1" --beat <"$work/end" >"$work/beats" &
    beside=$!
    exec 8>"$work/end"
}

end_beside()
{
    exec 8>&-
    wait "$beside" || true
    rm "$work/end"
}

# nothing_lost NAME EVENT: the recording ends, and has each of the calls beside.
nothing_lost()
{
    same "$1: the recording ends" "" "$(end_recording)"
    same "$1: a process beside them on the processor loses nothing" "$(cat "$work/beats")" \
        "$(babeltrace2 "$work/trace/ust" 2>/dev/null | grep "${2}_exit:" |
            grep -c "vpid = $beside ")"
}

# try_readable NAME HOW...: with arguments that have to be there; what differs is told.
try_readable()
{
    name=$1
    shift
    died=0
    "$made/programs/$name" --readable >"$work/readable"
    while read -r row; do
        for how in "$@"; do
            bare=$(run_one "$made/programs/$name" "$how" "$row")
            with=$(run_one env LD_PRELOAD="$ours" "$made/programs/$name" "$how" "$row")
            [ "$bare" != "$with" ] || continue
            died=$((died + 1))
            echo "$row, $how: $with"
        done
    done <"$work/readable" >"$work/differ"
    echo "# $name: $died calls died of arguments that have to be readable"
}

# try_all NAME EVENT: each way of giving arguments, beside a process that makes EVENT.
try_all()
{
    program=$made/programs/$1
    hows='null wild zero unterminated many cut lost'
    for how in $hows; do
        run_one "$program" "$how" >"$work/bare.$how"
        run_one env LD_PRELOAD="$ours" "$program" "$how" >"$work/with.$how"
        check "$1, $how: the same with us" diff "$work/bare.$how" "$work/with.$how"
    done
    if [ $has_daemon = no ]; then
        skip "no LTTng session daemon: scripts/daemon make check" "$1, recorded"
        return
    fi
    begin_recording
    begin_beside "$1"
    for how in $hows; do
        run_one env LD_PRELOAD="$ours" "$program" "$how" >"$work/recorded.$how"
        check "$1, $how: the same while it is recorded" \
            diff "$work/bare.$how" "$work/recorded.$how"
    done
    try_readable "$1" null zero
    same "$1: what has to be there may be none or zero" "" "$(cat "$work/differ")"
    try_readable "$1" wild unterminated lost
    end_beside
    nothing_lost "$1" "$2"
}

try_all wild_nccl ncclGetVersion
try_all wild_cuda cuStreamSynchronize
try_all wild_hip hipStreamSynchronize

if [ $has_daemon = yes ]; then
    begin_recording
    begin_beside wild_nccl
    try_readable wild_verbs null wild zero unterminated lost
    end_beside
    nothing_lost wild_verbs ncclGetVersion
else
    skip "no LTTng session daemon: scripts/daemon make check" "wild_verbs, recorded"
fi

# The other tables: nothing is read of these arguments at all.
other=$(sed -n 's/^.*,[[:space:]]*\([A-Z][A-Za-z0-9_]*\)[,)].*/\1/p' \
    "$top_srcdir/src/calls/cudart.def" | sort -u | tr '\n' ' ')
same "what a runtime is given is only handed on" "IN " "$other"
other=$(sed -n '/^	/s/^.*,[[:space:]]*\([A-Z][A-Za-z0-9_]*\)[,)].*/\1/p' \
    "$top_srcdir/src/calls/cupti.def" | sort -u | tr '\n' ' ')
same "and so is what CUPTI is" "PTR " "$other"

tap_done
