#!/bin/sh
# SPDX-License-Identifier: MIT
# No session daemon, one that hangs or dies, and no room for what it wants to write.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

# A daemon of one's own is in a mount namespace where nobody else's is.
if ! unshare -m mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
    echo "1..0 # SKIP no mount namespace: run as root"
    exit 0
fi
if ! command -v "${LTTNG_SESSIOND_PATH:-lttng-sessiond}" >/dev/null; then
    echo "1..0 # SKIP lttng-sessiond is not installed"
    exit 0
fi
export preload ccltap work here

# The daemon is $daemon; begin starts it, end ends it, and nobody else is touched.
cat >"$work/private" <<'END'
set -eu
[ -d /run/lttng ] || mkdir /run/lttng
mount -t tmpfs tmpfs /run/lttng
mount -t tmpfs tmpfs /dev/shm
daemon=
full() { mount -t tmpfs -o "size=$SHM_SIZE" tmpfs /dev/shm; }
begin()
{
    "${LTTNG_SESSIOND_PATH:-lttng-sessiond}" --no-kernel >/dev/null 2>&1 &
    daemon=$!
    tries=0
    until lttng --no-sessiond list >/dev/null 2>&1 || [ $tries -gt 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
}
record_all()
{
    lttng -q create harm --output="$work/by-hand" >/dev/null
    lttng -q enable-channel -u --subbuf-size=1M --num-subbuf=4 all >/dev/null
    lttng -q enable-event -u -c all 'nccl:*,tap:*' >/dev/null
    lttng -q start >/dev/null
}
end()
{
    [ -z "$daemon" ] || { kill -CONT "$daemon"; kill -KILL "$daemon"; } 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
}
trap end EXIT
END

# privately SCRIPT COMMAND...: the script, with "$@" the command, in a namespace of its own.
privately()
{
    privately_script=$1
    shift
    run unshare -m --propagation private sh -c ". '$work/private'; $privately_script" - "$@"
}

# during SENTENCE SCRIPT MOMENT: the same as bare, in what the script makes.
during()
{
    during_bare=$(run "$programs/processes" "$3")
    same "$1: $3" "$during_bare" \
        "$(privately "$2" env LD_PRELOAD="$preload" "$programs/processes" "$3")"
}

# shellcheck disable=SC2016 # the scripts' own variables
{
during "no daemon" '"$@"' fork-later
during "no daemon" '"$@"' fork-while-calling
during "a daemon, and nobody records" 'begin; "$@"' fork-while-calling
# Each first call waits, and each fork: so no more of it.
during "a daemon that hangs from the start" 'begin; kill -STOP $daemon; "$@"' once
during "a daemon that is killed while it records" \
    'begin; record_all; (sleep 0.5; kill -KILL $daemon) & "$@"' linger
during "a consumer that is killed while it records" \
    'begin; record_all; (sleep 0.5; kill -KILL $(pgrep -P $daemon)) & "$@"' linger
during "a daemon that hangs while it records" \
    'begin; record_all; (sleep 0.5; kill -STOP $daemon) & "$@"' linger
for moment in once fork-while-calling; do
    during "no room for buffers" 'SHM_SIZE=256k; full; begin; record_all; "$@"' $moment
    during "no room in shared memory at all, and no daemon" \
        'SHM_SIZE=4k; full; echo 1 >/dev/shm/one; "$@"' $moment
    during "no room in shared memory any more" 'SHM_SIZE=16m; full; begin; record_all
        cat /dev/zero >/dev/shm/all 2>/dev/null || true; "$@"' $moment
done
during "a disk that is full" 'mkdir -p "$work/full"
    mount -t tmpfs -o size=64k tmpfs "$work/full"; begin
    shift 2; "$ccltap" record --overwrite -o "$work/full/trace" -- "$@" 2>"$work/said"' \
    linger
}
check "record says that the disk is full" grep -q "the disk is full" "$work/said"

tap_done
