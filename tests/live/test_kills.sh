#!/bin/sh
# SPDX-License-Identifier: MIT
# Whoever of a recording is killed, at any time: the program does not notice, and the next
# recording or `ccltap end` leaves nothing of it.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# These see nobody else's recordings, nor others these: they need not wait for each other.
exec 9>&-

# Some here; RUNS=200 for all that was shown once.
runs=${RUNS:-5}

# In folders of LTTng's own and with nobody else's processes, so that what is left is seen.
# shellcheck disable=SC2016 # for another shell
private='
    set -eu
    mount -t tmpfs tmpfs /var/run/lttng 2>/dev/null || mount -t tmpfs tmpfs /run/lttng
    mount -t tmpfs -o mode=1777 tmpfs /dev/shm
    exec "$@"'
apart()
{
    unshare --mount --pid --fork --mount-proc --kill-child sh -c "$private" - "$@"
}
if ! apart true 2>/dev/null; then
    echo "1..0 # SKIP no mount namespace, or none for processes: run as root"
    exit 0
fi

# killed USER OPTION...: that user's recordings.
killed()
{
    killed_user=$1
    shift
    apart /usr/bin/python3 -B "$top_srcdir/tests/live/programs/kills.py" --ccltap "$ccltap" \
        --rank "$programs/rank" --library "$top_builddir/tests/host/programs/slow.so" \
        --folder "$work/run" --runs "$runs" --seed "${SEED:-1}" --user "$killed_user" "$@"
}
user=64713
check "root's recordings" killed 0
chmod 755 "$work"
rm -rf /tmp/ccltap-$user
check "an ordinary user's" killed $user
check "one whose daemon does not answer any more is ended, too" killed $user --hung
rm -rf /tmp/ccltap-$user

# Killed between making a directory and saying whose it is.
# shellcheck disable=SC2016 # for another shell
run 10 "a directory that was being made is free again" apart sh -c '
    mkdir -p -m 0700 /var/run/lttng/ccltap "$1/made/$2"
    printf "home \npath %s\n" "$1/made/$2" >/var/run/lttng/ccltap/made-1.session
    : >"$1/made/$2/ccltap-recording"
    shift 2
    exec "$@"' - "$(realpath "$work")" "$host" "$ccltap" record -o "$work/made" -- \
    "$programs/rank" "$top_builddir/tests/host/programs/slow.so" "$work/count" 10 100
tap_done
