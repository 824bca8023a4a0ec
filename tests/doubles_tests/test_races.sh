#!/bin/sh
# SPDX-License-Identifier: MIT
# The doubles that have threads of their own, softverbs and the driver, built with the
# thread sanitizer or those that configure was asked for, under their own tests.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

here=${top_builddir:?}/tests/doubles_tests/races
log=$PWD/races.$$
trap 'rm -f "$log" "$log".*' EXIT
echo 'int main(void) { return 0; }' >"$log.c"
${CC:-cc} -fsanitize=thread -o "$log.out" "$log.c" 2>/dev/null || {
    echo "1..0 # SKIP the compiler has no thread sanitizer: scripts/install-deps tests"
    exit 0
}
check "they are built" env -u MAKEFLAGS make -s -C "${top_builddir:?}" races
# Processes fork and open an adapter anew, as real ones may.
TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS-}"
export TSAN_OPTIONS

# runs PROGRAM ARGUMENT...: with status 0, which a sanitizer that finds something changes.
runs()
{
    program=$1
    shift
    runs_status=0
    timeout 300 "$here/$program" "$@" >"$log" 2>&1 || runs_status=$?
    [ "$runs_status" -eq 0 ] || { echo "status $runs_status" && grep -v "^ok" "$log"; } | head -n 60 | sed "s/^/# /"
    return "$runs_status"
}

check "the driver" runs test_cuda
check "the driver with its log" runs test_cuda_log
check "each operation of verbs" runs test_verbs
check "their errors" runs test_verbs_errors
check "the extended interface" runs test_verbs_extended
check "between processes" runs test_verbs_processes
check "faults of the wire" runs test_verbs_faults
check "several ports" runs test_verbs_ports
check "8 processes in a ring" runs test_verbs_ring 8 2 1000 64 1
check "2 ranks in each of 4 processes" runs test_verbs_ring 8 2 1000 64 2
check "4 ranks in a process" runs test_verbs_ring 4 2 1000 64 4
check "messages that are larger than the way" runs test_verbs_ring 2 1 10 1000000 1
tap_done
