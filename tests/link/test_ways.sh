#!/bin/sh
# SPDX-License-Identifier: MIT
# Each way of reaching NCCL gives the same with us and without, and those that
# we stand in the way of lead through us.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

[ -n "${WITHOUT-}" ] || alone "$@"
made=${top_builddir:?}/tests/link
programs=$made/programs
ours=$top_builddir/.libs/libccltap.so
origins=$made/origins.$$
trap 'rm -f "$origins" "$made/without.$$.so"' EXIT
# WITHOUT=SYMBOL: with a libccltap that lacks this way in.
if [ -n "${WITHOUT-}" ]; then
    "$top_srcdir/tests/lib/without.py" "$ours" "$WITHOUT" "$made/without.$$.so"
    ours=$made/without.$$.so
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

both "a program that asks for NCCL where there is none finds none" "$programs/ways" probe "$programs"
from default nothing

both "dlsym and dlvsym on a handle" "$programs/ways" handle "$programs"
from nccl libccltap.so
from pnccl libccltap.so

both "a library opened for all" "$programs/ways" global "$programs"
from default libccltap.so
from program libccltap.so

both "a framework opened for itself, with NCCL among its needs" "$programs/ways" local "$programs"
from "default of the library" libccltap.so
from "handle of the library" libccltap.so

both "a framework's own need opened with it" "$programs/ways" deep "$programs"
from "default of the library" libccltap.so
from handle libccltap.so

both "two copies, each call in the right one" "$programs/ways" two "$programs"
from first libccltap.so
from second libccltap.so

both "one copy more than there are wrappers" "$programs/ways" many "$programs"
for copy in 1 2 3 4; do
    from copy$copy.so libccltap.so
done
from copy5.so copy5.so
from "the last once more" libccltap.so

both "two frameworks, each with its own" "$programs/ways" frameworks "$programs"
both "two frameworks, whose NCCLs call themselves by a jump" "$programs/ways" jumps "$programs"
both "a framework with its own that comes late, goes and comes again" "$programs/ways" late "$programs"
both "the same while others call" "$programs/ways" race "$programs"
both "a function that is called by a library with another copy" "$programs/ways" passed_on "$programs"
both "handles of dlmopen and RTLD_DEEPBIND" "$programs/ways" apart "$programs"
from namespace libccltap.so
from deepbind libccltap.so
both "a trampoline that keeps what it was given" "$programs/ways" trampoline "$programs"
from cached libccltap.so
both "a library that is closed and opened again" "$programs/ways" again "$programs"
both "errors of dlsym and dlclose are the program's own" "$programs/ways" errors "$programs"
both "a linked program" "$programs/linked"
from linked libccltap.so

same "another interposer behind us" "$(run "$programs/next.so" "$programs/linked")" \
    "$(run "$ours:$programs/next.so" "$programs/linked")"
from next libccltap.so
same "another interposer before us" "$(run "$programs/next.so" "$programs/linked")" \
    "$(run "$programs/next.so:$ours" "$programs/linked")"
from next libccltap.so
same "all bound at start" "$(LD_BIND_NOW=1 run "" "$programs/linked")" \
    "$(LD_BIND_NOW=1 run "$ours" "$programs/linked")"

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
