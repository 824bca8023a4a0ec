#!/bin/sh
# SPDX-License-Identifier: MIT
# Ranks of mini-NCCL that post for others of their node (PXN): right values, and who posts for
# whom.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

doubles=${top_builddir:?}/tests/doubles
truth=$PWD/pxn.$$
trap 'rm -rf "$truth"' EXIT
SOFTVERBS_FABRIC=pxn.$$
MININCCL_TRUTH=$truth
MININCCL_NVLINK=1
export SOFTVERBS_FABRIC MININCCL_TRUTH MININCCL_NVLINK

# over WHAT RANKS RANKS_PER_NODE HOW SETTING...: values, and who posts
over()
{
    over_what=$1
    over_ranks=$2
    over_shape="$3 $4"
    rm -rf "$truth"
    mkdir "$truth"
    MININCCL_RANKS_PER_NODE=$3
    export MININCCL_RANKS_PER_NODE
    shift 4
    check "$over_what, $over_ranks ranks: all values are right" \
        env LD_LIBRARY_PATH="$doubles/verbs" "$@" timeout -s KILL 60 \
        "$top_builddir/tests/doubles_tests/programs/messages" "$over_ranks" 1
    # Unquoted on purpose: two words.
    # shellcheck disable=SC2086
    check "$over_what, $over_ranks ranks: who posts for whom" \
        /usr/bin/python3 "$top_srcdir/tests/doubles_tests/expect/posted.py" "$truth" \
        "$over_ranks" $over_shape
}

over "InfiniBand" 4 2 shared
over "InfiniBand, two channels" 6 3 shared NCCL_MIN_NCHANNELS=2
over "unlike nodes" 5 2 shared
over "connected when ranks meet" 6 3 shared NCCL_RUNTIME_CONNECT=0
over "a connection for each" 4 2 posted NCCL_NET_SHARED_COMMS=0
over "sockets" 4 2 posted NCCL_NET=Socket
over "with the protocol LL" 4 2 shared NCCL_ALLOC_P2P_NET_LL_BUFFERS=1
over "flushed, several queue pairs" 4 2 shared MININCCL_FLUSH=1 NCCL_IB_QPS_PER_CONNECTION=2 \
    NCCL_IB_SPLIT_DATA_ON_QPS=1
over "InfiniBand of 2.18.3" 4 2 untold MININCCL_RELEASE=2.18.3
for release in 2.22.3 2.30.7 2.32.3; do
    over "InfiniBand of $release" 4 2 shared MININCCL_RELEASE=$release
done
over "late and out of order" 4 2 shared MININCCL_JITTER_US=300 MININCCL_ORDER=5
over "switched off" 4 2 direct NCCL_PXN_DISABLE=1
over "no rank is nearer" 4 2 direct NCCL_P2P_PXN_LEVEL=1
over "level 0" 4 2 direct NCCL_P2P_PXN_LEVEL=0
over "no P2P" 4 2 direct NCCL_P2P_DISABLE=1
over "no NVLink" 4 2 direct MININCCL_NVLINK=0
unset MININCCL_TRUTH
for layout in threads single; do
    for comms in shared two; do
        check "ranks of one process, $layout, communicators $comms" \
            env LD_LIBRARY_PATH="$doubles/verbs" timeout -s KILL 90 \
            "$top_builddir/tests/doubles_tests/programs/configuration" ranks=6 \
            transport=pxn layout=$layout comms=$comms operation=any channels=2 most=200000
    done
done
tap_done
