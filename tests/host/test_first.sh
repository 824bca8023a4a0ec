#!/bin/sh
# SPDX-License-Identifier: MIT
# A first traced call at an awkward moment does the program no harm, recorded or not.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

link=${top_builddir:?}/tests/link/programs
first=$top_builddir/tests/host/programs/first
ours=$top_builddir/.libs/libccltap.so
alone "$@"
[ -e "$ours" ] || { echo "Bail out! $ours is not built"; exit 1; }

# A deadlock is an answer too: it ends after a minute, where the rest takes a second.
run() # COMMAND...
{
    timeout -s KILL 60 "$@" 2>&1 </dev/null || echo "status $?"
}

moments="stack cancel error forks constructor"
if [ -n "${CCLTAP_EMULATED-}" ]; then
    moments="stack cancel error constructor"
    skip "the emulator's own lock stays taken in a child of a program with threads" "forks"
fi

for moment in $moments descriptors; do
    bare=$(run "$first" "$moment" "$link")
    same "$moment" "$bare" "$(run env LD_PRELOAD="$ours" "$first" "$moment" "$link")"
done

if lttng --no-sessiond list >/dev/null 2>&1; then
    CCLTAP_LIBDIR=$top_builddir/.libs
    export CCLTAP_LIBDIR
    for moment in $moments; do
        bare=$(run "$first" "$moment" "$link")
        same "$moment while it is recorded" "$bare" "$(run "$top_builddir/ccltap" record \
            -o "$top_builddir/tests/host/trace" --overwrite -- "$first" "$moment" "$link" |
            grep -v '^ccltap: ')"
    done

    # Without a limit a fork and the starter that wait for each other never end.
    same "handlers while it is recorded" "$(run "$first" handlers "$link")" \
        "$(run "$top_builddir/ccltap" record -o "$top_builddir/tests/host/trace" --overwrite \
            -- env LTTNG_UST_REGISTER_TIMEOUT=-1 "$first" handlers "$link" | grep -v '^ccltap: ')"

    for moment in $moments; do
        bare=$(run "$first" "$moment" "$link")
        same "$moment while its stacks are recorded too" "$bare" "$(run \
            "$top_builddir/ccltap" record --stacks=64 -o "$top_builddir/tests/host/trace" \
            --overwrite -- "$first" "$moment" "$link" | grep -v '^ccltap: ')"
    done

    # LTTng forks when it is the user's first time since the machine started.
    # shellcheck disable=SC2016
    if unshare -m mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
        check "a user's first program" unshare -m sh -c '
            mount -t tmpfs tmpfs /dev/shm && exec "$@"' - "$top_builddir/ccltap" record \
            -o "$top_builddir/tests/host/trace" --overwrite -- "$first" error "$link"
        "$top_builddir/ccltap" report --full "$top_builddir/tests/host/trace" \
            >"$top_builddir/tests/host/report" || true
        check "its first call is recorded" grep -q ncclGetVersion \
            "$top_builddir/tests/host/report"
        same "and none was before LTTng was there" "" \
            "$(grep 'not recorded' "$top_builddir/tests/host/report" || true)"
    else
        skip "no mount namespace: run as root" "a user's first program"
    fi
    rm -rf "$top_builddir/tests/host/trace" "$top_builddir/tests/host/report"
else
    skip "no LTTng session daemon: scripts/daemon make check" "the same while it is recorded"
fi

tap_done
