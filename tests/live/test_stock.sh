#!/bin/sh
# SPDX-License-Identifier: MIT
# Stock libraries from NVIDIA, linked and looked up: what the program prints is the same
# as without us, and each of its calls is in the trace once, with its caller.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

python=/usr/bin/python3
# A machine with a GPU initialises; what is wanted here is the failure.
CUDA_VISIBLE_DEVICES=
export CUDA_VISIBLE_DEVICES

try() # NAME PRELOADED-CALLER COMMAND...
{
    try_name=$1
    try_caller=$2
    shift 2
    "$@" >"$work/bare" 2>/dev/null || true
    run 0 "$try_name: records" "$ccltap" record -o "$work/$try_name" -- "$@"
    same "$try_name: the program's output is its own" "$(cat "$work/bare")" "$(cat "$work/out")"
    check "$try_name: reads" "$ccltap" timeline --format jsonl -o "$work/$try_name.jsonl" "$work/$try_name"
    check "$try_name: every call once, with result and caller" \
        "$python" "$top_srcdir/tests/live/expect/stock.py" "$work/out" "$work/$try_name.jsonl" "$try_caller"
}

if [ -z "${CCLTAP_REAL_NCCL-}" ]; then
    skip "CCLTAP_REAL_NCCL names no library: scripts/fetch-nccl gets one" "a stock libnccl.so.2"
fi
for library in $(echo "${CCLTAP_REAL_NCCL-}" | tr ':' ' '); do
    release=$(basename "$(dirname "$library")")
    try "linked-$release" calls env LD_LIBRARY_PATH="$(dirname "$library")" "$programs/calls"
    try "ctypes-$release" libffi.so $python "$top_srcdir/tests/live/programs/calls.py" "$library"
    run 0 "threads-$release: records" "$ccltap" record -o "$work/threads-$release" -- \
        $python "$top_srcdir/tests/live/programs/bootstrap.py" "$library"
    check "threads-$release: reads" "$ccltap" timeline --format jsonl \
        -o "$work/threads-$release.jsonl" "$work/threads-$release"
    check "threads-$release: the thread of ncclGetUniqueId is known" \
        $python "$top_srcdir/tests/live/expect/stock_threads.py" "$work/threads-$release.jsonl" \
        bootstrap
done

case ${CCLTAP_REAL_NCCL-} in
*:*)
    # shellcheck disable=SC2046 # a list of words
    set -- $(echo "$CCLTAP_REAL_NCCL" | tr ':' ' ')
    "$python" "$top_srcdir/tests/live/programs/wheels.py" "$@" >"$work/bare" 2>/dev/null || true
    run 0 "several releases in one process" "$ccltap" record -o "$work/wheels" -- \
        "$python" "$top_srcdir/tests/live/programs/wheels.py" "$@"
    same "each answers as ever" "$(cat "$work/bare")" "$(cat "$work/out")"
    check "its timeline reads" "$ccltap" timeline --format jsonl -o "$work/wheels.jsonl" \
        "$work/wheels"
    check "no call reaches the wrong one" "$python" "$top_srcdir/tests/live/programs/wheels.py" \
        --check "$work/out" "$work/wheels.jsonl" "$@"
    ;;
*) skip "CCLTAP_REAL_NCCL does not name two libraries" "several releases in one process" ;;
esac

tap_done
