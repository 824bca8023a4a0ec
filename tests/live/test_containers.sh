#!/bin/sh
# SPDX-License-Identifier: MIT
# In a container as Docker makes it by default, with its system calls, capabilities and shared
# memory, with a root that cannot be written to, in a user namespace, and beside a session daemon
# of another process namespace, a program is recorded, or runs unharmed and doctor says which
# option of the container mends it.
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
run 1 "a scheduling class, too" within : chrt -f 1 true
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
run 0 "the program runs there in smaller buffers" within 'mount -t tmpfs -o size=512k tmpfs /dev/shm' \
    "$ccltap" record --overwrite --buffer-size 64K -o "$work/trace" -- "$allreduce" -n 2 -i 3
same "it does what it does without" "$bare" "$(sort "$work/out")"

writable='mount --bind "'"$work"'" "'"$work"'"'
read_only='mount --bind / /mnt; mount -o remount,bind,ro /'
records "a root that cannot be written to" "mount -t tmpfs tmpfs /dev/shm; $writable; $read_only"
run 0 "doctor finds nothing wrong there" within "mount -t tmpfs tmpfs /dev/shm; $read_only" \
    "$ccltap" doctor
all_read_only="$writable; mount -o remount,ro /run; $read_only"
run 1 "nor /run: doctor finds it wrong" within "$all_read_only" "$ccltap" doctor
check "and says what mends it" grep -q '^wrong  session daemon .*Read-only.*--tmpfs /run' "$work/out"
within "$all_read_only" "$ccltap" record --overwrite -o "$work/trace" -- "$allreduce" -n 2 -i 3 \
    >"$work/out" 2>"$work/err" || true
check "record says so, too, before the program starts" grep -q -e '--tmpfs /run' "$work/err"

# Of a user who has no privilege outside, and one identity inside.
user=54321
as_user="setpriv --reuid $user --regid $user --clear-groups env HOME=/nonexistent"
mkdir "$work/user"
chown "$user" "$work/user"
# rootless MAPPING MOUNTS COMMAND...
rootless()
{
    rootless_mapping=$1
    rootless_mounts=$2
    shift 2
    $as_user unshare --user "$rootless_mapping" -mpf --kill-child --mount-proc sh -euc '
        eval "$0"
        exec "$@"' "$rootless_mounts" "$contained" "$@"
}
own='mount -t tmpfs -o size=64m tmpfs /dev/shm; mount -t tmpfs tmpfs /run; mkdir /run/lttng /run/lock'
if ! rootless --map-root-user "$own" "$ccltap" --version >"$work/out" 2>&1; then
    skip "an ordinary user has no user namespace, or does not reach this folder" "user namespaces"
else
    for mapping in --map-root-user --map-current-user; do
        mounts=$own
        [ "$mapping" = --map-root-user ] || mounts=:
        run 0 "user namespace, $mapping: doctor finds nothing wrong" \
            rootless "$mapping" "$mounts" "$ccltap" doctor
        run 0 "a program is recorded" rootless "$mapping" "$mounts" \
            "$ccltap" record --overwrite -o "$work/user/trace" -- "$allreduce" -n 2 -i 3
        same "it does what it does without" "$bare" "$(sort "$work/out")"
        said "all of it is there" "2 processes, .* 0 discarded"
    done
    run 1 "the host's /run: doctor finds it wrong" rootless --map-root-user : "$ccltap" doctor
    check "and says what mends it" grep -q '^wrong  session daemon .*denied.*--tmpfs /run' "$work/out"
fi

# beside DAEMON-OPTIONS COMMAND...: in a process namespace of its own, with a daemon around it
# or, with -pf, in another.
beside()
{
    beside_options=$1
    shift
    unshare -mpf --kill-child --mount-proc sh -euc '
        mount -t tmpfs tmpfs /run
        mkdir -p /run/lttng /run/lock
        options=$0
        unshare $options --kill-child lttng-sessiond --no-kernel >/dev/null 2>&1 &
        until lttng --no-sessiond list >/dev/null 2>&1; do sleep 0.1; done
        unshare -mpf --kill-child --mount-proc "$@"' "$beside_options" "$@"
}
run 0 "a daemon around the process namespace: doctor finds nothing wrong" beside -f "$ccltap" doctor
check "the daemon takes programs" grep -q '^ok     session daemon .*takes programs' "$work/out"
run 0 "a program is recorded" beside -f "$ccltap" record --overwrite -o "$work/trace" -- \
    "$allreduce" -n 2 -i 3
same "it does what it does without" "$bare" "$(sort "$work/out")"
said "all of it is there" "2 processes, .* 0 discarded"
run 1 "a daemon in another: doctor finds it wrong" beside -pf "$ccltap" doctor
check "and says what mends it" grep -q '^wrong  session daemon .*refuses.*--pid=host' "$work/out"
run 0 "the program runs there" beside -pf "$ccltap" record --overwrite -o "$work/trace" -- \
    "$allreduce" -n 2 -i 3
same "it does what it does without" "$bare" "$(sort "$work/out")"
said "it is told where to look" "2 processes could not be recorded.*ccltap doctor says why"

tap_done
