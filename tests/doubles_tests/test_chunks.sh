#!/bin/sh
# SPDX-License-Identifier: MIT
# How mini-NCCL cuts collectives is what each release of NCCL does: which messages rank 0 sends,
# worked out by hand from NCCL's source.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

program=${top_builddir:?}/tests/doubles_tests/programs/collectives
truth=$PWD/chunks.$$
trap 'rm -rf "$truth"' EXIT
MININCCL_TRUTH=$truth
NCCL_NET=Socket
export MININCCL_TRUTH NCCL_NET

# chunks WHAT RELEASE "ALGORITHM PROTOCOL CHANNELS" "CALL..." OP EXPECTED SETTING...: which messages
# rank 0 of two sends for the OP-th call of the group: "CHANNEL: COUNTxBYTES...", as often as
# the bytes change
chunks()
{
    chunks_release=$2
    chunks_what="$1 by $2"
    chunks_calls=$4
    chunks_op=$5
    chunks_expected=$6
    # Unquoted on purpose: three words, and below a call each.
    # shellcheck disable=SC2086
    set -- $3 "$@"
    chunks_algorithm=$1
    chunks_protocol=$2
    chunks_channels=$3
    shift 9
    rm -rf "$truth"
    mkdir "$truth"
    # shellcheck disable=SC2086
    check "$chunks_what: all values are right" env MININCCL_RELEASE="$chunks_release" \
        NCCL_ALGO="$chunks_algorithm" NCCL_PROTO="$chunks_protocol" \
        NCCL_MIN_NCHANNELS="$chunks_channels" "$@" timeout -s KILL 60 "$program" 2 $chunks_calls
    same "$chunks_what: which messages" "$chunks_expected" "$(cat "$truth"/truth.* |
        /usr/bin/python3 -c "
import itertools, json, sys
sent = [r for r in map(json.loads, sys.stdin) if r['record'] == 'message' and
        (r['rank'], r['direction'], r['op']) == (0, 'send', $chunks_op)]
sent.sort(key=lambda r: (r['channel'], r['step']))
print('; '.join(
    f'{channel}: ' + ' '.join(f'{len(list(equal))}x{size}' for size, equal in
        itertools.groupby(r['bytes'] for r in of_channel))
    for channel, of_channel in itertools.groupby(sent, key=lambda r: r['channel'])))")"
}

# A ring all-reduce of two ranks has two chunks in a loop, of which rank 0 sends chunk 1 first.
# With SIMPLE each is two messages of 16 * ceil(elements / 32), of 8192 at least.  A message of LL
# has twice the data's bytes, one of LL128 2048 for each 1920 or part of them.  All have 512
# threads (LL, and SIMPLE besides those that do not move data) or 640 (LL128), as their bytes are
# more than channels * threads * 64 with SIMPLE, 8 with flags, 16 in a ring with LL.

# 2.18 and 2.19, where all channels share each loop.
#
# One loop: a chunk of ceil(700001 / 4) = 175001, in whole 512 * 8 bytes 175104: two messages of
# 87552.  The last one has 700001 - 3 * 175104 = 174689: 87360 + 87329.
chunks "a ring with SIMPLE" 2.18.3 "ring simple 2" r700001 0 \
    "0: 4x350208; 1: 1x349440 1x349316 2x350208"
# As a loop has 6 chunks of 8192, it is one: chunks of ceil(6200 / 6) in whole 512 * 2: 2048.
# Chunk c of channel b is the (3 * c + b)-th: of the second ones channel 0 has
# 6200 - 3 * 2048 = 56, the others nothing.
chunks "a ring with LL" 2.18.3 "ring ll 3" r6200 0 \
    "0: 1x448 1x16384; 1: 1x0 1x16384; 2: 1x0 1x16384"
# All ranks have 24584 bytes, over 3 * 2 chunks 4098, in whole 512 * 8 bytes 8192: of 12292
# that makes 8192 and 4100, and nothing for the third channel, which has its message all the same.
chunks "an all-gather with LL" 2.18.3 "ring ll 3" g3073 0 "0: 1x16384; 1: 1x8208; 2: 1x0"
# A chunk is 8192 bytes.  Of 40000 the first loop has 3 * 8192; then 80000 - 6 * 8192 = 30848 of
# both ranks are 5142 in each of 6 chunks, rounded up 8192: that, 7232, and nothing.
chunks "an all-gather of two loops" 2.19.4 "ring ll 3" g10000 0 \
    "0: 2x16384; 1: 1x16384 1x14464; 2: 1x16384 1x0" NCCL_LL_BUFFSIZE=131072
# A chunk is 144000, 4 in the first loop.  124001 are left, over 4 chunks in whole
# 640 * 15 / 2 = 4800: 33600, and the last one 23201.
chunks "a ring with LL128" 2.18.3 "ring ll128 2" r700001 0 \
    "0: 2x614400 2x143360; 1: 2x614400 1x100352 1x143360"
# Without that half: 700004 bytes over 3 chunks in whole 640 * 60 = 38400: 268800, 268800, 162404.
chunks "a broadcast with LL128" 2.19.4 "ring ll128 3" b175001 0 \
    "0: 1x286720; 1: 1x286720; 2: 1x174080"
# With the half: in whole 19200, of which 13 are 249600; the third one has 200804.
chunks "an all-gather with LL128" 2.19.4 "ring ll128 3" g175001 0 \
    "0: 1x266240; 1: 1x266240; 2: 1x215040"
# A chunk is a step of 524288 bytes.  After two loops 702852 bytes are left, over 2 in whole 4096
# bytes 352256, and 350596.
chunks "a broadcast with SIMPLE" 2.19.4 "ring simple 2" b700001 0 \
    "0: 2x524288 1x352256; 1: 2x524288 1x350596"
# A tree of two nodes is 1 deep: 2800004 / (2 * 131072) = 10 is the first that is 8.  10 loops are
# whole, of 44641 one channel has 32768 and the other 11873.
chunks "a tree with SIMPLE" 2.18.3 "tree simple 2" r700001 0 \
    "0: 11x131072; 1: 10x131072 1x47492"
# Less than a loop: 3000 over 2 in whole 512 * 2: 2048 and 952.
chunks "a tree with LL" 2.18.3 "tree ll 2" r3000 0 "0: 1x16384; 1: 1x7616"
# 1 + log2(2) + 0.1 = 2.1: with its flags a chunk is halved to 76800 for 2.1 * 64, and as
# 2800004 / (2 * 76800) = 18 is less than 2.1 * 16, to 38400: 9000 elements.  38 loops are whole;
# then 9000 and 7001.
chunks "a tree with LL128" 2.19.4 "tree ll128 2" r700001 0 \
    "0: 39x38912; 1: 38x38912 1x30720"
# A chunk is 19200 with its flags, 4500 elements, and a loop more than 5000: over 2 in whole
# 640 * 15 / 8 = 1200 that is 3600, and 1400.
chunks "a short tree with LL128" 2.18.3 "tree ll128 2" r5000 0 "0: 1x16384; 1: 1x6144"
# 244000 bytes in all: 65536 are worth a channel, as 3 times as many are less.  The first call
# takes the channels 0 and 1, then the second 2 in the place of 0, and 1; the third one 0.
# 30000 / 4 in whole 1024 is 8192, one message and an empty one; the last has 5424.
chunks "the channels with least" 2.18.3 "ring simple 3" "r30000 r30000 r1000" 1 \
    "1: 1x21696 1x0 1x32768 1x0; 2: 1x32768 1x0 1x32768 1x0"
chunks "and the next one" 2.18.3 "ring simple 3" "r30000 r30000 r1000" 2 "0: 2x0 1x4000 1x0"

# 2.20 and 2.21, where channels are filled up one after another.
#
# 24800 / 3 in whole 16 bytes is 8272, or 2068, in whole 512 * 2 3072; twice, and 56 are left.
# Chunks are of whole 1024, too: 3072 / 2 makes 2048 and 1024; 56 are one, and the other empty.
chunks "a ring with LL" 2.20.5 "ring ll 3" r6200 0 \
    "0: 1x8192 1x16384; 1: 1x8192 1x16384; 2: 1x0 1x448"
# 12292 / 3 is 8192 in whole 4096; twice that is more than there is, and the third has no part.
chunks "an all-gather with LL" 2.21.5 "ring ll 3" g3073 0 "0: 1x16384; 1: 1x8208"
# 700004 / 3 in whole 16 is 233344, or 58336, in whole 480 / 4 * 20 = 2400 60000; then 55001.
chunks "a reduce-scatter with LL128" 2.21.5 "ring ll128 3" s175001 0 \
    "0: 1x256000; 1: 1x256000; 2: 1x235520"
# As by 2.18, but in other places.  1400016 bytes are 350208 in whole 4096 bytes; chunks likewise.
chunks "a ring with SIMPLE" 2.21.5 "ring simple 2" r700001 0 \
    "0: 4x350208; 1: 1x349440 1x349316 2x350208"
# The larger one is first: of 2000016 bytes a channel, in whole 2400, it has 501600 on channel 0 and
# 198401 on 1, where all of the other has room.  That counts as two channels in 2.20, as both
# together, and has chunks of 36000 bytes as 4000004 / (2 * 72000) = 27 is less than 2.1 * 16; in
# 2.21 as one by its own 1200000, and 4000004 / 72000 = 55 is not.
chunks "a tree with LL128 in a group" 2.20.5 "tree ll128 2" "r300000 r700001" 0 \
    "1: 33x38912 1x14336"
chunks "a tree with LL128 in a group" 2.21.5 "tree ll128 2" "r300000 r700001" 0 \
    "1: 16x77824 1x51200"

# From 2.22 on, where a collective is of cells, of which each channel has a number.
#
# Of 16 bytes: 1550 cells, traffic 49600 / 3 = 16533 are 516 cells for the first channel and 517
# for each other: 2064 = 2 * 1032 and 2068 = 1036 + 1032.
chunks "cells of 16 bytes" 2.22.3 "ring ll 3" r6200 0 \
    "0: 2x8256; 1: 1x8256 1x8288; 2: 1x8256 1x8288"
# The smaller one is first and takes 8000 of 248000 / 3 = 82666: 2333 cells for the other, then
# 2584 and 2583: 9332 = 4668 + 4664, 10336 = 2 * 5168, 10332 = 5168 + 5164.
chunks "what is left of a channel" 2.22.3 "ring simple 3" "r30000 r1000" 0 \
    "0: 1x18656 1x0 1x18672 1x0; 1: 1x20672 1x0 1x20672 1x0; 2: 1x20656 1x0 1x20672 1x0"
# Of 16384 / 2 = 8192 bytes: 4 cells, and two for 16533: 4096 = 2 * 2048, 2104 = 2 * 1052.
chunks "cells of the least traffic" 2.25.1 "ring ll 3" r6200 0 "0: 2x16384; 1: 2x8416"
# LL counts four times: 2048 bytes, 13 cells, 5 for 66133: 2560 twice, and 1080.
chunks "cells with LL" 2.28.9 "ring ll 3" r6200 0 "0: 2x10240; 1: 2x10240; 2: 2x4320"
# Twice as large: 4096 bytes, 7 cells, 3 for 66144: 3072 twice, and 56.
chunks "larger cells with LL" 2.30.7 "ring ll 3" r6200 0 "0: 2x12288; 1: 2x12288; 2: 2x224"

# What no NCCL does, on one channel, by all rules: 700001 are one loop of two chunks of 524288, each
# in two messages of two steps; two loops of 2 * 262144; or six of 2 * 65536.
mutant() # MESSAGES SETTING
{
    for release in 2.18.3 2.20.5 2.21.5 2.22.3 2.30.7; do
        rm -rf "$truth"
        mkdir "$truth"
        check "$2 by $release: all values are right" env MININCCL_RELEASE=$release NCCL_ALGO=ring \
            NCCL_PROTO=simple "$2" timeout -s KILL 60 "$program" 2 r700001
        same "$2 by $release: how many messages" "$1" \
            "$(cat "$truth"/truth.* | grep '"record":"message"' | grep '"rank":0' |
                grep -c '"direction":"send"')"
    done
}
mutant 4 MININCCL_SLICE_STEPS=2
mutant 8 MININCCL_SLICE_STEPS=1
mutant 2 MININCCL_SLICE_STEPS=4
mutant 4 MININCCL_CHUNK_STEPS=2
mutant 24 MININCCL_CHUNK_DIVISOR=8
tap_done
