#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of NCCL's device functions are those that the script writes, and those of the
# stock libraries that CCLTAP_REAL_NCCL names; a library that numbers them otherwise is found.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

script=$top_srcdir/scripts/nccl-function-ids
work=${top_builddir:?}/tests/unit/function-ids.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tables"

fails() # COMMAND...
{
    ! "$@"
}

check "the tables are written" "$script" --write "$work/tables"
check "they are those of the tree" diff -r "$work/tables" "$top_srcdir/src/join/nccl/funcid"
if [ -z "${CCLTAP_REAL_NCCL-}" ]; then
    skip "CCLTAP_REAL_NCCL names no library: scripts/fetch-nccl gets one" "a stock libnccl.so.2"
fi
for library in $(echo "${CCLTAP_REAL_NCCL-}" | tr ':' ' '); do
    release=$(basename "$(dirname "$library")")
    check "$release has the same" "$script" --library "$library"
done
sed 's/"MinMax", "PreMulSum"/"PreMulSum", "MinMax"/' "$script" >"$work/other"
chmod +x "$work/other"
for library in $(echo "${CCLTAP_REAL_NCCL-}" | tr ':' ' '); do
    case $(basename "$(dirname "$library")") in
    nccl-2.28.*) check "another order of rows is found" fails "$work/other" --library "$library" ;;
    esac
done
tap_done
