#!/bin/sh
# SPDX-License-Identifier: MIT
# What mini-NCCL launches its kernels with has the form of each release: names, numbers of
# functions, parameters or a buffer, works; where stock libraries are at hand, the numbers and
# the names are theirs.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

nccl=$top_srcdir/tests/doubles/nccl

# form RELEASE BYTES BITS, SUM MOST LEAST BROADCAST P2P: the size of a collective's work in the
# buffer and the bits of a function's number; the numbers that NCCL's own tables have
form()
{
    minor=${1#2.}
    minor=${minor%%.*}
    argument=P11ncclDevCommmP8ncclWork
    p2p="[recv 4000 with 1] [send 4000 with 1]"
    if [ "$minor" -ge 22 ]; then
        argument=24ncclDevKernelArgsStorageILm4096EE
        p2p="[p2p 4000 to 1, 4000 from 1]"
    fi
    if [ "$minor" -eq 18 ]; then
        set -- "$@" 40ncclKernel_AllReduce_RING_LL_Sum_int32_t \
            39ncclKernel_Broadcast_RING_LL_Sum_int8_t 42ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t
    elif [ "$minor" -lt 31 ]; then
        set -- "$@" 39ncclDevKernel_AllReduce_Sum_u32_RING_LL \
            31ncclDevKernel_Broadcast_RING_LL 22ncclDevKernel_SendRecv
    else
        set -- "$@" 32ncclDevKernel_AllReduce_u32_RING 28ncclDevKernel_Broadcast_RING \
            22ncclDevKernel_SendRecv
    fi
    reduced="_Z$9$argument channels 1 function"
    coll="[coll warps 4 root 0 recv 1 count 1000]"
    sum="$reduced $4 $coll"
    most="$reduced $5 $coll"
    least="$reduced $6 $coll"
    broadcast="_Z${10}$argument channels 1 function $7 [coll warps 4 root 1 recv 1 count 4000]"
    exchange="_Z${11}$argument channels 1 function $8 $p2p"
    same "$1: kernels, numbers and works" "$sum
sum: right
$most
most: right
$least
least: right
$broadcast
broadcast: right
$exchange
exchange: right
$sum
graph: right" "$(MININCCL_RELEASE=$1 timeout -s KILL 60 \
        "${top_builddir:?}/tests/doubles_tests/programs/forms" "$minor" "$2" "$3" 2>&1)"
}

form 2.18.3 96 15 4370 4730 4910 14 0
form 2.19.4 96 15 228 48 48 300 519
form 2.20.5 96 15 229 49 49 301 554
form 2.21.5 96 15 229 49 49 301 554
form 2.22.3 64 15 229 49 49 301 554
form 2.23.4 96 15 230 50 50 302 589
form 2.24.3 96 15 294 66 66 342 669
form 2.28.9 96 15 294 66 66 342 669
form 2.29.7 96 15 297 69 69 345 672
form 2.30.7 128 15 297 69 69 345 672
form 2.31.2 128 15 297 69 69 345 672
form 2.32.3 96 11 297 69 69 345 672

same "functions.def is what make-functions writes" "$(cat "$nccl/functions.def")" \
    "$(/usr/bin/python3 "$nccl/make-functions")"
for library in $(echo "${CCLTAP_REAL_NCCL:-}" | tr ':' ' '); do
    release=$(LC_ALL=C grep -a -o -m 1 'NCCL version 2\.[0-9]*\.[0-9]*' "$library" | sed 's/.* //;q')
    case $release in
    2.18.*)
        # Its numbers are a formula.
        same "$release has kernels of these names" 3 "$(nm "$library" |
            grep -c -w -e _Z40ncclKernel_AllReduce_RING_LL_Sum_int32_tP11ncclDevCommmP8ncclWork \
                -e _Z39ncclKernel_Broadcast_RING_LL_Sum_int8_tP11ncclDevCommmP8ncclWork \
                -e _Z42ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_tP11ncclDevCommmP8ncclWork)"
        ;;
    *)
        check "$release numbers its functions and names its kernels so" \
            /usr/bin/python3 "$nccl/make-functions" check "$release" "$library"
        ;;
    esac
done
[ -n "${CCLTAP_REAL_NCCL:-}" ] ||
    skip "CCLTAP_REAL_NCCL names no library: scripts/fetch-nccl gets one" "as stock libraries"
tap_done
