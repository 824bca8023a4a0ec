#!/bin/sh
# SPDX-License-Identifier: MIT
# The NCCL double over softverbs: right values whatever its settings, and a truth file that
# agrees with itself.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

doubles=${top_builddir:?}/tests/doubles
truth=$PWD/truth.$$
trap 'rm -rf "$truth"' EXIT
SOFTVERBS_FABRIC=nccl.$$
MININCCL_TRUTH=$truth
NCCL_ALGO=ring
NCCL_PROTO=simple
export SOFTVERBS_FABRIC MININCCL_TRUTH NCCL_ALGO NCCL_PROTO

# over WHAT RANKS CHANNELS QPS SETTING...: values and truth
over()
{
    over_what=$1
    over_ranks=$2
    over_shape="$3 $4"
    shift 4
    rm -rf "$truth"
    mkdir "$truth"
    check "$over_what, $over_ranks ranks: all values are right" \
        env LD_LIBRARY_PATH="$doubles/verbs" "$@" \
        timeout -s KILL 60 "$top_builddir/tests/doubles_tests/programs/messages" "$over_ranks" "${rounds:-1}"
    # Unquoted on purpose: two words.
    # shellcheck disable=SC2086
    check "$over_what, $over_ranks ranks: each send has its receive, steps are in order" \
        /usr/bin/python3 "$top_srcdir/tests/doubles_tests/expect/truth.py" "$truth" "$over_ranks" $over_shape
}

over "plain" 2 1 1
over "plain" 4 1 1
over "three channels on two adapters" 4 3 1 NCCL_MIN_NCHANNELS=3 SOFTVERBS_DEVICES=2
over "no more channels than may be" 2 2 1 NCCL_MIN_NCHANNELS=3 NCCL_MAX_NCHANNELS=2
over "four queue pairs in turn" 2 1 1 NCCL_IB_QPS_PER_CONNECTION=4
over "messages in four pieces" 2 1 4 NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1
over "adaptive routing" 2 1 1 NCCL_IB_ADAPTIVE_ROUTING=1
over "inline" 2 1 1 NCCL_IB_USE_INLINE=1
over "flushed" 2 1 1 MININCCL_FLUSH=1
over "InfiniBand" 2 1 1 SOFTVERBS_LINK=infiniband
over "all at once" 4 2 4 NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1 \
    NCCL_IB_ADAPTIVE_ROUTING=1 MININCCL_FLUSH=1 NCCL_MIN_NCHANNELS=2
rounds=12 over "more messages than the list of clears has places" 2 1 1
over "the protocol LL" 4 2 1 NCCL_MIN_NCHANNELS=2 NCCL_PROTO=ll
over "the protocol LL128" 3 1 1 NCCL_PROTO=ll128
over "smaller buffers" 3 2 1 NCCL_MIN_NCHANNELS=2 NCCL_BUFFSIZE=65536
over "one step for each message" 3 1 1 MININCCL_CHUNK_STEPS=2 MININCCL_SLICE_STEPS=1 \
    NCCL_BUFFSIZE=1048576 MININCCL_ORDER=3
over "one adapter of two" 2 1 1 SOFTVERBS_DEVICES=2 NCCL_IB_HCA==soft1:1
over "TCP, as no adapter is wanted" 2 1 0 NCCL_IB_DISABLE=1
over "TCP, as the adapter is not wanted" 2 2 0 NCCL_IB_HCA=^soft0 NCCL_MIN_NCHANNELS=2
over "TCP, as there is none" 2 1 0 SOFTVERBS_DEVICES=0
tap_done
