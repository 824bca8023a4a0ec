#!/bin/sh
# SPDX-License-Identifier: MIT
# Everything that ran on the driver double's device is in the trace once, with its times and
# the number of the call that put it there: of each release of CUPTI, by every way to the
# driver, of mini-NCCL, of graphs that are repeated, and without a preload.
set -eu
# shellcheck source=tests/cupti/cupti.inc.sh
. "${top_srcdir:?}/tests/cupti/cupti.inc.sh"

# All the ways of tests/cuda/test_ways.sh, in one recording.
cat >"$work/ways" <<END
$programs/driver name 20
$programs/driver table 20
$programs/driver host 20
$programs/driver graph 50
$programs/driver copies 20
$programs/handle 20
END
for flavour in static static-11 static-12 12 13 twin; do
    [ ! -e "$programs/runtime-$flavour" ] || echo "$programs/runtime-$flavour 3" >>"$work/ways"
done
echo "$programs/two $programs/static.so $programs/shared12.so" >>"$work/ways"
# Two processes, which print in any order.
echo "'$top_builddir/examples/allreduce' -n 2 -i 3 -c 1024 | sort" >"$work/ranks"
for release in $releases; do
    with "$release"
    alike "CUPTI $release, each way" sh "$work/ways"
    check "CUPTI $release, each way: what ran is there once" ran memset=20 gpu:lost=0
    check "CUPTI $release, each way: each has its launch" joined
    same "CUPTI $release, each way: it is the one that was found" \
        "$(wc -l <"$work/ways") $LD_LIBRARY_PATH/libcupti.so.$release" \
        "$(sed -n 's/.* gpu:owner: .* state = "taken".* library = "\([^"]*\)".*/\1/p' \
            "$work/events" | uniq -c | sed 's/^ *//')"
    alike "CUPTI $release, mini-NCCL" sh "$work/ranks"
    check "CUPTI $release, mini-NCCL: what ran is there once" ran gpu:lost=0
    check "CUPTI $release, mini-NCCL: each has its launch and its collective" joined
    check "CUPTI $release, mini-NCCL: kernels have names" grep -q \
        ' gpu:name: .* text = "_Z[0-9]*ncclDevKernel_' "$work/events"

    alike "CUPTI $release, a graph of collectives, a thousand times" "$guests/replay" 1000
    # Two more connect the ranks.
    same "CUPTI $release, a graph: the values are right" "rank 0: 2,rank 1: 4" \
        "$(paste -sd, "$work/out")"
    check "CUPTI $release, a graph: each replay's kernels find theirs" ran kernel=6002 \
        gpu:lost=0 collectives=ncclAllReduce,ncclBroadcast,ncclReduce
    check "CUPTI $release, a graph: the reader finds them, too" joined
done

# How much of it.
for what in off kernels all; do
    options=--gpu=$what
    alike "--gpu=$what" "$programs/driver" name 5
    cp "$work/events" "$work/events-$what"
    eval "calls_$what=\$(grep -c ' gpu:api: ' '$work/events' || :)"
done
options=
same "off: CUPTI is not opened" "0 no" "$(grep -c ' gpu:' "$work/events-off" || :) $(
    traced --gpu=off -- "$programs/driver" name 1
    [ -e "$DOUBLE_CUPTI_LOG" ] && echo yes || echo no)"
# shellcheck disable=SC2154 # set by eval
same "kernels: no records of calls, all: of each" "0 15" "$calls_kernels $calls_all"
check "all: and of waits" grep -q ' gpu:synchronization: ' "$work/events-all"

# Where a preload is stripped: CUDA itself loads us.
cat >"$work/injected" <<END
unset LD_PRELOAD
CUDA_INJECTION64_PATH=\${CCLTAP_LIBDIR:?}/libccltap.so exec "$programs/driver" name 5
END
alike "injected by CUDA" sh "$work/injected"
same "what ran is there, without the calls" "15 0" "$(grep -c ' gpu:kernel: ' \
    "$work/events") $(grep -c ' cuda:cuLaunch' "$work/events" || :)"

# The comparison of what is not so.
traced -- "$programs/driver" graph 3
cp "$work/events" "$work/right"
check "what is right is taken" ran
first=$(grep -n ' gpu:kernel: ' "$work/right" | head -n 1 | sed 's/:.*//')
check "one that is missing is noticed" differs ran "${first}d"
check "one that is there twice" differs ran "${first}p"
check "another end" differs ran "${first}s/end_ns = /end_ns = 1/"
check "another stream" differs ran "${first}s/ stream = / stream = 1/"
check "another call's number" differs ran "${first}s/correlation_id = /correlation_id = 1/"
check "another shape" differs ran "${first}s/gridX = 1/gridX = 2/"
check "another name" differs ran 's/text = "add"/text = "sub"/'
check "a node that is a copy of none" differs ran \
    's/\(gpu:graph_node: .* original = \)[0-9A-Fx]*/\10/'
check "a launch with another's number" differs ran \
    's/\( cuda:cuGraphLaunch: .* correlation_id = \)/\11/'

sed '0,/^end .*kind=kernel /{//d}' "$DOUBLE_CUDA_LOG" >"$work/less"
mv "$work/less" "$DOUBLE_CUDA_LOG"
too_many() { ! joined 2>/dev/null; }
check "a piece of work too many is noticed" too_many
tap_done
