#!/bin/sh
# SPDX-License-Identifier: MIT
# Trace Compass's views of the bundled program: two ranks are on one screen, an operation is on
# every row that it passes, and of four ranks each has its rows.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

allreduce=$top_builddir/examples/allreduce
xml=$top_srcdir/share/ccltap/tracecompass/ccltap.xml

recorded() # RANKS
{
    run 0 "$1 ranks are recorded" "$ccltap" record --gpu=all -o "$work/$1" -- env \
        NCCL_IB_DISABLE=0 SOFTVERBS_FABRIC="tracecompass.$$.$1" \
        "LD_LIBRARY_PATH=$top_builddir/tests/doubles/verbs:$top_builddir/tests/doubles/cupti" \
        "$allreduce" -n "$1" -i 3 -c 10000
    check "a trace of the calls of $1 ranks is made" "$ccltap" timeline --format ctf \
        -o "$work/calls-$1" "$work/$1"
    check "its views are read" sh -c "/usr/bin/python3 '$top_srcdir/tests/lib/tracecompass.py' \
        --lines '$xml' '$work/calls-$1' >'$work/lines-$1'"
}

# overview RANKS: its lines, without what another run numbers anew, each kind once.
overview()
{
    sed -En 's/^Overview: //p' "$work/lines-$1" | sed -E 's/\(pid [0-9]+\)/(pid P)/
        s/calls [0-9]+/calls T/; s/(gpu|stream|qp) [0-9]+/\1 N/g; s/rank [0-9]+/rank R/g' | sort -u
}

recorded 2
count=$(grep -c '^Overview: ' "$work/lines-2")
check "the overview of two ranks has at most 40 lines: $count" test "$count" -le 40
for row in 'calls T | calls 0' 'calls T | launches 0' 'gpu N | stream N 0' \
    'net to rank R' 'net from rank R'; do
    check "it has a line \"$row\"" sh -c "echo '$(overview 2)' | grep -qxF 'rank R (pid P) | $row'"
done
check "a rank is missing in no line" sh -c "! grep '^Overview: pid ' '$work/lines-2'"

# labels EVENT WORDS: the events of an operation, the same on all of its rows.
labels()
{
    babeltrace2 "$work/calls-2" | grep " ccltap:$1: .*$2" | grep -c 'label = "AllReduce #2 39 KiB"' || true
}
same "an operation's calls have its label" 2 "$(labels begin 'name = "ncclAllReduce"')"
same "its launches have it" 2 "$(labels begin 'name = "cuLaunchKernelEx"')"
same "its kernels have it" 2 "$(labels begin 'name = "kernel"')"
check "its messages have it" test "$(labels wire_begin 'name = "net_send"')" -ge 1
check "and their work requests" test "$(labels wire_begin 'name = "RDMA_WRITE')" -ge 1

recorded 4
same "four ranks are four rows" 4 "$(grep -Ec '^Overview: rank [0-3] \(pid [0-9]+\)$' "$work/lines-4")"
tap_done
