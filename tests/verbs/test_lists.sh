#!/bin/sh
# SPDX-License-Identifier: MIT
# What is read of requests and completions is there: nothing after a post has returned, and
# no more than the queue has room for or was asked for.
set -eu
# shellcheck source=tests/verbs/verbs.inc.sh
. "${top_srcdir:?}/tests/verbs/verbs.inc.sh"

harm=$top_builddir/tests/verbs/programs/harm
strange=$top_builddir/tests/verbs/programs/strange.so

# way NAME OUTPUT SENTENCE: bare, with us and recorded it says that.
way()
{
    same "$3" "$2" "$(LD_PRELOAD=$strange timeout 60 "$harm" "$1" 2>&1 || echo "status $?")"
    same "$3: the same with us" "$2" "$(LD_PRELOAD="$CCLTAP_LIBDIR/libccltap.so:$strange" \
        timeout 60 "$harm" "$1" 2>&1 || echo "status $?")"
    run 0 "$3: recorded" timeout -s KILL 60 "$ccltap" record --overwrite -o "$work/$1" -- \
        env LD_PRELOAD="$CCLTAP_LIBDIR/libccltap.so:$strange" "$harm" "$1"
    same "$3: the same when recorded" "$2" "$(cat "$work/out")"
}

# told NAME EVENT FIELD: its values, one after the other.
told()
{
    events "$work/$1" | sed -n "s/.* verbs:$2: .* $3 = \([0-9]*\)[, ].*/\1/p" | tr '\n' ' ' |
        sed 's/ $//'
}

sum()
{
    tr ' ' '\n' | awk '{ n += $1 } END { print n }'
}

STRANGE=frees
export STRANGE
way freed "freed: 500 200 50 200 20" "requests that are freed as soon as they are accepted"
same "each is described" "2200 1420" \
    "$(told freed post_rdma_list num_wr | sum) $(told freed post_recv_list num_wr | sum)"
same "with its place in its queue" "1 33 65" \
    "$(told freed post_rdma_list seq | cut -d' ' -f1-3)"
same "also in the last event of what was accepted before one that is refused" \
    "2193 8 200 20" "$(told freed post_rdma_list seq | sed 's/.* //') $(
        told freed post_rdma_list num_wr | sed 's/.* //') $(
        told freed post_failed wr_id | cut -d' ' -f1) $(
        told freed post_failed wr_id | cut -d' ' -f3)"
same "nothing is left out" "0" "$(events "$work/freed" | grep -cE 'unobserved|tap:problem' || true)"

unset STRANGE
way cycle "cycle: 1 1, 64 completed" "a list that leads back to itself"
same "what there was room for is counted" "64 64" \
    "$(told cycle post_failed accepted)"

way poor "poor: 32 400 108 400 100" "a long list while there is no memory"
same "that not all could be described is told" "1 32" \
    "$(events "$work/poor" | grep -c 'verbs:unobserved: .* "requests of a long list"') $(
        told poor post_rdma_list num_wr | cut -d' ' -f1)"
same "and counted: the next list begins after it" "2 34 434" \
    "$(told poor post_rdma_list seq | cut -d' ' -f1-3)"
run 0 "check reads it" sh -c "'$ccltap' check '$work/poor' || true"
check "and says it" grep -q "requests of a long list" "$work/out"

same "the first that is not described and was refused is known all the same" "32 0" \
    "$(told poor post_failed accepted) $(told poor post_failed wr_id)"

STRANGE=rounds
export STRANGE
way rounds "rounds: 100 128, 57 completed" "a queue that has room for more than it says"
same "what it took is counted" "1 101 128" \
    "$(told rounds post_rdma_list seq | tr ' ' '\n' | grep -xE '1|101' | tr '\n' ' ')$(
        told rounds post_failed accepted)"
same "and described, all of it" "228 0" "$(told rounds post_rdma_list num_wr | sum) $(
    events "$work/rounds" | grep -c 'unobserved' || true)"

STRANGE=excess
export STRANGE
way excess "excess: 100002, 7 8" "a poll that found more than was asked for"
same "what was asked for is told" 2 "$(told excess 'poll[a-z_]*' num_wc | sum)"

tap_done
