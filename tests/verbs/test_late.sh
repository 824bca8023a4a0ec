#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording that begins with requests under way, and one that lacks packets: nothing that
# is called exact is wrong.
set -eu
# shellcheck source=tests/verbs/programs.inc.sh
. "${top_srcdir:?}/tests/verbs/programs.inc.sh"

# late NAME PROGRAM ARGUMENT...: recorded from its middle on.
late()
{
    late_name=$1
    shift
    fresh
    rm -rf "$work/pause"
    mkdir "$work/pause"
    program=$1
    shift
    PROGRAM_PAUSE=$work/pause "$ccltap" record --paused -o "$work/$late_name" -- \
        "$programs/$program" "$@" 2>"$work/err" &
    pid=$!
    check "$late_name: it gets to its middle" within 20 \
        test -e "$work/pause/ready.0" -a -e "$work/pause/ready.1"
    check "$late_name: recording begins" env -u LD_LIBRARY_PATH "$ccltap" start "$work/$late_name"
    : >"$work/pause/go"
    status=0
    wait $pid || status=$?
    same "$late_name: the program ends as ever" 0 $status
    check "$late_name: it can be viewed" views "$work/$late_name"
    agrees "$late_name: nothing is wrong that is called exact" --partial
}

late omnireduce omnireduce
late uccl uccl
late mscclpp mscclpp
SOFTVERBS_LINK=infiniband
export SOFTVERBS_LINK
late hugectr hugectr
unset SOFTVERBS_LINK

# Packets of 4 KiB, so that there are some to lose.
session=ccltap-wire-$$
quietly()
{
    env -u LD_LIBRARY_PATH lttng --no-sessiond "$@" >/dev/null
}
trap 'quietly destroy "$session" 2>&1 || true; rm -rf "$work"' EXIT
lossy()
{
    lossy_name=$1
    shift
    fresh
    rm -rf "$work/small"
    start_session "$session" "$work/small" verbs 4096 2048
    program=$1
    shift
    # shellcheck disable=SC2016 # for the other shell
    check "$lossy_name runs once more" sh -c 'eval "$("$0" env)"; exec "$@"' \
        "$ccltap" "$programs/$program" "$@"
    quietly destroy "$session"
    for share in 0.01 0.1; do
        seed=$((${seed-0} + 1))
        rm -rf "$work/lossy"
        cp -r "$work/small" "$work/lossy"
        check "$lossy_name: $share of the packets go" /usr/bin/python3 \
            "$top_srcdir/tests/lib/drop-packets.py" "$work/lossy" "$share" "$seed"
        check "$lossy_name: it can be viewed" views "$work/lossy"
        agrees "$lossy_name: nothing is wrong that is called exact" --partial
    done
}

lossy omnireduce omnireduce
lossy uccl uccl
lossy mscclpp mscclpp

tap_done
