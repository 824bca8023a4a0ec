#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that reach the driver double in every way that programs have: what they say they
# did is what the driver says it was asked for, under the names that belong to the way.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

programs=${top_builddir:?}/tests/doubles_tests/programs
log=$PWD/cuda-programs.$$
trap 'rm -f "$log"' EXIT

run() # PROGRAM ARGUMENT...
{
    rm -f "$log"
    run_program=$programs/$1
    shift
    DOUBLE_CUDA_LOG=$log "$run_program" "$@" 2>&1 || echo "status $?"
}

calls() # ENTRY...
{
    for entry in "$@"; do
        echo "$entry $(grep -c "^call .* entry=$entry result=0 " "$log" || :)"
    done
}

ran() # KIND
{
    grep -c "^end .* kind=$1 " "$log" || :
}

asks()
{
    grep -c '^ask ' "$log" || :
}

same "by name every entry is launched" "name: 21 launches, sum 21" "$(run driver name 7)"
same "under its name" "cuLaunchKernel 7
cuLaunchKernelEx 7
cuLaunchCooperativeKernel 7" "$(calls cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel)"
same "a table of the program's own has both streams" "table: 10 launches, sum 10" \
    "$(run driver table 10)"
same "one under each name" "cuLaunchKernel 5
cuLaunchKernel_ptsz 5" "$(calls cuLaunchKernel cuLaunchKernel_ptsz)"
same "a host function launches" "host: 5 launches, sum 4" "$(run driver host 4)"
# Of a thread that ran the host function, which is not the program's.
thread=$(sed -n 's/^begin pid=\([0-9]*\) tid=\([0-9]*\) .* kind=host .*/\2/p' "$log")
same "on the driver's thread" 4 \
    "$(grep -c "^call .* tid=$thread .* entry=cuLaunchKernel " "$log" || :)"
same "a graph is launched a thousand times" "graph: 1000 launches, sum 2000" \
    "$(run driver graph 1000)"
same "its kernels run twice as often" 2000 "$(ran kernel)"
same "copies and sets are no launches" "copies: 0 launches, sum 3" "$(run driver copies 3)"
same "but are known" "9 3" "$(ran memcpy) $(ran memset)"

same "who looks a name up gets the function" "handle: 6 launches, sum 6" "$(run handle 6)"
same "and asks for nothing else" "0 6" \
    "$(asks) $(grep -c '^call .* entry=cuLaunchKernelEx .* cluster=2 ' "$log" || :)"

for flavour in static:13000:440 static-11:11080:384 static-12:12090:419 12:12040:409 \
    13:13000:440; do
    program=runtime-${flavour%%:*}
    version=${flavour#*:}
    # Two threads, three rounds: 4 launches a round and the graph's.
    same "$program does all that a runtime can" \
        "runtime ${version%:*} all: 38 launches, sum 48" "$(run "$program" 3)"
    same "it asks as the real one" "${flavour##*:}" "$(asks)"
    same "the captured ones are counted where they were captured" "cuLaunchKernel 8
cuLaunchKernelEx 8
cuLaunchCooperativeKernel 8
cuLaunchHostFunc 8
cuGraphLaunch 6" "$(calls cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel \
        cuLaunchHostFunc cuGraphLaunch)"
    same "and run where the graph is launched" "36 12" "$(ran kernel) $(ran host)"
done
same "the threads' own streams are another program" \
    "runtime 13000 all: 38 launches, sum 48" "$(run runtime-twin 3)"
same "with other entries" "cuLaunchKernel 0
cuLaunchKernel_ptsz 8
cuGraphLaunch_ptsz 6" "$(calls cuLaunchKernel cuLaunchKernel_ptsz cuGraphLaunch_ptsz)"

same "two runtimes share a process" "two: 56 launches, sum 64" \
    "$(run two "$programs/static.so" "$programs/shared12.so")"
same "each asks for itself" 849 "$(asks)"
DOUBLE_CUDA_DLSYM=1
export DOUBLE_CUDA_DLSYM
same "a driver that looks itself up hands out the same" \
    "runtime 13000 all: 38 launches, sum 48" "$(run runtime-static 3)"
unset DOUBLE_CUDA_DLSYM
DOUBLE_CUDA_VERSION=12040
export DOUBLE_CUDA_VERSION
same "a runtime needs a driver of its release" \
    "cudaSetDevice(0) = 35" "$(run runtime-13 1 | grep -v status | head -n 1)"
same "an older one does not" "runtime 11080 all: 18 launches, sum 16" \
    "$(run runtime-static-11 1)"
tap_done
