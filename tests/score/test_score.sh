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

check "a thread whose communicator the truth lacks is judged for its role alone" \
    env PYTHONPATH="$top_srcdir/tests/score" /usr/bin/python3 -B - <<'END'
from types import SimpleNamespace
from judge import Score, judge_threads
truth = SimpleNamespace(pids={1}, threads=[{"pid": 1, "tid": 2, "role": "progress"}])
said = {"role": "progress", "known": "exact", "comm_key": "0x1", "comm_rank": 0,
        "comm_known": "exact"}
score = Score()
judge_threads(score, SimpleNamespace(threads={(1, 2): said}), truth,
              SimpleNamespace(hashes={"0x1": "0x2"}))
assert score.counts == {("thread-role", "exact", "right"): 1}, score.counts
END
score --whole --spoil --share 13
score --only begun,dropped --share 6
[ "${CCLTAP_SCORE_RUNS-0}" -eq 0 ] ||
    score --whole --random "$CCLTAP_SCORE_RUNS" --seed "${CCLTAP_SCORE_SEED-$(date -u +%Y%m%d)}"
tap_done
