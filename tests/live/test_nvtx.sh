#!/bin/sh
# SPDX-License-Identifier: MIT
# What is told to NVTX: NCCL's calls where no wrapper stands in the way, and the program's
# own ranges where that was asked for.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

python=/usr/bin/python3
ours=$(realpath "$CCLTAP_LIBDIR")/libccltap.so
unset NVTX_INJECTION64_PATH CCLTAP_NVTX
CUDA_VISIBLE_DEVICES=
export CUDA_VISIBLE_DEVICES

# try NAME WHAT PROGRAM RECORD-OPTION... -- BEFORE-THE-PROGRAM...
try()
{
    try_name=$1
    try_what=$2
    try_program=$3
    shift 3
    run 0 "$try_name: is recorded" "$ccltap" record -o "$work/$try_name" "$@" "$try_program"
    same "$try_name: what the program is answered is as without" \
        "$("$try_program")" "$(cat "$work/out")"
    if [ "$try_what" = none ]; then
        said "$try_name: nothing is there to see" "nothing was attached"
        return
    fi
    check "$try_name: reads" "$ccltap" timeline --format jsonl -o "$work/$try_name.jsonl" \
        "$work/$try_name"
    check "$try_name: what was told is there, once" \
        "$python" "$top_srcdir/tests/live/expect/nvtx.py" "$work/$try_name.jsonl" "$try_what"
}

try calls calls "$programs/nvtx" --
try later calls "$programs/nvtx-later" --
try ranges ranges "$programs/nvtx" --nvtx --
run 0 "a told call and a wrapped one" "$ccltap" record -o "$work/mixed" -- \
    "$programs/nvtx" "$top_builddir/tests/link/programs/copy1.so"
check "its timeline reads" "$ccltap" timeline --format jsonl -o "$work/mixed.jsonl" "$work/mixed"
check "the inner one knows the outer one" \
    "$python" "$top_srcdir/tests/live/expect/nvtx.py" "$work/mixed.jsonl" mixed
# NVTX opens the library by itself.
try alone ranges "$programs/nvtx" --nvtx -- env -u LD_PRELOAD
try untold none "$programs/nvtx" -- env -u NVTX_INJECTION64_PATH
if [ -e "${CUDA_HOME:-/none}/include/nvtx3/nvToolsExtPayload.h" ]; then
    # shellcheck disable=SC2086 # it may have options
    check "compiles against the real headers" ${CC:-cc} -DREAL_NVTX -pthread \
        -I"$CUDA_HOME/include" -o "$work/nvtx-real" "$top_srcdir/tests/live/programs/nvtx.c"
    try real ranges "$work/nvtx-real" --nvtx --
else
    skip "no NVTX headers; they come with the CUDA toolkit" "the real headers"
fi

# Somebody else's stays.
other=$work/other.so
# shellcheck disable=SC2016
run 0 "another tool of NVTX's" env NVTX_INJECTION64_PATH="$other" \
    "$ccltap" record -o "$work/other" -- \
    sh -c 'echo "$NVTX_INJECTION64_PATH"; exec "$0"' "$programs/nvtx"
same "it is kept" "$other" "$(head -n 1 "$work/out")"
said "what that means is told" "NVTX_INJECTION64_PATH names another tool"
# shellcheck disable=SC2016
run 0 "a library that is linked, too" env NVTX_INJECTION64_PATH="$other" \
    "$ccltap" record -o "$work/both" -- "$top_builddir/examples/allreduce"
for injection in "$other:both" "$ours:calls"; do
    same "the trace says who is told: ${injection#*:}" 0 "$(
        "$ccltap" timeline --format jsonl "$work/${injection#*:}" | grep '"type":"process"' |
            grep -vcF "\"nvtx_injection\":\"${injection%:*}\"")"
done

# shellcheck disable=SC2016
show='eval "$("$0" env $1)"; echo "$NVTX_INJECTION64_PATH ${CCLTAP_NVTX-unset}"'
same "env names the tracer" "$ours unset" "$(sh -c "$show" "$ccltap" "")"
same "and asks for ranges" "$ours 1" "$(sh -c "$show" "$ccltap" --nvtx)"
same "env leaves another tool" "$other unset" \
    "$(NVTX_INJECTION64_PATH=$other sh -c "$show" "$ccltap" "")"
same "an empty name is nobody's" "$ours unset" \
    "$(NVTX_INJECTION64_PATH='' sh -c "$show" "$ccltap" "")"

# Stock libraries announce their calls.
if [ -z "${CCLTAP_REAL_NCCL-}" ]; then
    skip "CCLTAP_REAL_NCCL names no library: scripts/fetch-nccl gets one" "a stock libnccl.so.2"
fi
announced=$top_srcdir/tests/live/programs/announced.py
for library in $(echo "${CCLTAP_REAL_NCCL-}" | tr ':' ' '); do
    release=$(basename "$(dirname "$library")")
    $python "$announced" "$library" >"$work/bare" 2>/dev/null
    for known_by in nvtx wrapper; do
        name=$release-$known_by
        past=
        [ "$known_by" = wrapper ] || past="env -u LD_PRELOAD"
        # shellcheck disable=SC2086
        run 0 "$name: records" "$ccltap" record -o "$work/$name" -- \
            $past $python "$announced" "$library"
        same "$name: the program's output is its own" "$(cat "$work/bare")" "$(cat "$work/out")"
        check "$name: reads" "$ccltap" timeline --format jsonl -o "$work/$name.jsonl" \
            "$work/$name"
        check "$name: every call once" \
            $python "$announced" "$(realpath "$library")" "$work/$name.jsonl" "$known_by"
    done
done

tap_done
