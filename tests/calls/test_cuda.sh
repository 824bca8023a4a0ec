#!/bin/sh
# SPDX-License-Identifier: MIT
# The rows of cuda.def and cudart.def against the headers and libraries of stock releases;
# and those libraries, and NCCL, on the driver double, which they refuse, with us and without.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=${top_builddir:?}/tests/calls/cuda.$$
mkdir -p "$work/calls" "$work/bin"
trap 'rm -rf "$work"' EXIT

if [ -z "${CCLTAP_REAL_CUDA-}" ]; then
    echo "1..0 # SKIP CCLTAP_REAL_CUDA names no folder: scripts/fetch-cuda gets one"
    exit 0
fi

compile() # FILE ROWS OPTION...: with the rows of that folder, or else ours
{
    compile_file=$1
    compile_rows=$2
    shift 2
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -I"$top_srcdir/tests/lib" -isystem "$release/include" -I"$compile_rows" \
        -I"$top_srcdir/src" "$top_srcdir/tests/calls/programs/$compile_file" "$@"
}

refused() # FILE DEF EXPRESSION: the rows changed by sed are not as the header has them
{
    sed "$3" "$top_srcdir/src/calls/$2" >"$work/calls/$2"
    cmp -s "$work/calls/$2" "$top_srcdir/src/calls/$2" && return 1
    ! compile "$1" "$work" -fsyntax-only >"$work/errors" 2>&1 &&
        grep -q 'has other arguments in the header' "$work/errors"
}

# starts WHAT COMMAND...: it answers the same with us as without, and asks for as much as
# it should; we ask for more.
starts()
{
    starts_what=$1
    shift
    rm -f "$work/log" "$work/log-with"
    starts_bare=$(DOUBLE_CUDA_LOG=$work/log "$@" 2>&1 || echo "status $?")
    starts_with=$(DOUBLE_CUDA_LOG=$work/log-with \
        LD_PRELOAD=$top_builddir/.libs/libccltap.so "$@" 2>&1 || echo "status $?")
    same "$name, $starts_what: it answers the same" "$starts_bare" "$starts_with"
    check "$name, $starts_what: it asks the driver for all" \
        test "$(asks "$work/log" | wc -l)" -ge "$asked"
    # shellcheck disable=SC2016 # for awk
    same "$name, $starts_what: and with us for the same" "" "$(asks "$work/log" >"$work/bare"
        asks "$work/log-with" | awk 'NR == FNR { left[$0]++; next } left[$0]-- < 1' - "$work/bare")"
}

asks() # LOG
{
    sed -n 's/^ask .*\(symbol=.*\) found=.*/\1/p' "$1"
}

# What the runtime that started last asked for, and the double of its release in that order.
asks_as_double() # WHAT
{
    same "$name, $1: its double asks for the same" \
        "$(sed -n 's/^ASK(\(.*\), \(.*\), \(.*\))$/symbol=\1 version=\2 flags=\3/p' "$double")" \
        "$(asks "$work/log" | sed 's/^symbol=- /symbol= /')"
}

compile_layouts()
{
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -I"$top_srcdir/src" -o "$work/bin/ours" \
        "$top_srcdir/tests/calls/programs/cuda_layouts.c"
}
check "what we declare compiles by itself" compile_layouts
LD_LIBRARY_PATH=$top_builddir/tests/doubles/cuda
export LD_LIBRARY_PATH

for release in $(echo "$CCLTAP_REAL_CUDA" | tr ':' ' '); do
    name=$(basename "$release")
    check "$name: every row of the driver is as its headers have it" \
        compile check_cuda.c "$top_srcdir/src" -fsyntax-only
    check "$name: another argument is noticed" refused check_cuda.c cuda.def \
        '/cuLaunchCooperativeKernel_ptsz/,/)$/s/unsigned int,\(.*gridDimY\)/int,\1/'
    check "$name: so is another version" refused check_cuda.c cuda.def \
        's/^CALL(10010, \(CAPTURE, .*, cuStreamBeginCapture_v2\)/CALL(10000, \1/'
    check "$name: every row of the runtime is as its header has it" \
        compile check_cudart.c "$top_srcdir/src" -fsyntax-only
    check "$name: another argument of it is noticed" refused check_cudart.c cudart.def \
        '/cudaMemsetAsync_ptsz/,/)$/s/size_t,\(.*count\)/int,\1/'
    check "$name: its structures can be printed" compile cuda_layouts.c "$top_srcdir/src" \
        -DTHEIRS -o "$work/bin/theirs"
    # What came later is ours alone.
    same "$name: they are as we read them" "" "$("$work/bin/theirs" >"$work/theirs"
        "$work/bin/ours" | grep -vxF -f "$work/theirs" |
            case $name in
            cuda-11.*) grep -v '^CUgraphNodeParams' || : ;;
            *) cat ;;
            esac)"

    library=$(find "$release/lib" -name 'libcudart.so.*' | head -n 1)
    version=$(basename "$library")
    nm -D --defined-only "$library" | sed -n 's/.* \([^ ]*\)@@\(.*\)/\1 \2/p' | sort >"$work/theirs"
    same "$name: $version has every name that we offer under it" "" "$(
        "$top_builddir/list-calls" --runtime | sed 's/ [^ ]*$//' |
            grep " $version\$" | sort | comm -23 - "$work/theirs")"

    case $name in
    cuda-11.8.*) double=11.8 ;;
    cuda-12.9.*) double=12.9 ;;
    *) double=13.0 ;;
    esac
    double=$top_srcdir/tests/doubles/cudart/asked-$double.def
    asked=$(grep -c '^ASK' "$double")
    check "$name: a program of it is made" compile stock_runtime.c "$top_srcdir/src" \
        -o "$work/bin/shared" "$library" -Wl,-rpath,"$release/lib"
    starts "shared" "$work/bin/shared"
    asks_as_double "shared"
    [ -e "$release/lib/libcudart_static.a" ] || continue
    check "$name: one that has it linked in too" compile stock_runtime.c "$top_srcdir/src" \
        -o "$work/bin/static" "$release/lib/libcudart_static.a" -ldl -lrt -lpthread
    starts "linked in" "$work/bin/static"
    asks_as_double "linked in"
done

# NCCL has a runtime in it.
for library in $(echo "${CCLTAP_REAL_NCCL-}" | tr ':' ' '); do
    name=$(basename "$(dirname "$library")")
    asked=400
    starts "its runtime" env LD_LIBRARY_PATH="$(dirname "$library"):$LD_LIBRARY_PATH" \
        "$top_builddir/tests/live/programs/calls"
done
tap_done
