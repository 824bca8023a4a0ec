#!/bin/sh
# SPDX-License-Identifier: MIT
# mini-NCCL's RAS: a thread in each process, who is connected with whom, and what is said.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

truth=$PWD/ras.$$
trap 'rm -rf "$truth"' EXIT
MININCCL_TRUTH=$truth
export MININCCL_TRUTH

# run RANKS SETTING...: in the background; what it does takes a few seconds
run()
{
    ranks=$1
    shift
    rm -rf "$truth"
    mkdir "$truth"
    env "$@" timeout -s KILL 90 "${top_builddir:?}/tests/doubles_tests/programs/messages" \
        "$ranks" 1 &
    job=$!
}

# ended WHAT: what the job of run() has come to
ended()
{
    result=0
    wait "$job" || result=$?
    same "$1: all values are right" 0 "$result"
}

for ranks in 2 4; do
    for release in 2.24.3 2.30.7; do
        run "$ranks" NCCL_RAS_ENABLE=1 MININCCL_RELEASE=$release MININCCL_LAUNCH_DELAY_US=250000
        check "$ranks processes, $release: threads, connections and messages" \
            /usr/bin/python3 "$top_srcdir/tests/doubles_tests/expect/ras.py" "$truth" "$ranks"
        ended "$ranks processes, $release"
    done
done
for setting in MININCCL_RELEASE=2.23.4 NCCL_RAS_ENABLE=0; do
    run 2 NCCL_RAS_ENABLE=1 $setting
    ended "$setting"
    same "$setting: no such thread" 0 "$(cat "$truth"/truth.* | grep -c '"ras"' || :)"
done
tap_done
