#!/bin/sh
# SPDX-License-Identifier: MIT
# The NCCL double gives right data on every rank, whatever the operation, protocol,
# algorithm, channels, ranks and transport, and does not hang.
#
# All pairs of these, and some configurations from a seed that is another each day, or is
# MATRIX_SEED.  MATRIX_RUNS=1000 makes so many of the latter, MATRIX_ALL=1 runs all of the matrix,
# or the second of ten parts with MATRIX_PART=2/10, and `make check-matrix` both.  A configuration
# that fails says how to repeat it: see matrix.py.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

configuration=${top_builddir:?}/tests/doubles_tests/programs/configuration
seed=${MATRIX_SEED-$(date -u +%Y%m%d)}
work=$PWD/matrix.$$
trap 'rm -rf "$work" "$work.truth"' EXIT

matrix() # OPTION...
{
    /usr/bin/python3 "$top_srcdir/tests/doubles_tests/matrix.py" "$@" "$configuration" \
        >"$work" 2>&1 || true
    [ -s "$work" ] || echo "not ok - matrix.py says something" >"$work"
    passed_on "$work"
}

# fails STATUS WHAT ARGUMENT...
fails()
{
    fails_status=$1
    fails_what=$2
    shift 2
    status=0
    "$configuration" "$@" >"$work" 2>&1 || status=$?
    same "$fails_what is noticed" "$fails_status" "$status"
}

fails 1 "wrong data" ranks=2 spoil=1
check "and it is said which" grep -q 'element .* is .*, not ' "$work"
fails 1 "a rank that hangs" ranks=2 limit=1 jitter=1000000 rounds=100 operation=any
check "and it is said in what" grep -q 'rank [01] hangs in ' "$work"
check "one that goes on does not, though all of it takes longer" "$configuration" ranks=2 limit=6 \
    jitter=20000 rounds=18 operation=all-reduce manner=alone most=4096
check "the least that may be is enough" "$configuration" ranks=2 most=64
# As NCCL hangs: a kernel waits for room in a share of nothing, of which its proxy is not told.
NCCL_LL_BUFFSIZE=16384
NCCL_ALLOC_P2P_NET_LL_BUFFERS=1
export NCCL_LL_BUFFSIZE NCCL_ALLOC_P2P_NET_LL_BUFFERS
fails 1 "a share of nothing in a transfer" ranks=2 channels=3 protocol=ll operation=all-to-all \
    limit=1
for release in 2.21.5 2.30.7; do
    check "of which $release has none" "$configuration" release=$release ranks=2 channels=3 \
        protocol=ll operation=all-to-all
done
NCCL_LL_BUFFSIZE=262144
check "with shares that are a multiple of 4096 bytes there is none" "$configuration" ranks=2 \
    channels=8 protocol=ll operation=all-to-all most=262144 rounds=2
unset NCCL_LL_BUFFSIZE NCCL_ALLOC_P2P_NET_LL_BUFFERS
fails 2 "a wrong setting" ranks=2 protocol=medium
check "a setting of the doubles that is out of range ends the program" \
    sh -c "! NCCL_IB_TIMEOUT=99 '$configuration' 2>'$work'"
check "and it is said what is right" grep -q '99: not a number from 0 to 31: ' "$work"
check "so does one that there is not" sh -c "! MININCCL_DELAY=1 '$configuration' 2>'$work'"
check "and it is said which there are" grep -q '  MININCCL_DELAY_US  *how long' "$work"

# facts RANKS ARGUMENT...: the truth of a run agrees with itself
facts()
{
    facts_ranks=$1
    shift
    rm -rf "$work.truth"
    mkdir "$work.truth"
    check "$* writes its truth" env MININCCL_TRUTH="$work.truth" "$configuration" \
        ranks="$facts_ranks" "$@"
    check "threads, launches and connections agree with messages" /usr/bin/python3 \
        "$top_srcdir/tests/doubles_tests/expect/facts.py" "$work.truth" "$facts_ranks"
}

facts 4 channels=2 operation=each
facts 3 channels=2 comms=split blocking=0
facts 3 transport=socket comms=shared layout=threads
facts 3 layout=single comms=two channels=3

# listed OPTION...: the configurations
listed()
{
    /usr/bin/python3 "$top_srcdir/tests/doubles_tests/matrix.py" --list --all "$@" "$configuration"
}

for part in 1 2 3; do
    listed --part $part/3
done | sort >"$work"
same "all parts are the whole" "$(listed | sort | md5sum)" "$(md5sum <"$work")"
if [ -n "${MATRIX_ALL-}" ]; then
    matrix --all --part "${MATRIX_PART-1/1}"
else
    matrix --pairs
fi
matrix --random "${MATRIX_RUNS-12}" --seed "$seed"
tap_done
