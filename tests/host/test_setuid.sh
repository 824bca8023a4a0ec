#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs into which the dynamic linker preloads nothing, or that have none.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

# unseen SENTENCE COMMAND...: as without us, and record says that it saw nothing.
unseen()
{
    unseen_sentence=$1
    unharmed "$@"
    shift
    if [ $has_daemon = no ]; then
        skip "no LTTng session daemon: scripts/daemon make check" "$unseen_sentence, recorded"
        return
    fi
    same "$unseen_sentence, recorded" "$unharmed_bare" "$(recorded "$@")"
    check "$unseen_sentence, and record says so" \
        grep -q "nothing was attached.*linked statically.*setuid" "$work/closing"
}

# A folder that everybody can read, with all that the program needs.
open=$(mktemp -d)
trap 'rm -rf "$work" "$open"' EXIT
chmod 755 "$open"
build_error=
if [ -n "${CCLTAP_EMULATED-}" ]; then
    skip "the emulator runs a program as whoever runs the emulator" "set-user-ID programs"
elif [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
    build_error=$($CC -pthread -o "$open/program" "$top_srcdir/tests/host/programs/processes.c" \
        -L"$link" -l:copy2.so -Wl,-rpath,"$open" 2>&1); then
    cp "$link/copy2.so" "$open/"
    cp "$open/program" "$open/setuid"
    chown 65534 "$open/setuid"
    chmod 4755 "$open/setuid"
    unseen "a set-user-ID program of nobody, run by root" "$open/setuid" once
    unharmed "that makes processes" "$open/setuid" fork-later
    cp "$open/program" "$open/setgid"
    chgrp 65534 "$open/setgid"
    chmod 2755 "$open/setgid"
    unseen "a set-group-ID program" "$open/setgid" once
    cp "$open/program" "$open/root"
    chmod 4755 "$open/root"
    # What is preloaded is where nobody can read it.
    cp "$ours" "$CCLTAP_LIBDIR/libccltap-events.so" "$open/"
    preload=$open/libccltap.so:${preload#*:}
    as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
    # shellcheck disable=SC2086
    {
    unharmed "a set-user-ID program of root, run by nobody" $as_nobody "$open/root" once
    unharmed "any other program, run by nobody" $as_nobody "$open/program" fork-later
    unharmed "a shell of nobody's that runs it" $as_nobody sh -c \
        "'$open/root' once; '$open/program' once; '$open/root' fork-first"
    }
    chmod 700 "$open/libccltap.so" "$open/libccltap-events.so"
    # shellcheck disable=SC2086,SC2016
    check "a library that the user cannot read: the linker says so, the program runs" \
        sh -c 'LD_PRELOAD=$0 "$@" 2>/dev/null | grep -q "result 0 version 2"' \
        "$open/libccltap.so" $as_nobody "$open/program" once
else
    echo "# $build_error"
    skip "needs root and setpriv" "set-user-ID programs"
fi

for way in static static-pie; do
    if $CC -$way -pthread -o "$work/$way" "$top_srcdir/tests/host/programs/processes.c" \
        "$top_srcdir/tests/host/programs/slow.c" >"$work/log" 2>&1; then
        unseen "a program that is linked -$way" "$work/$way" once
        unharmed "a program that is linked -$way and forks" "$work/$way" fork-later
    else
        skip "no libc.a to link with: Debian's libc6-dev has it" "a program that is linked -$way"
    fi
done

tap_done
