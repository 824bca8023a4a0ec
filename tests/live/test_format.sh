#!/bin/sh
# SPDX-License-Identifier: MIT
# LTTng 2.15 and later write CTF 2 unless they are asked for what every reader knows.  No
# stable Debian has that release yet: its function is a stand-in's here, and so is its daemon;
# scripts/check-release records with LTTng 2.16.
# shellcheck disable=SC2016 # programs for other shells
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

run 10 "a recording where the library can be asked" env LD_PRELOAD="$programs/format.so" \
    FORMAT_FILE="$work/asked" "$ccltap" record -o "$work/trace" -- \
    "$programs/rank" "$top_builddir/tests/host/programs/slow.so" "$work/count" 10 100
same "the session is one of CTF 1.8, and its channels are enabled" "session format 1
setup enabled 1
hot enabled 1" "$(cat "$work/asked" || true)"
said "and is recorded" "nccl 20"

# doctor VERSION: of a host where no daemon answers, and one of this version would be started.
doctor()
{
    printf '#!/bin/sh\n[ "$1" = --version ] && echo %s\n' "$1" >"$work/sessiond"
    chmod +x "$work/sessiond"
    LTTNG_SESSIOND_PATH=$work/sessiond LD_PRELOAD=${2-} unshare -m sh -c \
        'mount -t tmpfs tmpfs /run/lttng && exec "$0" doctor' "$ccltap" >"$work/out" || true
}
format()
{
    sed -nE 's/^([a-z]+) +trace format +/\1 /p' "$work/out"
}
if ! unshare -m true 2>/dev/null; then
    skip "no mount namespace: run as root" "doctor compares versions"
else
    doctor 2.13.9
    check "doctor finds an older daemon right" sh -c 'case $0 in "ok lttng-sessiond 2.13.9 "*) ;;
        *) false ;; esac' "$(format)"
    case $(pkg-config --modversion babeltrace2) in
    2.0.*)
        doctor 2.15.1
        check "it finds a newer one wrong, which nobody can ask" sh -c 'case $0 in
            "wrong lttng-sessiond 2.15.1 writes CTF 2 unless "*"liblttng-ctl is too old"*) ;;
            *) false ;; esac' "$(format)"
        doctor 2.15.1 "$programs/format.so"
        check "and notes it where record asks" sh -c 'case $0 in
            "note lttng-sessiond 2.15.1 writes CTF 2 unless "*"install babeltrace2 2.1"*) ;;
            *) false ;; esac' "$(format)"
        ;;
    *)
        doctor 2.15.1
        check "doctor finds a newer one right, since this babeltrace2 reads it" sh -c 'case $0 in
            "ok lttng-sessiond 2.15.1 "*) ;; *) false ;; esac' "$(format)"
        ;;
    esac
fi
tap_done
