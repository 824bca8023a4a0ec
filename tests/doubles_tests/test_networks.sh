#!/bin/sh
# SPDX-License-Identifier: MIT
# The ways by which ranks of mini-NCCL reach each other: right values, and what the truth says
# of the connections.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

doubles=${top_builddir:?}/tests/doubles
truth=$PWD/networks.$$
trap 'rm -rf "$truth"' EXIT
SOFTVERBS_FABRIC=networks.$$
MININCCL_TRUTH=$truth
export SOFTVERBS_FABRIC MININCCL_TRUTH

# what EXPRESSION: each line that it gives of a record of the truth, once and sorted.
what()
{
    cat "$truth"/truth.* | /usr/bin/python3 -c "
import json, sys
records = [json.loads(line) for line in sys.stdin]
told = sorted({str($1) for r in records if $2})
print(' '.join(told))"
}

# over WHAT RANKS EXPECTED SETTING...: the transports between the ranks
over()
{
    over_what=$1
    over_ranks=$2
    over_expected=$3
    shift 3
    rm -rf "$truth"
    mkdir "$truth"
    check "$over_what: all values are right" \
        env LD_LIBRARY_PATH="$doubles/verbs" "$@" timeout -s KILL 60 \
        "$top_builddir/tests/doubles_tests/programs/messages" "$over_ranks" 1
    same "$over_what: the transports" "$over_expected" \
        "$(what "r['transport']" "r['record'] == 'connection'")"
}

# Two ends of a connection have each other's queue pairs, and each is told by both.
both_ends()
{
    cat "$truth"/truth.* | /usr/bin/python3 -c "
import json, sys
seen = {}
for line in sys.stdin:
    r = json.loads(line)
    if r['record'] != 'connection':
        continue
    key = (r['comm_hash'], min(r['rank'], r['peer']), max(r['rank'], r['peer']),
           r['rank'] if r['direction'] == 'send' else r['peer'], r['channel'], r['index'])
    seen.setdefault(key, []).append(r)
for key, ends in seen.items():
    assert len(ends) == 2 and ends[0]['direction'] != ends[1]['direction'], (key, len(ends))
    a, b = ([(q['number'], q['remote']) for q in e['qps'] if q['role'] == 'data'] for e in ends)
    assert a == [(remote, number) for number, remote in b], key
assert seen"
}

over "each rank a node" 4 "NET/IB"
check "both ends of each connection are told" both_ends
over "two nodes of two" 4 "NET/IB P2P" MININCCL_RANKS_PER_NODE=2
check "both ends of each connection are told, over both" both_ends
over "one node" 4 "P2P" MININCCL_RANKS_PER_NODE=0
same "no message is the proxy's" "" "$(what "r['bytes']" "r['record'] == 'message'")"
over "one node whose devices do not see each other" 4 "SHM" MININCCL_RANKS_PER_NODE=0 \
    NCCL_P2P_DISABLE=1
same "nothing is left in /dev/shm" "" "$(find /dev/shm -name 'nccl-*' -newer "$truth")"
over "one node that shares nothing" 4 "NET/IB" MININCCL_RANKS_PER_NODE=0 NCCL_P2P_DISABLE=1 \
    NCCL_SHM_DISABLE=1
over "two hosts" 2 "NET/IB" MININCCL_RANKS_PER_NODE=1 NCCL_HOSTID=other
over "sockets" 2 "NET/Socket" NCCL_NET=Socket
same "one socket per end" "1" \
    "$(what "len(r['sockets'])" "r['record'] == 'connection'")"
for release in 2.18.3 2.26.2 2.32.3; do
    over "sockets of two threads, $release" 2 "NET/Socket" NCCL_NET=Socket \
        NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=2 MININCCL_RELEASE=$release \
        NCCL_PROTO=simple
    same "four sockets for data, $release" "5" \
        "$(what "len(r['sockets'])" "r['record'] == 'connection'")"
    same "which have threads, $release" "socket" \
        "$(what "r['role']" "r['record'] == 'thread' and r['role'] == 'socket'")"
done
over "two adapters made one" 2 "NET/IB" SOFTVERBS_DEVICES=2 NCCL_NET_FORCE_MERGE=soft0,soft1
check "both ends of each connection are told, of two adapters" both_ends
same "with queue pairs on both" "soft0,soft1" \
    "$(what "','.join(sorted({q['adapter'] for q in r['qps']}))" "r['record'] == 'connection'")"
over "four adapters made two" 2 "NET/IB" SOFTVERBS_DEVICES=4 NCCL_MIN_NCHANNELS=2 \
    NCCL_MAX_NCHANNELS=2 "NCCL_NET_FORCE_MERGE=soft0,soft1;soft2,soft3"
same "in turn" "soft0,soft1 soft2,soft3" \
    "$(what "','.join(sorted({q['adapter'] for q in r['qps']}))" "r['record'] == 'connection'")"
for release in 2.18.3 2.22.3 2.29.3 2.30.4 2.32.3; do
    over "InfiniBand of $release" 2 "NET/IB" MININCCL_RELEASE=$release \
        NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1 NCCL_IB_ADAPTIVE_ROUTING=1
done
over "receives posted beforehand" 2 "NET/IB" MININCCL_RELEASE=2.30.7 \
    NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS=1 NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME=1 \
    MININCCL_FLUSH=1
tap_done
