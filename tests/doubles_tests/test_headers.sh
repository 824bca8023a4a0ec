#!/bin/sh
# SPDX-License-Identifier: MIT
# Our headers declare what NVIDIA's do: the doubles define their functions, and
# the bundled program calls them, under either, and the compiler compares.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

doubles=$top_srcdir/tests/doubles
programs=$top_srcdir/tests/doubles_tests/programs

# With our headers behind the real ones, which hide those of the same name.
compile() # FILE OPTION...
{
    compile_file=$1
    shift
    # CC may be a command with options.
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -fsyntax-only -Werror=implicit-function-declaration \
        "$@" "$compile_file"
}

check "the values are as written down" compile "$programs/values.c" -I"$doubles/include"

for header in cuda.h cuda_runtime_api.h nccl.h; do
    if [ -n "${CUDA_HOME:-}" ] && [ -r "$CUDA_HOME/include/$header" ]; then
        continue
    fi
    skip "no CUDA toolkit with $header: configure --with-cuda=DIR" "our headers agree with NVIDIA's"
    tap_done
    exit
done

real()
{
    compile "$@" -isystem "$CUDA_HOME/include" -idirafter "$doubles/include"
}

check "the values are NVIDIA's" real "$programs/values.c"
for file in "$doubles"/cuda/*.c; do
    check "cuda/${file##*/} defines what NVIDIA declares" \
        real "$file" -D__CUDA_API_VERSION_INTERNAL
done
for file in "$doubles"/cudart/*.c; do
    check "cudart/${file##*/} defines what NVIDIA declares" real "$file"
done
# What nvcc makes of <<<>>> is declared for nvcc only, so that runtime.c is left out.
for file in driver.c handle.c; do
    check "programs/$file uses what NVIDIA declares" real "$programs/$file"
done
for file in api.c api_comm.c copies.c symmetric.c window.c; do
    check "nccl/$file defines what NVIDIA declares" real "$doubles/nccl/$file"
done
check "nccl/driver.c uses what NVIDIA declares" real "$doubles/nccl/driver.c"
check "the bundled program compiles with NVIDIA's headers" \
    real "$top_srcdir/examples/allreduce.c"
tap_done
