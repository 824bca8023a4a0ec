#!/bin/sh
# SPDX-License-Identifier: MIT
# The bundled program on the doubles: alone, started rank by rank, and with a
# rank that never comes.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

program=${top_builddir:?}/examples/allreduce
id=$PWD/allreduce-id.$$
pids=
pid0=
pid1=
# The ids are unquoted on purpose: one word each.
# shellcheck disable=SC2086
trap 'rm -f "$id" "$id".*; [ -z "$pids" ] || kill -9 $pids 2>/dev/null || :' EXIT

status()
{
    status=0
    "$@" || status=$?
    echo "status $status"
}

expected() # RANKS ITERATIONS
{
    expected_rank=0
    while [ "$expected_rank" -lt "$1" ]; do
        echo "rank $expected_rank: $2 all-reduces of 0.4 MiB, sums right"
        expected_rank=$((expected_rank + 1))
    done
    echo "status 0"
}

for ranks in 1 2 4; do
    same "$ranks ranks sum right" "$(expected $ranks 3)" \
        "$(status "$program" -n $ranks -i 3 -c 100003 2>&1 | sort)"
done
for ranks in 1 2 5; do
    same "$ranks ranks sum right, also in each half, over two channels" "$(expected $ranks 2)" \
        "$(NCCL_MIN_NCHANNELS=2 status "$program" -n $ranks -i 2 -c 100003 --split 2>&1 | sort)"
done
same "it takes defaults" "$(expected 2 4 | sed 's/0\.4/4.0/')" \
    "$(status "$program" 2>&1 | sort)"
same "one element is enough" "$(expected 3 1 | sed 's/0\.4/0.0/')" \
    "$(status "$program" -n 3 -i 1 -c 1 2>&1 | sort)"
same "several ranks share a device when there are few, and NCCL refuses" "status 1" \
    "$(DOUBLE_CUDA_DEVICES=1 status "$program" -n 2 2>/dev/null)"
same "a wrong option is wrong use" "status 2" "$(status "$program" --wrong 2>/dev/null)"
same "a wrong number is wrong use" "status 2" "$(status "$program" -n two 2>/dev/null)"
same "an id file needs a rank" "status 2" "$(status "$program" --id-file "$id" 2>/dev/null)"

# start RANK ARGUMENT...: one rank of two, as a launcher starts it.
start()
{
    start_rank=$1
    shift
    RANK=$start_rank WORLD_SIZE=2 "$program" --id-file "$id" -i 3 -c 100003 "$@" \
        >"$id.$start_rank" 2>&1 &
    pids="$pids $!"
    eval "pid$start_rank=$!"
}

start 1
start 0
result=0
wait "$pid0" || result=1
wait "$pid1" || result=1
pids=
same "ranks can be started one by one" "$(expected 2 3)" \
    "$(cat "$id.0" "$id.1"; echo "status $result")"

rm -f "$id"
start 0
start 1 --hang-rank 1
# Which of the two was waiting is only known from the one that is killed.
kill -9 "$pid1"
result=0
wait "$pid1" || result=$?
same "a rank that hangs ends only when it is killed" 137 "$result"
kill -15 "$pid0"
result=0
wait "$pid0" || result=$?
same "and the other one has waited for it" 143 "$result"
pids=
tap_done
