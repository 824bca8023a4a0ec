#!/bin/sh
# SPDX-License-Identifier: MIT
# What scripts/in-root runs in a root ends with who called it, and so do its mounts.
set -eu
# shellcheck disable=SC2016 # what is quoted is for other shells
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

in_root=$(cd "$top_srcdir" && pwd)/scripts/in-root
if ! unshare -mpf true 2>/dev/null || ! command -v setpriv >/dev/null; then
    echo "1..0 # SKIP no mount namespace: run as root, with setpriv"
    exit 0
fi
work=$(mktemp -d)
trap 'umount "$work/root"; rm -rf "$work"' EXIT
mkdir "$work/root"
mount --bind / "$work/root"

# has PATTERN: some process has it among its arguments, which are not this one's own.
has()
{
    grep -qs "$1" /proc/[0-9]*/cmdline
}
# in_time TEST...: it comes true.
in_time()
{
    tries=100
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.1
    done
}
none_left()
{
    ! has "${work}[/]mark"
}

status=0
"$in_root" "$work/root" sh -c 'exit 7' || status=$?
same "it has the command's status" 7 "$status"
same "and its input and output" "text" "$(echo text | "$in_root" "$work/root" cat)"
same "the root is the root" / "$("$in_root" "$work/root" sh -c 'cd / && pwd')"
mkdir "$work/bound"
echo here >"$work/bound/file"
same "a folder is where it is here" here "$("$in_root" --bind "$work/bound" "$work/root" cat "$work/bound/file")"
same "memory is of its own" "" "$("$in_root" "$work/root" sh -c 'ls /dev/shm')"
same "so is what runs" 1 "$("$in_root" "$work/root" sh -c 'echo $$')"

for signal in TERM KILL; do
    # The caller's own shell waits as scripts/check-arm64 does.
    sh -c '"$@" & wait "$!"' sh "$in_root" "$work/root" sh -c \
        'setsid sh -c "sleep 1000; : $0" & sleep 1000; :' "$work/mark" &
    caller=$!
    check "it runs" in_time has "[s]leep 1000; : $work/mark"
    kill -"$signal" "$caller"
    wait "$caller" 2>/dev/null || true
    check "it ends when the caller is ended by $signal" in_time none_left
done
same "nothing stays mounted" 1 "$(grep -c " $work/" /proc/mounts)"

tap_done
