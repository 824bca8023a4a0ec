#!/bin/sh
# SPDX-License-Identifier: MIT
# The bundled program with four ranks in Perfetto's own importer: it has all that jsonl tells,
# and each all-reduce can be followed along arrows from the first rank's call to the last's kernel;
# and so has the form for chrome://tracing, in which the importer sees the same.
set -eu
# shellcheck source=tests/lib/perfetto.inc.sh
. "${top_srcdir:?}/tests/lib/perfetto.inc.sh"
# shellcheck source=tests/lib/record.inc.sh
. "$top_srcdir/tests/lib/record.inc.sh"

allreduce=$top_builddir/examples/allreduce
ranks=4
iterations=5

# shown NAME: compares what the views make of it, and follows its operations
shown()
{
    "$ccltap" timeline -f perfetto -o "$work/$1.perfetto" "$work/$1"
    "$ccltap" timeline -f jsonl -o "$work/$1.jsonl" "$work/$1"
    "$ccltap" why --json -o "$work/$1.why" "$work/$1" || true
    "$ccltap" timeline -f json -o "$work/$1.json" "$work/$1"
    python3 -B "$top_srcdir/tests/lib/trace_event_check.py" "$work/$1" >"$work/checked" ||
        echo "not ok - $1: the JSON is read" >>"$work/checked"
    passed_on "$work/checked"
    # The importer takes times of JSON from floating point, and cuts them.
    for sql in "select count(*), sum(dur >= 0) from slice where category != 'arrival'" \
        "select count(*) from flow" "select count(*), sum(value) from counter"; do
        same "$1: the importer sees the same in JSON: $sql" \
            "-> $(perfetto_query "$work/$1.perfetto" "$sql")" \
            "-> $(perfetto_query "$work/$1.json" "$sql")"
    done
    perfetto_check "$work/$1" >"$work/checked" || echo "not ok - $1: the importer answers" >>"$work/checked"
    passed_on "$work/checked"
    check "$1: each all-reduce leads from rank 0 to rank $((ranks - 1))" "$tools/bin/python" \
        "$top_srcdir/tests/live/expect/perfetto_follow.py" "$work/$1.perfetto" $ranks $iterations
}

run 0 "$ranks ranks over verbs are recorded" "$ccltap" record -o "$work/verbs" -- \
    env LD_LIBRARY_PATH="$top_builddir/tests/doubles/verbs:$top_builddir/tests/doubles/cupti" \
    SOFTVERBS_FABRIC="perfetto.$$" NCCL_MIN_NCHANNELS=2 NCCL_MAX_NCHANNELS=2 \
    "$allreduce" -n $ranks -i $iterations --split
said "nothing was discarded" "$ranks processes.* 0 discarded"
shown verbs

run 0 "$ranks ranks over sockets are recorded" "$ccltap" record -o "$work/sockets" -- \
    env LD_LIBRARY_PATH="$top_builddir/tests/doubles/cupti" NCCL_IB_DISABLE=1 \
    "$allreduce" -n $ranks -i $iterations -c 10000
shown sockets

# The names that a person looks for.
same "a collective has one name on all ranks, in calls" $ranks \
    "$(perfetto_query "$work/sockets.perfetto" "select count(*) from slice
        where category = 'nccl' and name like 'AllReduce #3 %'")"
same "and in kernels" $ranks \
    "$(perfetto_query "$work/sockets.perfetto" "select count(*) from slice
        where category = 'gpu' and name = 'AllReduce #3'")"
same "processes are ranks of a host" $ranks \
    "$(perfetto_query "$work/sockets.perfetto" "select count(*) from track t
        join track h on t.parent_id = h.id
        where h.name = 'host $host' and t.name glob 'rank [0-3] (pid [0-9]*) on $host'")"

tap_done
