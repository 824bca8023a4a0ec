#!/bin/sh
# SPDX-License-Identifier: MIT
# LTTng comes later than the program waits for it: what was made by then is told all the
# same, and a process that has ended by then is said not to be recorded.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

NCCL_IB_DISABLE=1
export NCCL_IB_DISABLE
# What it is by default; the other tests wait longer, for machines that have much to do.
unset LTTNG_UST_REGISTER_TIMEOUT

# ccltap record puts its own library in front.
recorded() # TRACE SECONDS
{
    LD_PRELOAD=$programs/slow.so "$ccltap" record -o "$work/$1" -- "$programs/slow" "$2"
}

run 0 "a program that goes on while LTTng is late" recorded late 3
same "it says what it says" ok "$(cat "$work/out")"
babeltrace2 "$work/late" >"$work/late.txt" 2>/dev/null
check "calls are missing, and that is said" \
    grep -q 'tap:problem.*calls made before LTTng was there' "$work/late.txt"
check "the communicator that they made is there" grep -q 'tap:statedump_comm:' "$work/late.txt"
check "so are later calls, on it" grep -q 'nccl:ncclCommCount_entry.*comm_id = 1' "$work/late.txt"

run 0 "one that ends before" recorded early 0
check "it is said not to be recorded" grep -q 'it ended before LTTng was there' "$work/err"
tap_done
