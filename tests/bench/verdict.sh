#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures how soon a job that hangs is said to: `ccltap why` on eight ranks from its start
# to its end, and `ccltap why --watch` from the moment at which the last rank that comes has
# called. Run it from the build directory.
#
# usage: scripts/daemon sh tests/bench/verdict.sh [RUNS] [RECORD-OPTION...]
set -eu

runs=${1:-5}
[ $# -eq 0 ] || shift
build=$(pwd)
CCLTAP_LIBDIR=$build/.libs
export CCLTAP_LIBDIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/orders" "$work/answers"

now_ms()
{
    echo $(($(date +%s%N) / 1000000))
}

"$build/ccltap" record -o "$work/trace" "$@" -- "$build/tests/live/programs/missing" 8 \
    <"$work/orders" >"$work/answers" 2>"$work/record" &
recorder=$!
exec 3>"$work/orders" 4<"$work/answers"
read -r _ <&4
"$build/ccltap" why --watch "$work/trace" >"$work/watch" 3>&- 4<&- &
watcher=$!
until grep -q ^OK "$work/watch"; do sleep 0.1; done
sleep 3
echo hang >&3
read -r _ <&4
begin=$(now_ms)
until grep -q ^HUNG "$work/watch"; do sleep 0.02; done
echo "watch: said $(($(now_ms) - begin)) ms after the hang began"
kill -INT "$watcher"
wait "$watcher" || true
while [ "$runs" -gt 0 ]; do
    begin=$(now_ms)
    "$build/ccltap" why "$work/trace" >"$work/why" || true
    echo "why: $(($(now_ms) - begin)) ms: $(head -n 1 "$work/why")"
    runs=$((runs - 1))
done
find "$work/trace" -maxdepth 3 -name '2*' -o -maxdepth 3 -name 'look-*' | wc -l | sed 's/^/chunks: /'
echo come >&3
read -r _ <&4
exec 3>&- 4<&-
wait "$recorder"
