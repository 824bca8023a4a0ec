#!/bin/sh
# SPDX-License-Identifier: MIT
# What mini-NCCL tells a profiler plugin is what it did, message by message; and which plugin it
# loads.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

doubles=$(cd "${top_builddir:?}/tests/doubles" && pwd)
programs=$top_builddir/tests/doubles_tests/programs
plugins=$(cd "$programs" && pwd)
told=$PWD/profiler.$$
trap 'rm -rf "$told"' EXIT
SOFTVERBS_FABRIC=profiler.$$
MININCCL_TRUTH=$told
PROFILER_LOG=$told
NCCL_PROFILER_PLUGIN=$plugins/profiler_log-5.so
LD_LIBRARY_PATH=$doubles/verbs
export SOFTVERBS_FABRIC MININCCL_TRUTH PROFILER_LOG NCCL_PROFILER_PLUGIN LD_LIBRARY_PATH

judge=$top_srcdir/tests/doubles_tests/expect/profiled.py

# run WHAT [SETTING...] PROGRAM ARGUMENT...: right values
run()
{
    run_what=$1
    shift
    rm -rf "$told"
    mkdir "$told"
    check "$run_what: all values are right" timeout -s KILL 300 env "$@"
}

# over WHAT [SETTING...] PROGRAM ARGUMENT...: right values, and each event is what was done
over()
{
    run "$@"
    check "$1: each event is what was done" /usr/bin/python3 "$judge" "$told" \
        --version "${version:-5}"
}

# seen: the number of events there are
seen()
{
    cat "$told"/events.* 2>/dev/null | wc -l
}

over "a ring" NCCL_ALGO=ring NCCL_PROTO=simple "$programs/messages" 2
for how in bytes step parent state thread number; do
    check "with a wrong $how it is not" sh -c '! /usr/bin/python3 "$@" 2>/dev/null' sh \
        "$judge" "$told" --spoil "$how"
done
over "trees of four ranks, sockets" "$programs/configuration" ranks=4 transport=socket \
    algorithm=tree protocol=ll128 operation=all-reduce channels=2
over "a split, and a graph" "$programs/configuration" ranks=4 operation=any comms=split \
    manner=captured rounds=3 most=100000 channels=2
over "groups, and a parent's proxy" "$programs/configuration" ranks=2 transport=socket \
    operation=any comms=shared manner=grouped rounds=4 most=100000
over "in the background" "$programs/configuration" ranks=2 operation=any blocking=0 rounds=3 \
    most=100000
over "posted by another rank" MININCCL_NVLINK=1 MININCCL_RANKS_PER_NODE=2 \
    PROFILER_MASK=0xfdf "$programs/messages" 4
over "flushed" MININCCL_FLUSH=1 PROFILER_MASK=0xf9f "$programs/messages" 2
version=4 over "version 4 in 2.27" MININCCL_RELEASE=2.27.7 \
    NCCL_PROFILER_PLUGIN="$plugins/profiler_log-4.so" "$programs/messages" 2
version=4 over "version 4 in 2.28" NCCL_PROFILER_PLUGIN="$plugins/profiler_log-4.so" \
    PROFILER_MASK=0xf9f "$programs/messages" 2

# loads EXPECTED WHAT SETTING...: whether the plugin is told of anything
loads()
{
    loads_expected=$1
    loads_what=$2
    shift 2
    run "$loads_what" PROFILER_MASK=1 "$@" "$programs/configuration" ranks=2 \
        operation=all-reduce most=1000 manner=alone
    if [ "$(seen)" -gt 0 ]; then
        same "$loads_what: a plugin is loaded" "$loads_expected" yes
    else
        same "$loads_what: a plugin is loaded" "$loads_expected" no
    fi
}

names=$PWD/profiler.$$.names
trap 'rm -rf "$told" "$names"' EXIT
mkdir "$names"
ln -s "$plugins/profiler_log-5.so" "$names/libnccl-profiler.so"
ln -s "$plugins/profiler_log-5.so" "$names/libnccl-profiler-log.so"
found=LD_LIBRARY_PATH=$doubles/verbs:$names
loads yes "by a short name" "$found" NCCL_PROFILER_PLUGIN=log
loads yes "by a library's name" "$found" NCCL_PROFILER_PLUGIN=libnccl-profiler-log.so
loads yes "without a name" "$found" NCCL_PROFILER_PLUGIN=
loads no "a name of nothing" "$found" NCCL_PROFILER_PLUGIN=other
loads no "none" "$found" NCCL_PROFILER_PLUGIN=none
loads yes "linked to the program" LD_PRELOAD="$plugins/profiler_log-5.so" \
    NCCL_PROFILER_PLUGIN=STATIC_PLUGIN
loads no "version 5 in 2.27" MININCCL_RELEASE=2.27.7
loads yes "version 5 in 2.30" MININCCL_RELEASE=2.30.7
loads no "version 4 in 2.26" MININCCL_RELEASE=2.26.6 \
    NCCL_PROFILER_PLUGIN="$plugins/profiler_log-4.so"
tap_done
