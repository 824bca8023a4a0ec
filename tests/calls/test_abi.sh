#!/bin/sh
# SPDX-License-Identifier: MIT
# The rows agree with the vendor's header, and a row that does not is noticed.
# The header is the toolkit's, or CCLTAP_NCCL_INCLUDE's (a folder with nccl.h).
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

dir=${top_builddir:?}/tests/calls/abi.$$
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/calls"

compile() # -IFOLDER...: with the rows and types of the first folder that has them
{
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -fsyntax-only "$@" -I"$top_srcdir/src" \
        ${CCLTAP_NCCL_INCLUDE:+-I"$CCLTAP_NCCL_INCLUDE"} -I"$CUDA_HOME/include" \
        "$top_srcdir/tests/calls/programs/check_abi.c"
}

refused() # FILE EXPRESSION COMPLAINT: FILE changed by sed does not compile, says why
{
    sed "$2" "$top_srcdir/src/calls/$1" >"$dir/calls/$1"
    cmp -s "$dir/calls/$1" "$top_srcdir/src/calls/$1" && return 1
    if compile -I"$dir" >"$dir/errors" 2>&1; then
        rm "$dir/calls/$1"
        return 1
    fi
    rm "$dir/calls/$1"
    grep -q "$3" "$dir/errors"
}

if [ -z "${CUDA_HOME:-}" ] || ! echo '#include <nccl.h>' |
    ${CC:-cc} -fsyntax-only -x c ${CCLTAP_NCCL_INCLUDE:+-I"$CCLTAP_NCCL_INCLUDE"} \
        -I"$CUDA_HOME/include" - 2>/dev/null; then
    echo "1..0 # SKIP no CUDA toolkit with nccl.h: --with-cuda, CCLTAP_NCCL_INCLUDE"
    exit 0
fi

check "every row, type and number is as in the vendor's header" compile
check "an argument of another type is noticed" refused nccl.def \
    '/ncclCommSplit,/,/)$/{s/int,\(.*color\)/long,\1/;s/\(color,.*\)I32/\1U64/;}' \
    'conflicting types for .ncclCommSplit'
check "an argument too many is noticed" refused nccl.def \
    's/^CALL(\(.*\), ncclCommDestroy,/CALL(\1, ncclCommDestroy, int, more, I32,/' \
    'conflicting types for .ncclCommDestroy'
check "another number is noticed" refused nccl_enums.h \
    's/ncclFloat32, 7/ncclFloat32, 17/' 'ncclFloat32 has another number'
check "a field that lies elsewhere is noticed" refused nccl_types.h \
    's/^	int splitShare;/	int more; &/' 'splitShare lies elsewhere'
tap_done
