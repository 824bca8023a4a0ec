#!/bin/sh
# SPDX-License-Identifier: MIT
# Every way in which programs reach the driver: each call that the driver double says it was
# asked for is in the trace once, under the right name, stream, grid and function.
#
# WITHOUT=SYMBOL tries it with a library that lacks this way in, and fails.
# shellcheck disable=SC2119 # agrees needs no arguments
set -eu
# shellcheck source=tests/cuda/cuda.inc.sh
. "${top_srcdir:?}/tests/cuda/cuda.inc.sh"

way "linked" "name: 60 launches, sum 60" cuLaunchKernel=20 cuLaunchKernelEx=20 \
    cuLaunchCooperativeKernel=20 function=1 -- "$programs/driver" name 20
way "copies and sets" "copies: 0 launches, sum 20" cuMemcpyHtoDAsync_v2=20 \
    cuEventSynchronize=20 -- "$programs/driver" copies 20
way "a table of its own, both streams" "table: 40 launches, sum 40" cuLaunchKernel=40 \
    -- "$programs/driver" table 40
way "from a thread of the driver" "host: 21 launches, sum 20" cuLaunchKernel=20 \
    cuLaunchHostFunc=1 -- "$programs/driver" host 20
way "a graph, a thousand times" "graph: 1000 launches, sum 2000" cuGraphLaunch=1000 \
    cuLaunchKernel=1 cuGraphAddKernelNode_v2=1 -- "$programs/driver" graph 1000
way "looked up, as Triton does" "handle: 20 launches, sum 20" cuLaunchKernelEx=20 \
    function=1 -- "$programs/handle" 20

counts='cuLaunchKernel=8 cuLaunchKernelEx=8 cuLaunchCooperativeKernel=8 cuLaunchHostFunc=8
    cuGraphLaunch=6'
# Of a shared one the calls have names, those of cudart.def; <<< >>> is another since 13.
for flavour in static:13000:0 static-11:11080:0 static-12:12090:0 \
    12:12040:0,1,3,4,5,6,7,10 13:13000:0,2,3,4,5,6,7,10 twin:13000:0; do
    version=${flavour#*:}
    # shellcheck disable=SC2086 # a list of words
    way "runtime ${flavour%%:*}" "runtime ${version%:*} all: 38 launches, sum 48" $counts \
        "runtime=${flavour##*:}" -- "$programs/runtime-${flavour%%:*}" 3
done
way "two runtimes" "two: 56 launches, sum 64" cuLaunchKernel=12 runtime=0,1,3,4,5,6,7,10 \
    -- "$programs/two" "$programs/static.so" "$programs/shared12.so"
DOUBLE_CUDA_DLSYM=1
export DOUBLE_CUDA_DLSYM
# shellcheck disable=SC2086 # a list of words
way "a driver that asks us" "runtime 13000 all: 38 launches, sum 48" $counts \
    -- "$programs/runtime-static" 3
way "and has a table made of it" "table: 40 launches, sum 40" cuLaunchKernel=40 \
    -- "$programs/driver" table 40
unset DOUBLE_CUDA_DLSYM

# named: each launch comes after the name of its function; prints how many do not.
named()
{
    awk '
    / cuda:function: / {
        match($0, /function = 0x[0-9A-F]+/)
        is_named[substr($0, RSTART + 11, RLENGTH - 11)] = 1
    }
    / cuda:cuLaunchKernel: / {
        match($0, / f = 0x[0-9A-F]+/)
        launches++
        unnamed += !(substr($0, RSTART + 5, RLENGTH - 5) in is_named)
    }
    END {
        print "# of " launches " launches " unnamed + 0 " come before a name"
        exit launches < 6000 || unnamed
    }' "$work/events"
}
recorded together "$cuda/together" 3 2000
check "a launch comes after its function's name, whichever thread tells that" named

# The same comparison of what is not so: a call that is missing, one that is there twice,
# another grid.
recorded wrong "$programs/driver" name 4
cp "$work/events" "$work/right"
check "what is right is taken" agrees
first=$(grep -n ' cuda:cuLaunchKernel: ' "$work/right" | head -n 1 | sed 's/:.*//')
check "one that is missing is noticed" differs agrees "${first}d"
check "one that is there twice" differs agrees "${first}p"
check "another grid" differs agrees "${first}s/gridDimX = 1/gridDimX = 2/"
check "another stream" differs agrees "${first}s/hStream = 0x/hStream = 0x1/"
check "the other twin" differs agrees "${first}s/per_thread = 0/per_thread = 1/"
check "another name" differs agrees 's/name = "add"/name = "sub"/'

# And with a library that lacks a way in.
if [ -z "${WITHOUT-}" ]; then
    lacks() # SYMBOL COMMAND...
    {
        without "$1"
        shift
        recorded lacks "$@"
        ! agrees
    }
    check "without the linked function it is missed" lacks cuLaunchKernel \
        "$programs/driver" name 2
    check "without the linked table it is missed" lacks cuGetProcAddress_v2 \
        "$programs/driver" table 2
    check "without dlsym() what is looked up is missed" lacks dlsym "$programs/handle" 2
    check "without it all of a runtime is missed" lacks dlsym \
        "$programs/runtime-static" 1
fi

tap_done
