#!/bin/sh
# SPDX-License-Identifier: MIT
# What a program and RCCL ask of HIP, linked and looked up: each call that the HIP double
# wrote down is in the trace once, in order, with its kernel's name, grid, block and
# stream, and knows the call of RCCL that it was made in.
#
# WITHOUT=hipExtLaunchKernel tries it with a library that lacks this way in, and fails.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

program=$top_builddir/tests/doubles_tests/programs/hip
DOUBLE_HIP_LOG=$work/log
export DOUBLE_HIP_LOG
[ -z "${WITHOUT-}" ] || without "$WITHOUT"

agrees()
{
    babeltrace2 "$work/trace" | /usr/bin/python3 "$top_srcdir/tests/live/expect/hip.py" "$work/log"
}

for way in linked name version proc; do
    rm -rf "$work/log" "$work/trace"
    run 0 "$way: it is recorded" "$ccltap" record -o "$work/trace" -- "$program" "$way"
    same "$way: its results are HIP's" "0 failed, 1" "$(cat "$work/out")"
    check "$way: what was recorded is what was done" agrees
done
# HIP is opened after a call of another library was recorded: its events come then.
mv "$work/trace" "$work/proc"
doubles=$top_builddir/tests/doubles
cp "$work/log" "$work/all"
: >"$work/log"
run 0 "late: it is recorded" "$ccltap" record -o "$work/trace" -- /usr/bin/python3 -c "
import ctypes
ctypes.CDLL('$doubles/nccl/libnccl.so.2').ncclGetVersion(ctypes.byref(ctypes.c_int()))
hip = ctypes.CDLL('$doubles/hip/libamdhip64.so.6')
for i in range(3): hip.hipDeviceSynchronize()"
same "late: each call is in the trace" "3 3 3" "$(grep -c hipDeviceSynchronize "$work/log") \
$(babeltrace2 "$work/trace" >"$work/events" && grep -c ' cuda:hip.*_entry:' "$work/events") \
$(grep -c ' cuda:hip.*_exit: ' "$work/events")"
mv "$work/all" "$work/log"
rm -rf "$work/trace"
mv "$work/proc" "$work/trace"

same "HIP uses itself" 10 "$(grep -c '^inner hipStreamSynchronize' "$work/log")"

# The same comparison of what is not so.
sed '6d' "$work/log" >"$work/less"
mv "$work/less" "$work/log"
disagrees() { ! agrees; }
check "a call too many is noticed" disagrees

tap_done
