#!/bin/sh
# SPDX-License-Identifier: MIT
# What can be seen from outside of collectives between windows: kernels of another name, or
# batches of copies between two of memory operations, and no message of theirs.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

configuration=${top_builddir:?}/tests/doubles_tests/programs/configuration
work=$PWD/symmetric.$$
trap 'rm -rf "$work"' EXIT

# seen RULE OPERATION ARGUMENT...: a run agrees with a rule of windows.py
seen()
{
    seen_rule=$1
    seen_operation=$2
    shift 2
    rm -rf "$work"
    mkdir "$work"
    check "$seen_operation, $* gives right data" env MININCCL_TRUTH="$work" \
        DOUBLE_CUDA_LOG="$work/cuda" "$configuration" ranks=3 operation="$seen_operation" "$@"
    check "$seen_operation, $*: $seen_rule" /usr/bin/python3 \
        "$top_srcdir/tests/doubles_tests/expect/windows.py" "$work" 3 "$seen_rule"
}

seen kernels all-gather transport=windows
seen kernels all-reduce transport=windows rounds=8
seen kernels reduce-scatter transport=windows rounds=8
seen kernels all-gather transport=windows release=2.27.7
# Those that are sends and receives stay so.
seen messages all-to-all transport=windows
for operation in all-gather all-to-all gather scatter; do
    seen batches $operation transport=copies
done
# What copy engines do not do, and where there is none of it.
seen messages broadcast transport=copies
seen messages gather transport=copies release=2.27.7
# NCCL's own settings.
NCCL_WIN_ENABLE=0 seen messages all-gather transport=copies
NCCL_SYM_KERNEL=AllGather_ST seen kernels all-gather transport=windows
check "a kernel is chosen by its name" sh -c "! grep -h '\"launch\"' '$work'/truth* | grep -q AllGather_LL"
tap_done
