#!/bin/sh
# SPDX-License-Identifier: MIT
# What goes wrong, or is odd, goes wrong as it does without us: the same results and the
# same errno, and what was done is in the trace.
set -eu
# shellcheck source=tests/cuda/cuda.inc.sh
. "${top_srcdir:?}/tests/cuda/cuda.inc.sh"

# alike SENTENCE COMMAND...: it prints the same without us, and when it is recorded.
alike()
{
    alike_sentence=$1
    shift
    alike_bare=$("$@" 2>&1 || echo "status $?")
    recorded alike "$@"
    alike_with=$(cat "$work/out"; [ $recorded_status = 0 ] || echo "status $recorded_status")
    same "$alike_sentence: it does the same" "$alike_bare" "$alike_with"
    same "$alike_sentence: errno is kept" 0 "$(grep -c "errno changed" "$work/out" || :)"
}

DOUBLE_CUDA_FAIL=2:700
export DOUBLE_CUDA_FAIL
alike "a launch that fails" "$cuda/harm" fails
check "it is recorded with its result" agrees cuLaunchKernel=3
same "which is the driver's" "0 700 0" "$(sed -n \
    's/.* cuda:cuLaunchKernel: .* result = \([0-9]*\),.*/\1/p' "$work/events" | xargs)"
unset DOUBLE_CUDA_FAIL
alike "null arguments" "$cuda/harm" null
check "they are recorded" grep -q ' cuda:cuLaunchKernelEx: ' "$work/events"
alike "odd questions to cuGetProcAddress()" "$cuda/harm" asks
DOUBLE_CUDA_VERSION=11080
export DOUBLE_CUDA_VERSION
alike "the same of an older driver" "$cuda/harm" asks
unset DOUBLE_CUDA_VERSION
alike "a child that uses its parent's driver" "$cuda/harm" forks
check "what the child asked is recorded too" agrees cuLaunchKernel=3
alike "a driver that is closed and opened again" \
    env LD_LIBRARY_PATH="$cuda/inside" "$cuda/again" 5
same "all its lives are recorded" 20 "$(grep -c ' cuda:cuLaunchKernel: ' "$work/events")"
alike "a driver that comes and goes with a library that is linked to it" \
    "$cuda/again" 5 "$cuda/plugin.so"
same "all its lives are recorded, too" 5 "$(grep -c ' cuda:cuLaunchKernel: ' "$work/events")"

alike "a driver that uses itself" "$cuda/outside" 10
same "only what the program asked is recorded" "20 0" "$(
    grep -c ' cuda:cuLaunchKernel: ' "$work/events") $(
    grep -cE ' cuda:(cuMemcpyAsync|cuStreamSynchronize_entry): ' "$work/events" || :)"

# A kernel that never ends.
because()
{
    grep -Eq "^snapshot $1" "$work/trace/$host/ccltap-recording" 2>/dev/null
}
rm -f "$DOUBLE_CUDA_LOG"
"$ccltap" record -o "$work/trace" --flight-recorder=4M --stuck-after=1 --min-interval=1 -- \
    "$cuda/harm" hangs >"$work/out" 2>"$work/err" </dev/null &
recorder=$!
trap 'kill -KILL $recorder 2>/dev/null || true; rm -rf "$work"' EXIT
check "a wait that does not return is a reason for a snapshot" \
    within 30 because 'process [0-9]*: cuStreamSynchronize has not returned for [0-9]* s'
pid=$(sed -n 's/^snapshot process \([0-9]*\): .*/\1/p' "$work/trace/$host/ccltap-recording" |
    head -n 1)
babeltrace2 "$work/trace" >"$work/events"
check "which says so while it waits" grep -E \
    ' tap:(statedump_thread|open_call): .*function = "cuStreamSynchronize"' "$work/events"
kill -KILL "$pid"
wait $recorder || :

tap_done
