#!/bin/sh
# SPDX-License-Identifier: MIT
# Each header of the spec compiles on its own, and a kind that does not fit is refused.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

dir=${top_builddir:?}/tests/calls/headers.$$
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/calls"

compile()
{
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only "$@"
}

for header in "$top_srcdir"/src/calls/*.h; do
    echo "#include \"$header\"" >"$dir/alone.c"
    check "calls/$(basename "$header") compiles alone" \
        compile -I"$top_srcdir/src" "$dir/alone.c"
done

refused() # EXPRESSION COMPLAINT
{
    sed "$1" "$top_srcdir/src/calls/nccl.def" >"$dir/calls/nccl.def"
    # A copy beside the changed rows: the compiler looks there first.
    cp "$top_srcdir/src/calls/nccl_calls.h" "$dir/calls"
    ! compile -I"$dir" -I"$top_srcdir/src" -include calls/nccl_calls.h -x c /dev/null \
        >"$dir/errors" 2>&1 && grep -q "$2" "$dir/errors"
}

check "a number beside a pointer is refused" refused \
    '/ncclMemFree,/,/)$/s/PTR/U64/' 'kind U64 does not fit void \* ptr'
check "a number of another size is refused" refused \
    '/ncclMemAlloc,/,/)$/s/U64/I32/' 'kind I32 does not fit size_t size'
check "a mistyped kind is refused" refused \
    '/ncclMemFree,/,/)$/s/PTR/POINTER/' KIND_FITS_POINTER
check "a result of another kind is refused" refused \
    's/RESULT, ncclResult_t, ncclMemFree/STR, ncclResult_t, ncclMemFree/' \
    'kind STR does not fit the result of ncclMemFree'
tap_done
