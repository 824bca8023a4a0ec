#!/bin/sh
# SPDX-License-Identifier: MIT
# What is declared of NVTX's binary interface agrees with its headers, and what does not is
# noticed.  The headers are the toolkit's.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

dir=${top_builddir:?}/tests/calls/nvtx.$$
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/intercept/nvtx"

if [ ! -e "${CUDA_HOME:-/none}/include/nvtx3/nvToolsExtPayload.h" ]; then
    echo "1..0 # SKIP no CUDA toolkit with NVTX's headers: --with-cuda"
    exit 0
fi

compile() # -IFOLDER...: with the declarations of the first folder that has them
{
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only "$@" -I"$top_srcdir/src" \
        -I"$CUDA_HOME/include" "$top_srcdir/tests/calls/programs/check_nvtx.c"
}

refused() # EXPRESSION COMPLAINT
{
    sed "$1" "$top_srcdir/src/intercept/nvtx/nvtx_abi.h" >"$dir/intercept/nvtx/nvtx_abi.h"
    ! cmp -s "$dir/intercept/nvtx/nvtx_abi.h" "$top_srcdir/src/intercept/nvtx/nvtx_abi.h" &&
        ! compile -I"$dir" >"$dir/errors" 2>&1 && grep -q "$2" "$dir/errors"
}

check "every number and layout is as in NVTX's headers" compile
check "another number is noticed" refused 's/NVTX_ABI_CORE2_POP = 5/NVTX_ABI_CORE2_POP = 6/' \
    'NVTX_ABI_CORE2_POP is not'
check "a field that lies elsewhere is noticed" refused 's/^	int32_t message_type;/	long more; &/' \
    'message_type is not'
tap_done
