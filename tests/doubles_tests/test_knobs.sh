#!/bin/sh
# SPDX-License-Identifier: MIT
# What mini-NCCL does otherwise than any release of NCCL when it is asked to: the data is right
# all the same, and the truth says that it is otherwise.  And how the releases cut sends.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

programs=${top_builddir:?}/tests/doubles_tests/programs
truth=$PWD/knobs.$$
trap 'rm -rf "$truth"' EXIT
MININCCL_TRUTH=$truth
NCCL_NET=Socket
NCCL_ALGO=ring
NCCL_PROTO=simple
export MININCCL_TRUTH NCCL_NET NCCL_ALGO NCCL_PROTO

# right WHAT PROGRAM ARGUMENT...: with settings before it, if there are any
right()
{
    right_what=$1
    shift
    rm -rf "$truth"
    mkdir "$truth"
    check "$right_what: all values are right" env "$@"
}

# told EXPRESSION: what it makes of all records of the truth
told()
{
    cat "$truth"/truth.* | /usr/bin/python3 -c "
import itertools, json, sys
records = [json.loads(line) for line in sys.stdin]
print($1)"
}

# messages WHAT EXPECTED SETTING...: how many an all-reduce of 700001 elements takes, for each
# that it takes by default: two steps each, of chunks of four
messages()
{
    messages_what=$1
    messages_expected=$2
    shift 2
    right "$messages_what" "$@" timeout -s KILL 60 "$programs/messages" 2 1
    same "$messages_what: how many messages" "$messages_expected" "$(told "sum(
        r['record'] == 'message' and (r['name'], r['op'], r['rank'], r['direction'])
        == ('AllReduce', 2, 0, 'send') for r in records)")"
}

# An element of 4 bytes; a loop is two chunks of 2 MiB, twice sent, and there is one loop.
messages "as NCCL" 4 NCCL_RUNTIME_CONNECT=1
messages "messages of one step" 8 MININCCL_SLICE_STEPS=1
messages "messages of a chunk" 2 MININCCL_SLICE_STEPS=4
messages "chunks of two steps" 4 MININCCL_CHUNK_STEPS=2
messages "chunks of an eighth" 24 MININCCL_CHUNK_DIVISOR=8

# cut WHAT RELEASE CALL EXPECTED SETTING...: which messages a send of rank 0 takes over the
# two channels that there are: "CHANNEL PROTOCOL COUNTxBYTES", as often as something of it
# changes
cut()
{
    cut_what="$1 by $2"
    cut_call=$3
    cut_expected=$4
    cut_release=$2
    shift 4
    right "$cut_what" MININCCL_RELEASE="$cut_release" NCCL_ALLOC_P2P_NET_LL_BUFFERS=1 \
        NCCL_MIN_NCHANNELS=2 "$@" timeout -s KILL 60 "$programs/messages" 2 1
    same "$cut_what: which messages" "$cut_expected" "$(told "', '.join(
        f'{key[0]} {key[1]} {len(list(equal))}x{key[2]}' for key, equal in
        itertools.groupby(sorted(
            (r for r in records if r['record'] == 'message' and
             (r['name'], r['op'], r['rank'], r['direction'])
             == ('Send', $cut_call, 0, 'send')),
            key=lambda r: (r['channel'], r['step'])),
            key=lambda r: (r['channel'], r['protocol'], r['bytes'])))")"
}

# The group's sends are its calls 11, 13 and so on: of 1200000 bytes the one of 15, of 4000
# that of 17.  A step is 131072 bytes with SIMPLE and 65536 with LL, whose messages have
# twice the data.
#
# Until 2.28 as many channels as may be have LL's threshold each: 2 * 2000 bytes are enough.
# Since 2.29 those that it has with SIMPLE do: of 4000 bytes, not a step's half, one.
cut "LL, as its channels could have it" 2.28.9 17 "1 LL 1x8000" \
    NCCL_P2P_LL_THRESHOLD=2000
cut "LL, as its channels have it" 2.30.7 17 "1 Simple 1x4000" \
    NCCL_P2P_LL_THRESHOLD=2000
# One channel is tried first, since two for either peer would meet.  A part of 1200000 is
# more than LL's step, so until 2.28 there are two, of 600000 rounded up to 147 * 4096 =
# 602112, and of 597888.  Since 2.29 it is less than SIMPLE's step, here of 2097152, and
# stays one.  The bytes are more than 8 steps of LL, so a chunk is a step, half of it data:
# 602112 = 18 * 32768 + 12288, 597888 = 18 * 32768 + 8064, 1200000 = 36 * 32768 + 20352.
long="NCCL_P2P_LL_THRESHOLD=2097152 NCCL_BUFFSIZE=16777216"
long="$long NCCL_P2P_NET_CHUNKSIZE=2097152"
# Unquoted on purpose: a setting each.
# shellcheck disable=SC2086
cut "channels by LL's step" 2.28.9 15 \
    "0 LL 18x65536, 0 LL 1x16128, 1 LL 18x65536, 1 LL 1x24576" $long
# shellcheck disable=SC2086
cut "channels by SIMPLE's step" 2.30.7 15 "1 LL 36x65536, 1 LL 1x40704" $long
# A step of LL is of 8192 bytes here, more than the part has: a quarter of it before 2.20,
# 1024 bytes of data, later half of it.
cut "LL in quarters" 2.18.3 17 "1 LL 3x2048, 1 LL 1x1856" NCCL_LL_BUFFSIZE=65536
cut "LL in halves" 2.21.5 17 "1 LL 1x4096, 1 LL 1x3904" NCCL_LL_BUFFSIZE=65536
# Before 2.20 all channels are tried first between hosts, and a part is at least an eighth
# of SIMPLE's step, here 1024 bytes: 4000 / 2 rounded up to it is 2048.  Later it is at
# least half of it, and one channel is tried: 4000 rounded up to 4096, more than there is.
cut "parts of an eighth" 2.18.3 17 "0 LL 1x3904, 1 LL 1x4096" \
    NCCL_P2P_NET_CHUNKSIZE=8192
cut "parts of a half" 2.21.5 17 "1 LL 1x8000" NCCL_P2P_NET_CHUNKSIZE=8192
# Before 2.22 each part by its own bytes, of 1200000 / 2 rounded up to 10 * 65536, half a
# step: with 655360 SIMPLE, of which a chunk is half a step as it is less than 8 of them,
# and with the other 544640 LL, as above 16 * 32768 + 20352.  Then the whole is not more
# than 2 * 600000.
cut "each part by itself" 2.21.5 15 "0 LL 16x65536, 0 LL 1x40704, 1 Simple 10x65536" \
    NCCL_P2P_LL_THRESHOLD=600000
cut "all parts together" 2.22.3 15 \
    "0 LL 18x65536, 0 LL 1x16128, 1 LL 18x65536, 1 LL 1x24576" \
    NCCL_P2P_LL_THRESHOLD=600000

# rising: whether the collectives of each launch are in the order of their calls
rising()
{
    told "all(calls == sorted(calls) for calls in (
        [op['op'] for op in r['ops'] if op['function'] not in ('Send', 'Recv')]
        for r in records if r['record'] == 'launch'))"
}
for call_order in 0 1; do
    right "call order $call_order" MININCCL_CALL_ORDER=$call_order timeout -s KILL 60 \
        "$programs/configuration" ranks=2 transport=socket operation=any rounds=6 seed=6
    if [ "$call_order" -eq 0 ]; then
        same "collectives of a group run in another order than that of their calls" False "$(rising)"
    else
        same "with the order of calls, in that" True "$(rising)"
    fi
done
tap_done
