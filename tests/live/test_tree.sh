#!/bin/sh
# SPDX-License-Identifier: MIT
# Seven operations of two ranks, each of another kind: each is one tree of both ranks from its
# call to its last message, over sockets and over verbs.  expect/tree-*.txt has the trees without
# times and addresses; GOLDEN_UPDATE=1 writes them anew: read the difference.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# What differs from one run to the next: times, ids, addresses, and which rank is last.
without_times()
{
    sed -E -e '/^  critical path/,/^$/{/^$/!d}' \
        -e 's/^ +[-0-9.]+( [a-z]+)? +[-0-9.]+( [a-z]+)?(  +)/\3/' \
        -e 's/ [0-9]+\.[a-z]*[0-9][.a-z0-9]*//' -e 's/, pid .*//' \
        -e 's/ (pid|wr_id|qpNum|remote_addr|rkey|sendBuff|recvBuff|buff|stream|queue_ns|net_id|request|[A-Za-z_]*_ns|SendPeerWait_known)=[^ ]*//g' \
        -e 's/ on 0x[0-9a-f.]+/ on COMM/' "$1"
}

recorded() # NAME SETTING...
{
    name=$1
    shift
    run 0 "$name: the program is recorded" "$ccltap" record --gpu=all -o "$work/$name" -- \
        env "$@" NCCL_ALGO=ring NCCL_PROTO=simple NCCL_MIN_NCHANNELS=1 NCCL_MAX_NCHANNELS=1 \
        NCCL_MIN_P2P_NCHANNELS=1 NCCL_MAX_P2P_NCHANNELS=1 NCCL_NCHANNELS_PER_NET_PEER=1 \
        "$programs/flows"
    "$ccltap" timeline --tree -o "$work/$name.tree" "$work/$name"
    without_times "$work/$name.tree" >"$work/$name.txt"
    expect=$top_srcdir/tests/live/expect/tree-$name.txt
    [ -z "${GOLDEN_UPDATE-}" ] || cp "$work/$name.txt" "$expect"
    status=0
    diff -u "$expect" "$work/$name.txt" >"$work/diff" || status=1
    sed 's/^/# /' "$work/diff"
    ok $status "$name: the trees are as expected"
    "$ccltap" timeline --tree --format jsonl -o "$work/$name.jsonl" "$work/$name"
    check "$name: each thing is once in a tree, and every tree goes from the calls to the messages" \
        /usr/bin/python3 "$top_srcdir/tests/live/expect/tree.py" "$work/$name.jsonl"
}

cupti=$top_builddir/tests/doubles/cupti
recorded sockets NCCL_IB_DISABLE=1 "LD_LIBRARY_PATH=$cupti"
recorded verbs "SOFTVERBS_FABRIC=tree.$$" MININCCL_FLUSH=1 \
    "LD_LIBRARY_PATH=$top_builddir/tests/doubles/verbs:$cupti"

# The views have the spans of the proxy, too.
"$ccltap" timeline --format jsonl -o "$work/jsonl" "$work/verbs"
check "a trace of the spans is made" "$ccltap" timeline --format ctf --links -o "$work/ctf" "$work/verbs"
check "which tells what jsonl tells" /usr/bin/python3 "$top_srcdir/tests/lib/derived.py" \
    "$work/ctf" "$work/jsonl"
check "the text has them" sh -c "'$ccltap' timeline '$work/verbs' | grep -q ' ProxyOp #[0-9]* on '"
check "a tree is chosen by its number" sh -c \
    "[ \"\$('$ccltap' timeline --tree --op 3 '$work/verbs' | grep -c '^nccl')\" = 1 ]"
tap_done
