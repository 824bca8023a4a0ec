#!/bin/sh
# SPDX-License-Identifier: MIT
# What src/cupti declares of CUPTI, and the numbers in cuda.def, against the headers of
# stock releases; and their libraries, which walk records without a GPU.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=${top_builddir:?}/tests/calls/cupti.$$
mkdir -p "$work/compiler/crt" "$work/cupti"
trap 'rm -rf "$work"' EXIT
# The compiler's own part of the headers is in none of these wheels.
cat >"$work/compiler/crt/host_defines.h" <<'END'
#define __host__
#define __device__
#define __cudart_builtin__
#define __device_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __no_return__ __attribute__((noreturn))
#define __forceinline__ inline
#define __grid_constant__
#define CUDARTAPI
#define CUDARTAPI_CDECL
END

if [ -z "${CCLTAP_REAL_CUPTI-}" ] || [ -z "${CCLTAP_REAL_CUDA-}" ]; then
    echo "1..0 # SKIP CCLTAP_REAL_CUPTI and CCLTAP_REAL_CUDA name no folders: scripts/fetch-cuda gets them"
    exit 0
fi

# runtime_of CUPTI: the runtime's folder of the same minor release.
runtime_of()
{
    runtime_minor=$(basename "$1" | sed 's/.*-\([0-9]*\.[0-9]*\)\..*/\1/')
    for runtime in $(echo "$CCLTAP_REAL_CUDA" | tr ':' ' '); do
        case $(basename "$runtime") in
        *-"$runtime_minor".*)
            echo "$runtime"
            return 0
            ;;
        esac
    done
    return 1
}

compile() # TREE OPTION...: with the declarations of that tree
{
    compile_tree=$1
    shift
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -I"$work/compiler" -isystem "$release/include" \
        -isystem "$runtime/include" -I"$compile_tree" -I"$top_srcdir/src" \
        "$top_srcdir/tests/calls/programs/check_cupti.c" "$@"
}

refused() # EXPRESSION: abi.h changed by sed is not as the header has it
{
    sed "$1" "$top_srcdir/src/cupti/abi.h" >"$work/cupti/abi.h"
    cmp -s "$work/cupti/abi.h" "$top_srcdir/src/cupti/abi.h" && return 1
    ! compile "$work" -fsyntax-only >"$work/errors" 2>&1 && grep -q 'in the header' "$work/errors"
}

"$top_builddir/list-calls" --cbids | sort >"$work/numbers"
for release in $(echo "$CCLTAP_REAL_CUPTI" | tr ':' ' '); do
    name=$(basename "$release")
    if ! runtime=$(runtime_of "$release"); then
        skip "CCLTAP_REAL_CUDA has none of this release" "$name: its structures are as we read them"
        continue
    fi
    check "$name: its structures are as we read them" compile "$top_srcdir/src" \
        -o "$work/check" -ldl
    check "$name: another place is noticed" refused 's/int32_t grid\[3\], block\[3\];/int32_t grid[3];/'
    check "$name: so is another number" refused 's/TAP_CUPTI_OVERHEAD = 17/TAP_CUPTI_OVERHEAD = 18/'
    check "$name: its library walks its records, and we read them" "$work/check" \
        "$(find "$release/lib" -name 'libcupti.so.*' | head -n 1)"

    # Later releases have more, and none another.
    sed -n 's/.*CUPTI_DRIVER_TRACE_CBID_\([a-zA-Z0-9_]*\) *= *\([0-9]*\).*/\1 \2/p' \
        "$release/include/cupti_driver_cbid.h" | sort >"$work/theirs"
    same "$name: it numbers the driver's functions as we do" "" "$(
        join "$work/numbers" "$work/theirs" | awk '$2 != $3')"
    check "$name: most of them are there" test \
        "$(join "$work/numbers" "$work/theirs" | wc -l)" -ge 60
done
tap_done
