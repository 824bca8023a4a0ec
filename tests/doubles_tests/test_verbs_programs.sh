#!/bin/sh
# SPDX-License-Identifier: MIT
# softverbs as a linker sees it, and under programs that know nothing of it: the ping-pongs
# of libibverbs and perftest, on either link layer.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

here=$(cd "${top_builddir:?}/tests/doubles/verbs" && pwd)
library=$here/libibverbs.so.1
log=$PWD/verbs-programs.$$
server=
trap 'rm -f "$log".*; [ -z "$server" ] || kill -9 "$server" 2>/dev/null || :' EXIT
SOFTVERBS_FABRIC=programs.$$
export SOFTVERBS_FABRIC

# Lines of name@version of what a library has.
names()
{
    readelf --dyn-syms -W "$1" |
        awk '$7 != "UND" && $8 ~ /@/ && $4 != "NOTYPE" { sub("@+", "@", $8); print $8 }' |
        grep -v '^IBVERBS_' | sort -u
}

names "$library" >"$log.ours"
real=$(ldconfig -p | awk '/libibverbs.so.1 .*x86-64/ { print $NF; exit }')
if [ -n "$real" ]; then
    names "$real" >"$log.real"
    # Those for providers change with each release.
    same "it has no name that the real one has not, in no other version" "" \
        "$(comm -23 "$log.ours" "$log.real" | grep -v '@IBVERBS_PRIVATE' || :)"
    # Those of rdma-core 44; newer ones have more.
    same "it lacks none but those of before 2007" "" \
        "$(comm -13 "$log.ours" "$log.real" |
            grep -vE '@IBVERBS_(1\.0|1\.1[5-9]|PRIVATE_.*)$' || :)"
else
    skip "no libibverbs: scripts/install-deps tests gets it" "its names are those of the real one"
fi
same "it has the real soname" libibverbs.so.1 \
    "$(readelf -dW "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')"

# Below the ports that the kernel gives to sockets of other tests.
port=$((10000 + $$ % 20000))

used() # STATE: whether a socket in this state (in the kernel's numbers) has the port
{
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
        grep -q "$(printf ': [0-9A-F]*:%04X [0-9A-F:]* %s ' "$port" "$1")"
}

# pair PROGRAM ARGUMENT...: runs it twice, as server and as client; fails if one does.
pair()
{
    while used '..'; do
        port=$((port + 1))
    done
    LD_LIBRARY_PATH=$here timeout 60 "$@" -p "$port" >"$log.server" 2>&1 &
    server=$!
    until used 0A || ! kill -0 "$server" 2>/dev/null; do
        sleep 0.05
    done
    pair_status=0
    LD_LIBRARY_PATH=$here timeout 60 "$@" -p "$port" 127.0.0.1 >"$log.client" 2>&1 ||
        pair_status=$?
    wait "$server" || pair_status=$?
    server=
    [ "$pair_status" -eq 0 ] || cat "$log.server" "$log.client"
    return "$pair_status"
}

program() # SENTENCE PROGRAM ARGUMENT...
{
    program_sentence=$1
    shift
    if command -v "$1" >/dev/null; then
        check "$program_sentence" pair "$@"
    else
        skip "no $1: scripts/install-deps tests gets it" "$program_sentence"
    fi
}

program "reliable ping-pong" ibv_rc_pingpong -g 1 -n 200
program "with events" ibv_rc_pingpong -g 1 -n 200 -e
program "with the newer interface" ibv_rc_pingpong -g 1 -n 200 -N
program "with time stamps" ibv_rc_pingpong -g 1 -n 200 -t
program "unreliable ping-pong" ibv_uc_pingpong -g 1 -n 200
program "datagrams" ibv_ud_pingpong -g 1 -n 200 -s 1024
program "shared receive queue, 16 queue pairs" ibv_srq_pingpong -g 1 -n 200
program "perftest sends" ib_send_bw -F -x 1 -n 1000
# Not more than are received before the first is taken: nothing holds datagrams back.
program "perftest sends datagrams" ib_send_bw -F -x 1 -n 500 -c UD
program "perftest writes, over 4 queue pairs" ib_write_bw -F -x 1 -n 1000 -q 4
program "perftest reads" ib_read_bw -F -x 1 -n 500
program "perftest counts atomically" ib_atomic_bw -F -x 1 -n 500
# The client of this one waits in memory, and makes no call.
program "perftest waits for a write" ib_write_lat -F -x 1 -n 200

SOFTVERBS_LINK=infiniband
export SOFTVERBS_LINK
program "reliable ping-pong by LIDs" ibv_rc_pingpong -n 200
program "datagrams without a GRH" ibv_ud_pingpong -n 200 -s 1024
program "perftest by LIDs" ib_send_bw -F -n 1000

SOFTVERBS_FAULTS=retry@50
export SOFTVERBS_FAULTS
if command -v ibv_rc_pingpong >/dev/null; then
    pair ibv_rc_pingpong -n 200 >/dev/null 2>&1 || :
    check "a program meets the fault that was asked for" \
        grep -q 'transport retry counter exceeded' "$log.client" "$log.server"
else
    skip "no ibv_rc_pingpong" "a program meets the fault that was asked for"
fi
SOFTVERBS_FAULTS=rnr
if LD_LIBRARY_PATH=$here ibv_devinfo >"$log.client" 2>&1; then
    ok 1 "a fault that is not understood ends the program"
else
    check "a fault that is not understood ends the program" grep -q 'SOFTVERBS_FAULTS' "$log.client"
fi
tap_done
