# SPDX-License-Identifier: MIT
# What the tests of the CUDA layer share: programs on the driver double, recorded, and its
# log beside what was recorded.
# shellcheck shell=sh disable=SC2034,SC2120 # variables that the tests use, and arguments

# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

cuda=$top_builddir/tests/cuda/programs
programs=$top_builddir/tests/doubles_tests/programs
DOUBLE_CUDA_LOG=$work/log
export DOUBLE_CUDA_LOG
"$top_builddir/list-calls" --cuda >"$work/rows"

[ -z "${WITHOUT-}" ] || without "$WITHOUT"

# recorded NAME COMMAND...: to $work/NAME, its output to $work/out.
recorded()
{
    recorded_to=$work/$1
    shift
    rm -rf "$DOUBLE_CUDA_LOG" "$recorded_to"
    recorded_status=0
    "$ccltap" record -o "$recorded_to" -- "$@" >"$work/out" 2>"$work/err" </dev/null ||
        recorded_status=$?
    babeltrace2 --clock-cycles "$recorded_to" >"$work/events" 2>"$work/babeltrace" || :
}

# agrees ASKED...: what was recorded last is what the driver did (trace.py).
agrees()
{
    /usr/bin/python3 "$top_srcdir/tests/cuda/expect/trace.py" "$DOUBLE_CUDA_LOG" "$work/rows" \
        "$@" <"$work/events"
}

# way SENTENCE OUTPUT ASKED... -- COMMAND...: recorded, it prints the same as ever, and each
# call is in the trace once.
way()
{
    way_sentence=$1
    way_output=$2
    way_asked=
    shift 2
    while [ "$1" != -- ]; do
        way_asked="$way_asked $1"
        shift
    done
    shift
    recorded way "$@"
    same "$way_sentence: it prints what it does" "$way_output" "$(cat "$work/out")"
    # shellcheck disable=SC2086 # a list of words
    check "$way_sentence: each call is recorded once" agrees $way_asked
}

# differs COMPARISON EXPRESSION: the events in $work/right, changed by sed, are refused.
differs()
{
    sed "$2" "$work/right" >"$work/events"
    cmp -s "$work/events" "$work/right" && return 1
    ! "$1"
}
