#!/bin/sh
# SPDX-License-Identifier: MIT
# Hosts whose clocks disagree: in each of some random runs of the bundled program, the times
# of all hosts are converted as well as they say.  CLOCKS_RUNS is how many runs,
# CLOCKS_SEED of which the first.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

runs=${CLOCKS_RUNS:-2}
seed=${CLOCKS_SEED:-$(date +%j)}
allreduce=$top_builddir/examples/allreduce

if ! unshare --mount --uts true 2>/dev/null; then
    echo "1..0 # SKIP no namespace for a host name: run as root"
    exit 0
fi
echo "# CLOCKS_SEED=$seed"

# draw SEED NUMBER LEAST MOST: a number that the seed and its number decide.
draw()
{
    awk -v seed="$1$2" -v least="$3" -v most="$4" 'BEGIN {
        srand(seed); rand(); printf "%d", least + int(rand() * (most - least + 1)) }'
}

# on_host NAME FOLDER COMMAND...: as another host, whose clock is that of skew.
on_host()
{
    # shellcheck disable=SC2016
    env SKEW_NS="$ahead" SKEW_PPM="$ppm" SKEW_BASE="$base" \
        LD_PRELOAD="$(cd "$programs" && pwd)/skewed.so" unshare --mount --uts --fork sh -c '
        hostname "$0" && mount -t tmpfs none /var/run/lttng && exec "$@"' \
        "$1" "$top_srcdir/scripts/daemon" "$ccltap" record -o "$2" -- "$allreduce" \
        --id-file "$run/id" -i "$iterations" -c 3000
}

number=0
while [ "$number" -lt "$runs" ]; do
    run=$work/$number
    mkdir "$run"
    hosts=$(draw "$seed" 1 2 4)
    iterations=$(draw "$seed" 2 100 600)
    base=$(awk '{ printf "%d", $1 * 1000000000 }' /proc/uptime)
    NCCL_IB_DISABLE=0 LD_LIBRARY_PATH=$top_builddir/tests/doubles/verbs \
        SOFTVERBS_FABRIC=clocks.$$.$number WORLD_SIZE=$hosts
    export NCCL_IB_DISABLE LD_LIBRARY_PATH SOFTVERBS_FABRIC WORLD_SIZE
    rank=0
    pids=
    set --
    while [ "$rank" -lt "$hosts" ]; do
        # The kernel's own timeouts know nothing of a clock that is behind.
        ahead=$(draw "$seed" "1$rank" 0 1000000)000000
        ppm=$(draw "$seed" "2$rank" -100 100)
        RANK=$rank on_host "host$rank" "$run/$rank" >"$run/out$rank" 2>&1 &
        pids="$pids $!"
        set -- "$@" "host$rank=$run/alone$rank,$run/$rank,$ahead,$ppm,$base"
        rank=$((rank + 1))
    done
    status=0
    for pid in $pids; do
        wait "$pid" || status=$?
    done
    same "run $number, seed $seed: $hosts hosts are recorded" 0 "$status"
    [ "$status" -eq 0 ] || cat "$run"/out* | sed 's/^/# /'
    unset LD_LIBRARY_PATH
    folders=
    for argument; do
        rank=${argument%%=*}
        rank=${rank#host}
        folders="$folders $run/$rank"
        "$ccltap" timeline --format jsonl -o "$run/alone$rank" "$run/$rank"
    done
    # shellcheck disable=SC2086
    "$ccltap" timeline --format jsonl -o "$run/joint" $folders
    check "run $number: its times are as right as they say" \
        /usr/bin/python3 "$top_srcdir/tests/live/expect/clocks.py" "$run/joint" "$@"
    echo "# run $number: $tap_output"
    # shellcheck disable=SC2086
    [ "$number" -gt 0 ] || check "check says how well the clocks are known" sh -c \
        "'$ccltap' check $folders | grep -q '^clock: host host1: .* known to .* (from messages)'"
    rm -rf "$run"
    number=$((number + 1))
    seed=$((seed + 1))
done

tap_done
