#!/bin/sh
# SPDX-License-Identifier: MIT
# Each way of reaching NCCL gives the same with us and without, and those that
# we stand in the way of lead through us.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

[ -n "${WITHOUT-}" ] || alone "$@"
here=${top_builddir:?}/tests/link
ours=$top_builddir/.libs/libccltap.so
origins=$here/origins.$$
trap 'rm -f "$origins" "$here/without.$$.so"' EXIT
# WITHOUT=SYMBOL: with a libccltap that lacks this way in.
if [ -n "${WITHOUT-}" ]; then
    "$top_srcdir/tests/link/without.py" "$ours" "$WITHOUT" "$here/without.$$.so"
    ours=$here/without.$$.so
fi

# No session is needed to see where a call ends, and none is wanted.
run() # PRELOAD PROGRAM ARGUMENT...
{
    run_preload=$1
    shift
    env LD_PRELOAD="$run_preload" "$@" 3>"$origins" 2>&1 || echo "status $?"
}

both() # SENTENCE PROGRAM ARGUMENT...
{
    both_sentence=$1
    shift
    both_bare=$(run "" "$@")
    both_with=$(run "$ours" "$@")
    same "$both_sentence" "$both_bare" "$both_with"
}

from() # WHAT OBJECT: where the last program got a function from
{
    check "$1 comes from $2" grep -qx "$1 from $2" "$origins"
}

[ -e "$ours" ] || { echo "Bail out! $ours is not built"; exit 1; }

both "a program that asks for NCCL where there is none finds none" "$here/ways" probe "$here"
from default nothing

both "dlsym and dlvsym on a handle" "$here/ways" handle "$here"
from nccl libccltap.so
from pnccl libccltap.so

both "a library opened for all" "$here/ways" global "$here"
from default libccltap.so
from program libccltap.so

both "a framework opened for itself, with NCCL among its needs" "$here/ways" local "$here"
from "default of the library" libccltap.so
from "handle of the library" libccltap.so

both "a framework's own need opened with it" "$here/ways" deep "$here"
from "default of the library" libccltap.so
from handle libccltap.so

both "two copies, each call in the right one" "$here/ways" two "$here"
from first libccltap.so
from second libccltap.so

both "one copy more than there are wrappers" "$here/ways" many "$here"
for copy in 1 2 3 4; do
    from copy$copy.so libccltap.so
done
from copy5.so copy5.so
from "the last once more" libccltap.so

both "two frameworks, each with its own" "$here/ways" frameworks "$here"
both "a framework with its own that comes late, goes and comes again" "$here/ways" late "$here"
both "the same while others call" "$here/ways" race "$here"
both "a function that is called by a library with another copy" "$here/ways" passed_on "$here"
both "handles of dlmopen and RTLD_DEEPBIND" "$here/ways" apart "$here"
from namespace libccltap.so
from deepbind libccltap.so
both "a trampoline that keeps what it was given" "$here/ways" trampoline "$here"
from cached libccltap.so
both "a library that is closed and opened again" "$here/ways" again "$here"
both "errors of dlsym and dlclose are the program's own" "$here/ways" errors "$here"
both "a linked program" "$here/linked"
from linked libccltap.so

same "another interposer behind us" "$(run "$here/next.so" "$here/linked")" \
    "$(run "$ours:$here/next.so" "$here/linked")"
from next libccltap.so
same "another interposer before us" "$(run "$here/next.so" "$here/linked")" \
    "$(run "$here/next.so:$ours" "$here/linked")"
from next libccltap.so
same "all bound at start" "$(LD_BIND_NOW=1 run "" "$here/linked")" \
    "$(LD_BIND_NOW=1 run "$ours" "$here/linked")"

# Each of these shows the way that it is about: without it, it fails.
if [ -z "${WITHOUT-}" ]; then
    for way in "dlsym:nccl comes from libccltap.so" "dlsym:first comes from libccltap.so" \
        "dlsym:namespace comes from libccltap.so" "dlsym:next comes from libccltap.so" \
        "dlsym:cached comes from libccltap.so" \
        "dlclose:the last once more comes from libccltap.so" \
        "ncclGetVersion:linked comes from libccltap.so"; do
        WITHOUT=${way%%:*} "$0" >"$origins" 2>/dev/null 9>&- || true
        check "without ${way%%:*} it is noticed: ${way#*:}" grep -q "^not ok .* - ${way#*:}" \
            "$origins"
    done
fi

tap_done
