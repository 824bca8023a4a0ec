#!/bin/sh
# SPDX-License-Identifier: MIT
# What ccltap says of NCCL's messages, connections, threads and kernels is what mini-NCCL did, in
# a share of the configurations of `make score`: nothing is wrong that is called exact or
# decoded, no message is missing, and none is there that was not sent.
#
# It is the same share each time; CCLTAP_SCORE_RUNS=100 adds so many configurations of which all is
# drawn, from CCLTAP_SCORE_SEED or the day.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

if [ ! -e "$top_builddir/tests/doubles/verbs/libibverbs.so.1" ]; then
    echo "1..0 # SKIP softverbs is not built"
    exit 0
fi

score() # OPTION...
{
    status=0
    /usr/bin/python3 "$top_srcdir/tests/score/score.py" "$@" \
        "$ccltap" "$top_builddir" "$work/score" >"$work/out" 2>&1 || status=$?
    passed_on "$work/out"
    same "score.py $* ends well" 0 "$status"
    rm -rf "$work/score"
}

score --whole --spoil --share 13
score --only begun,dropped --share 6
[ "${CCLTAP_SCORE_RUNS-0}" -eq 0 ] ||
    score --whole --random "$CCLTAP_SCORE_RUNS" --seed "${CCLTAP_SCORE_SEED-$(date -u +%Y%m%d)}"
tap_done
