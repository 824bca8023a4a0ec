#!/bin/sh
# SPDX-License-Identifier: MIT
# What is wrong with a program is found in what ccltap record wrote of it, on doubles: a rank
# that does not come to the initialisation; and nothing is, of a program
# that is right.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

example=$top_builddir/examples/allreduce
doubles=$top_builddir/tests/doubles

# start OPTION...: records the program, in the background.
start()
{
    rm -rf "$work/trace"
    "$ccltap" record -o "$work/trace" -- env \
        LD_LIBRARY_PATH="$doubles/verbs:$doubles/cupti" SOFTVERBS_FABRIC="errors.$$" \
        "$example" "$@" >"$work/said" 2>&1 &
    recorder=$!
}

# asks: what is wrong, so far.
asks()
{
    "$ccltap" why "$work/trace" >"$work/why" 2>&1 || true
    "$ccltap" why --json "$work/trace" >"$work/json" 2>/dev/null || true
}
# found PATTERN: the first line says so.
found()
{
    asks
    cat "$work/why"
    head -n 1 "$work/why" | grep -q "$1"
}
stop()
{
    kill -TERM "$recorder" 2>/dev/null || true
    wait "$recorder" || true
}

start -n 2 -i 2
wait "$recorder" || true
check "of a program that is right nothing is wrong, and it says what was looked at" \
    found '^OK  *nothing is wrong, as far as the trace shows: [0-9]* operations of 2 ranks, .*messages$'
check "as JSON, too" grep -q '"verdict":"clear"' "$work/json"

start -n 3 --hang-rank 1
check "a rank that does not come to the initialisation is missing while the others wait" \
    within 60 found '^HUNG  *ncclCommInitRank: 2 of 3 ranks came and wait for .*; MISSING rank 1'
check "by kind, rank and call" \
    grep -q '"kind":"missing","severity":"error".*"ranks":\[1\],"waiting_ranks":\[0,2\].*"operation":"ncclCommInitRank"' \
    "$work/json"
stop
check "and when it was ended" found 'MISSING rank 1'
"$ccltap" check "$work/trace" >"$work/check" || true
check "the check finds the trace complete and the program not" \
    grep -q '^verdict: incomplete' "$work/check"
check "and names the rank" grep -q '^program: ncclCommInitRank: .*MISSING rank 1' "$work/check"

tap_done
