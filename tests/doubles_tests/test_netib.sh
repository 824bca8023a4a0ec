#!/bin/sh
# SPDX-License-Identifier: MIT
# What NET/IB of mini-NCCL asks of libibverbs is what NCCL's asks, of the same release and for
# the same messages: kinds, sizes, order, immediate data, wr_id, queues and regions.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

doubles=${top_builddir:?}/tests/doubles
netib=$top_builddir/tests/doubles_tests/netib/netib
work=$PWD/netib.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT
SOFTVERBS_FABRIC=netib.$$
SOFTVERBS_DEVICES=2
LD_LIBRARY_PATH=$doubles/verbs:$doubles/cuda
export SOFTVERBS_FABRIC SOFTVERBS_DEVICES LD_LIBRARY_PATH

# asked FILE LIBRARY WORD...: settings and options; sorted by stream, each in its own order.
asked()
{
    asked_to=$1
    shift
    asked_of=$1
    shift
    asked_set='' asked_options=''
    for word; do
        case $word in
        -*) asked_options="$asked_options $word" ;;
        *=*) asked_set="$asked_set $word" ;;
        *) asked_options="$asked_options $word" ;;
        esac
    done
    # Unquoted on purpose: words.
    # shellcheck disable=SC2086
    if ! env $asked_set timeout -s KILL 60 "$netib" $asked_options "$asked_of" \
        >"$work/raw" 2>"$work/err"; then
        sed 's/^/# /' "$work/err"
        return 1
    fi
    sort -s -k 1,1 "$work/raw" >"$asked_to"
}

# same_as LIBRARY RELEASE WHAT WORD...
same_as()
{
    same_library=$1 same_release=$2 same_what="$2: $3"
    shift 3
    if ! asked "$work/real" "$same_library" "$@" ||
        ! asked "$work/double" "$doubles/nccl/libnccl.so.2" \
            "MININCCL_RELEASE=$same_release" "$@"; then
        ok 1 "$same_what"
        return
    fi
    if [ -n "$only_messages" ]; then
        sed -i '/^cache/!{ /^[a-z]*\.\(make\|end\) /d }' "$work/real" "$work/double"
    fi
    status=0
    diff "$work/real" "$work/double" >"$work/diff" || status=1
    head -n 20 "$work/diff" | sed 's/^/# /'
    # Of an empty file nothing would be learnt.
    [ "$(grep -c '\.post ' "$work/double")" -ge 700 ] || status=1
    ok "$status" "$same_what"
}

# Before 2.24 the order in which queues are made is another one; what is posted is the same, and
# what is registered at last.
older_of()
{
    only_messages=yes
    # 2.20 to 2.23 compare the adapters' places on the bus, which these do not have.
    NCCL_IB_MERGE_NICS=0
    export NCCL_IB_MERGE_NICS
    same_as "$1" "$2" "plain"
    same_as "$1" "$2" "receives of up to eight" --groups 8
    same_as "$1" "$2" "four queue pairs in turn" NCCL_IB_QPS_PER_CONNECTION=4 \
        NCCL_IB_SPLIT_DATA_ON_QPS=0
    same_as "$1" "$2" "messages in four pieces" --groups 3 NCCL_IB_QPS_PER_CONNECTION=4 \
        NCCL_IB_SPLIT_DATA_ON_QPS=1
    same_as "$1" "$2" "adaptive routing" --groups 2 NCCL_IB_ADAPTIVE_ROUTING=1
    unset NCCL_IB_MERGE_NICS
    only_messages=
}

all_of()
{
    same_as "$1" "$2" "plain"
    same_as "$1" "$2" "receives of up to eight" --groups 8
    same_as "$1" "$2" "four queue pairs in turn" NCCL_IB_QPS_PER_CONNECTION=4
    same_as "$1" "$2" "messages in four pieces" --groups 3 NCCL_IB_QPS_PER_CONNECTION=4 \
        NCCL_IB_SPLIT_DATA_ON_QPS=1
    same_as "$1" "$2" "adaptive routing" NCCL_IB_ADAPTIVE_ROUTING=1
    same_as "$1" "$2" "InfiniBand" SOFTVERBS_LINK=infiniband
    same_as "$1" "$2" "inline" NCCL_IB_USE_INLINE=1
    same_as "$1" "$2" "two adapters made one" --merge 2
    same_as "$1" "$2" "all of that" --merge 2 --groups 8 NCCL_IB_ADAPTIVE_ROUTING=1 \
        NCCL_IB_QPS_PER_CONNECTION=2 NCCL_IB_SPLIT_DATA_ON_QPS=1
    same_as "$1" "$2" "other sizes and another order" --seed 7 --groups 4 --receives 900
}

# What 2.29.7 brought.
newer_of()
{
    same_as "$1" "$2" "matched by number" NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME=1
    same_as "$1" "$2" "receives that were posted beforehand" NCCL_IB_QPS_PER_CONNECTION=2 \
        NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS=1 NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME=1
}

# Receives that were posted beforehand have no slot, and without one neither knows what came:
# it fails after the same messages.
# lost_by LIBRARY RELEASE FILE
lost_by()
{
    status=0
    NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS=1 MININCCL_RELEASE=$2 timeout -s KILL 60 \
        "$netib" "$1" >"$work/raw" 2>"$work/err" || status=$?
    sort -s -k 1,1 "$work/raw" >"$3"
    same "$2: a receive without a slot is lost" "1: netib: test: NCCL's result 3" \
        "$status: $(cat "$work/err")"
}

lost_of()
{
    lost_by "$1" "$2" "$work/real"
    lost_by "$doubles/nccl/libnccl.so.2" "$2" "$work/double"
    check "$2: and that after the same messages" cmp "$work/real" "$work/double"
}

# 2.29.7 has it too, and fails with it.
resilient_of()
{
    same_as "$1" "$2" "prepared for the failure of a port" --merge 2 --groups 4 \
        NCCL_IB_QPS_PER_CONNECTION=2 NCCL_IB_RESILIENCY_PORT_FAILOVER=1
}

# NCCL looks for a GPU's driver there.
flushed='mount -t tmpfs tmpfs /sys/kernel/mm && mkdir -p /sys/kernel/mm/memory_peers/nv_mem &&
    : >/sys/kernel/mm/memory_peers/nv_mem/version'

# flushed_by LIBRARY RELEASE FILE
flushed_by()
{
    # shellcheck disable=SC2016 # the inner shell's
    NCCL_IB_QPS_PER_CONNECTION=2 MININCCL_RELEASE=$2 unshare -m sh -c \
        "$flushed"'; exec timeout -s KILL 60 "$0" --flush --groups 2 --merge 2 "$1"' \
        "$netib" "$1" 2>"$work/err" | sort -s -k 1,1 >"$3"
}

flushed_of()
{
    if ! unshare -m sh -c "$flushed" 2>/dev/null; then
        skip "no mount namespace can be made: not root" "$2: flushed"
        return
    fi
    flushed_by "$1" "$2" "$work/first"
    flushed_by "$doubles/nccl/libnccl.so.2" "$2" "$work/second"
    status=0
    diff "$work/first" "$work/second" >"$work/diff" || status=1
    head -n 20 "$work/diff" | sed 's/^/# /'
    # Reads.
    grep -q '\[opcode 4 ' "$work/second" || status=1
    ok "$status" "$2: flushed"
}

seen='' only_messages=''
for library in $(echo "${CCLTAP_REAL_NCCL-}:${CCLTAP_MORE_NCCL-}" | tr ':' ' '); do
    release=$("$netib" --describe "$library" 2>/dev/null | sed -n 's/^NCCL \([0-9.]*\),.*/\1/p')
    case $release in
    2.1?.* | 2.2[0-3].*) older_of "$library" "$release" ;;
    2.2[4-7].*) all_of "$library" "$release" ;;
    2.28.*)
        all_of "$library" "$release"
        flushed_of "$library" "$release"
        seen="$seen 2.28"
        ;;
    2.29.* | 2.3?.*)
        all_of "$library" "$release"
        newer_of "$library" "$release"
        [ "$release" = 2.29.3 ] || lost_of "$library" "$release"
        [ "${release%.*}" = 2.29 ] || resilient_of "$library" "$release"
        flushed_of "$library" "$release"
        seen="$seen ${release%.*}"
        ;;
    esac
done
# The same of another release is noticed.
asked "$work/other" "$doubles/nccl/libnccl.so.2" MININCCL_RELEASE=2.28.9
asked "$work/double" "$doubles/nccl/libnccl.so.2" MININCCL_RELEASE=2.29.7
check "another release asks for something else" sh -c "! cmp -s '$work/other' '$work/double'"
# 2.30 is compared with scripts/check --long, which fetches it.
for wanted in 2.28 2.32; do
    case "$seen " in
    *" $wanted "*) ;;
    *) skip "CCLTAP_REAL_NCCL names none: scripts/fetch-nccl gets one" "a release $wanted" ;;
    esac
done
tap_done
