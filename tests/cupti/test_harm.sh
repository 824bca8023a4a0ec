#!/bin/sh
# SPDX-License-Identifier: MIT
# Whatever becomes of CUPTI or of the program: the program does as ever, what ran is in the
# trace or counted as lost, and who had CUPTI is said.
set -eu
# shellcheck source=tests/cupti/cupti.inc.sh
. "${top_srcdir:?}/tests/cupti/cupti.inc.sh"

state() # what gpu:owner said last
{
    owners | sed 's/.*,//; s/ .*//'
}

with ""
alike "no CUPTI" "$guests/guest" ordinary
# Where a toolkit is installed its CUPTI is found at last, which refuses the driver double.
same "no CUPTI: it is said" "$([ -e /usr/local/cuda ] && echo failed || echo absent)" "$(state)"
with 13
DOUBLE_CUDA_VERSION=12040
export DOUBLE_CUDA_VERSION
alike "a driver older than CUPTI" "$guests/guest" ordinary
same "a driver older than CUPTI: that is passed over" absent "$(state)"
unset DOUBLE_CUDA_VERSION
mkdir -p "$work/nothing"
echo 'int nothing;' >"$work/nothing.c"
${CC:-cc} -shared -fPIC -Wl,-soname,libcupti.so.13 -o "$work/nothing/libcupti.so.13" "$work/nothing.c"
LD_LIBRARY_PATH=$work/nothing
alike "a CUPTI that has no function" "$guests/guest" ordinary
check "a CUPTI that has no function: it is said" grep -Eq ' gpu:owner: .*"(absent|failed)"' \
    "$work/events"

# Each function that the library has fails, as it does without a driver.
for release in 11.8 13; do
    with "$release"
    case $release in
    11.8) result=15 ;;
    *) result=999 ;;
    esac
    for name in $(nm -D --defined-only "$LD_LIBRARY_PATH/libcupti.so.$release" |
        sed -n 's/.* \(cupti[A-Za-z_0-9]*\)@@.*/\1/p'); do
        case $name in
        # Not asked for what these tell, or not by us.
        cuptiFinalize | cuptiGetLastError | cuptiActivityP* | cuptiGetCallback*) continue ;;
        # Tried below.
        cuptiActivityRegisterT*) continue ;;
        cuptiEnableA* | cuptiSupported* | cuptiActivityEnableAnd*) continue ;;
        esac
        echo "DOUBLE_CUPTI_FAIL=$name:$result \"\$@\" || exit"
    done >"$work/failures"
    alike "CUPTI $release, every function fails" sh "$work/failures" "$guests/guest" \
        ordinary 3
    check "CUPTI $release, every function fails: no process but says who had CUPTI" \
        test "$(grep -c ' gpu:owner: ' "$work/events")" -ge "$(wc -l <"$work/failures")"
    check "CUPTI $release, every function fails: what is recorded is right" \
        ran unnumbered=yes "zero=$((3 * $(wc -l <"$work/failures") - $(grep -c ' gpu:kernel: ' \
            "$work/events")))"
done

with 13
alike "_exit()" "$guests/guest" leaves
alike "_exit() later than the next flush" "$guests/guest" leaves-late
check "_exit() later than the next flush: nothing is missing" ran kernel=10
alike "a signal" sh -c '"$@" 2>&1; echo "ended with $?"' - "$guests/guest" killed
alike "the end with work that goes on" "$guests/guest" no-wait 100
alike "a context that goes with its work" "$guests/guest" destroys 100
check "a context that goes with its work: nothing is missing" ran kernel=200 gpu:lost=0
alike "a fork" "$guests/guest" forks
check "a fork: nothing is missing, nothing is there twice" ran kernel=20 gpu:lost=0
alike "a fork before CUDA begins" "$guests/guest" forks-early
check "a fork before CUDA begins: both are there" ran kernel=20 gpu:lost=0

DOUBLE_CUPTI_FAIL=cuptiActivityRegisterTimestampCallback:15
export DOUBLE_CUPTI_FAIL
alike "no clock of ours" "$guests/guest" ordinary 100
check "no clock of ours: times are near" ran kernel=100 gpu:lost=0 tolerance=1000000
check "no clock of ours: it is said" grep -q ' gpu:clock: .* kind = 1, ' "$work/events"
unset DOUBLE_CUPTI_FAIL
DOUBLE_CUPTI_DELAY_MS=300
export DOUBLE_CUPTI_DELAY_MS
alike "records that are late" "$guests/guest" ordinary 100
check "records that are late: they come at the end" ran kernel=100 gpu:lost=0
unset DOUBLE_CUPTI_DELAY_MS
DOUBLE_CUPTI_ZERO=3
export DOUBLE_CUPTI_ZERO
alike "records without times" "$guests/guest" ordinary 100
check "records without times: they are counted" ran zero_time=33 zero=33 kernel=67
unset DOUBLE_CUPTI_ZERO
DOUBLE_CUPTI_DROP=4
export DOUBLE_CUPTI_DROP
alike "records that are dropped" "$guests/guest" ordinary 100
check "records that are dropped: they are counted" ran dropped=25 kernel=75
unset DOUBLE_CUPTI_DROP

# A million take a minute: scripts/check --long.
many=${GPU_KERNELS:-50000}
DOUBLE_CUDA_QUEUE=1000
export DOUBLE_CUDA_QUEUE
traced -- "$guests/guest" ordinary "$many"
same "$many kernels in a row: all are done" "ordinary: $many launches, sum $many" \
    "$(cat "$work/out")"
sum=$(sed -n 's/.* gpu:lost: .* count = \([0-9]*\).*/+\1/p' "$work/events" | tr -d '\n')
lost=$((0$sum))
discarded=$(sed -n 's/.*, \([0-9]*\) discarded.*/\1/p' "$work/err")
there=$(grep -c ' gpu:kernel: ' "$work/events")
check "$many kernels in a row: what is not there is counted ($there, $lost, $discarded)" \
    test $((there + lost)) -le "$many" -a $((there + lost + discarded)) -ge "$many"

tap_done
