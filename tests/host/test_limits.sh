#!/bin/sh
# SPDX-License-Identifier: MIT
# Too few descriptors, threads, bytes or rights for LTTng: the program has its own.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

# ld.so itself needs some of it for each library: so the program comes up without us too.
limited() # LIMIT COMMAND...
{
    limited_limit=$1
    shift
    limited_bare=$(run "$programs/limits" "$limited_limit" "$@")
    same "$limited_limit" "$limited_bare" \
        "$(run env LIMITED_PRELOAD="$preload" "$programs/limits" "$limited_limit" "$@")"
}

for what in membarrier socket connect clone3 memfd rseq getrandom files-5 files-6 files-8 \
    files-12 files-16 files-24 memory-8 memory-12 memory-16 memory-24 memory-48 memory-96 \
    stack size locked; do
    limited $what "$programs/processes" once
    limited $what "$programs/processes" fork-later
done

# Root may always have one more.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    open=$(mktemp -d)
    trap 'rm -rf "$work" "$open"' EXIT
    chmod 755 "$open"
    cp "$programs/limits" "$ours" "$CCLTAP_LIBDIR/libccltap-events.so" "$link/copy2.so" "$open/"
    $CC -pthread -o "$open/processes" "$top_srcdir/tests/host/programs/processes.c" \
        "$open/copy2.so" -Wl,-rpath,"$open"
    preload=$open/libccltap.so:${preload#*:}
    for what in threads threads-2 threads-3; do
        limited_bare=$(run setpriv --reuid 54321 --clear-groups "$open/limits" $what \
            "$open/processes" once)
        same "$what" "$limited_bare" "$(run env LIMITED_PRELOAD="$preload" setpriv \
            --reuid 54321 --clear-groups "$open/limits" $what "$open/processes" once)"
    done
else
    skip "needs root and setpriv" "threads cannot be made"
fi

tap_done
