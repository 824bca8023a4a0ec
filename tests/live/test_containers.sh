#!/bin/sh
# SPDX-License-Identifier: MIT
# In a container as Docker makes it by default, with its system calls, capabilities and shared
# memory, and with a root that cannot be written to, a program is recorded, or runs unharmed and
# doctor says which option of the container mends it.
# shellcheck disable=SC2016 # what is quoted is for shells in namespaces
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

if ! unshare -mpf true 2>/dev/null || ! command -v setpriv >/dev/null; then
    echo "1..0 # SKIP no mount namespace: run as root, with setpriv"
    exit 0
fi
contained=$top_builddir/tests/host/programs/contained
allreduce=$top_builddir/examples/allreduce
bare=$("$allreduce" -n 2 -i 3 | sort)
docker='-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap'

# within MOUNTS COMMAND...: in a container of its own, which has these mounts.
within()
{
    within_mounts=$1
    shift
    unshare -mpf --kill-child --mount-proc sh -euc '
        mount -t tmpfs tmpfs /run
        mkdir -p /run/lttng /run/lock
        eval "$0"
        exec "$@"' "$within_mounts" setpriv --bounding-set "$docker" --inh-caps=-all "$contained" "$@"
}
# records SENTENCE MOUNTS: both ranks are recorded there, and have their sums.
records()
{
    run 0 "$1: a program is recorded" within "$2" "$ccltap" record --overwrite -o "$work/trace" -- \
        "$allreduce" -n 2 -i 3
    same "it does what it does without" "$bare" "$(sort "$work/out")"
    said "all of it is there" "2 processes, .* 0 discarded"
}

run 1 "what a container refuses is refused" within : unshare -m true
run 1 "a processor's memory, too" within : /usr/bin/python3 -c '
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 239, "aarch64": 236}[__import__("os").uname().machine]
sys.exit(libc.syscall(number, 0, 0, 0, 0, 0) != 0 and ctypes.get_errno() == 1)'

records "shared memory of 64 MB" 'mount -t tmpfs -o size=64m tmpfs /dev/shm'
run 0 "doctor finds nothing wrong there" within 'mount -t tmpfs -o size=64m tmpfs /dev/shm' \
    "$ccltap" doctor

run 1 "shared memory of 512 KB: doctor finds it wrong" \
    within 'mount -t tmpfs -o size=512k tmpfs /dev/shm' "$ccltap" doctor
check "and says what mends it" grep -q '^wrong  shared memory .*--shm-size' "$work/out"
within 'mount -t tmpfs -o size=512k tmpfs /dev/shm' "$ccltap" record --overwrite -o "$work/trace" -- \
    "$allreduce" -n 2 -i 3 >"$work/out" 2>"$work/err" || true
check "record says so, too, before the program starts" grep -q 'shm' "$work/err"

records "a root that cannot be written to" 'mount -t tmpfs tmpfs /dev/shm
    mount --bind "'"$work"'" "'"$work"'"; mount --bind / /mnt; mount -o remount,bind,ro /'

tap_done
