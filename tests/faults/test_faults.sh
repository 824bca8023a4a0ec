#!/bin/sh
# SPDX-License-Identifier: MIT
# The first finding of `ccltap why` is the fault that a job had, and a job without one has none.
#
# One run of each fault, always the same; some more from a seed that is another each day,
# or is CCLTAP_FAULT_SEED; CCLTAP_FAULT_RUNS=200 makes so many of these, and half as many without
# a fault.  A run that fails says how to repeat it: see faults.py.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

seed=${CCLTAP_FAULT_SEED-$(date -u +%Y%m%d)}
runs=${CCLTAP_FAULT_RUNS-3}

run_faults() # OPTION...
{
    /usr/bin/python3 "$top_srcdir/tests/faults/faults.py" "$@" \
        "$ccltap" "$top_builddir" "$work/runs" >"$work/out" 2>&1 || true
    [ -s "$work/out" ] || echo "not ok - faults.py says something" >"$work/out"
    passed_on "$work/out"
}

# The case: a slow link with few messages of each size.
run_faults --each --ranks 2,4 --seed 19 --case slow-link:4:3:64:104175694
# Ranks of one node, and those that have sockets alone.
for transport in p2p shm socket; do
    seed=$((seed + 1))
    run_faults --seed "$seed" --runs 1 --ranks 2,4 --transport "$transport"
done
run_faults --seed "$seed" --runs "$runs" --healthy "$runs" --ranks 2,4,8
tap_done
