#!/bin/sh
# SPDX-License-Identifier: MIT
# A rank that is late, on the host or on its GPU, always, at times or once, and one whose
# messages are slow, is found, and what is said of it agrees with the program's own log.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

SOFTVERBS_FABRIC=straggler.$$
export SOFTVERBS_FABRIC

# recorded NAME RECORD-OPTION ARGUMENT...: of straggler.c; with the doubles of the wire and of
# CUPTI.
recorded()
{
    name=$1
    option=$2
    shift 2
    run 0 "$name: the program is recorded" "$ccltap" record "$option" -o "$work/$name" -- \
        env "LD_LIBRARY_PATH=$top_builddir/tests/doubles/verbs:$top_builddir/tests/doubles/cupti" \
        "$programs/straggler" "$@"
    cp "$work/out" "$work/$name.log"
    "$ccltap" why --json "$work/$name" >"$work/$name.json" || true
    "$ccltap" why "$work/$name" >"$work/$name.why" || true
}

# found NAME KIND RANK WORDS
found()
{
    check "$1: the first finding is the rank, and its number the log's" /usr/bin/python3 \
        "$top_srcdir/tests/live/expect/straggler.py" "$work/$1.log" "$work/$1.json" "$2" "$3"
    check "$1: it says '$4'" grep -q "$4" "$work/$1.why"
}

recorded host --gpu=all 4 11 1000 1 2 200 1 1 host
found host late 2 '^FINDING  Rank 2 is late: last to start 1[01] of 11 collectives'
check "host: it loses the time before it calls" grep -q 'before it calls' "$work/host.why"
check "host: the transfer is not the problem" grep -q 'The transfer is not' "$work/host.why"

recorded gpu --gpu=all 4 9 1000 1 1 150 0 1 gpu
found gpu late 1 "in the GPU's queue, after the launch"

recorded calls --gpu=off 2 12 1000 1 0 200 0 1 host
found calls late 0 'as the calls show'
check "calls: which is inferred" \
    grep -q '"lateness_ns","value":[0-9]*,"known":"inferred"' "$work/calls.json"

recorded period --gpu=all 4 41 1000 1 3 200 4 6 host
found period late 3 'to every 6th collective'

recorded net --gpu=all 4 20 0 1 1 10 0 1 net
echo 'late 0 10000000' >"$work/net.log"
found net slow 1 'Messages of rank 1 to rank 2 are slow'

recorded well --gpu=all 4 30 5000 1 -1 0 0 1 host
check "well: nothing is found above a note" grep -q '"verdict":"clear"' "$work/well.json"
tap_done
