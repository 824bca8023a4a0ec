#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of the tree that a script can check, and that the checks find what they are for.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=${top_builddir:?}/tests/tree/work.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/join"

fails() # COMMAND...
{
    ! "$@"
}

check "includes follow the layers" "$top_srcdir/scripts/check-layers" "$top_srcdir"
echo '#include "intercept/entry.h"' >"$work/src/join/wrong.c"
check "an include against the layers is found" fails "$top_srcdir/scripts/check-layers" "$work"

check "the libraries export and call what they may" \
    "$top_srcdir/scripts/check-exports" "$top_builddir"
mkdir -p "$work/build/.libs"
cp "$top_builddir/.libs/libccltap.so" "$work/build/.libs/libccltap-events.so"
cp "$top_builddir/.libs/libccltap.so" "$work/build/.libs/"
ln -s "$top_builddir/list-calls" "$work/build/list-calls"
check "a library that exports something else is found" \
    fails "$top_srcdir/scripts/check-exports" "$work/build"

# One that does not includes what somebody else happened to include before.
for header in $(cd "$top_srcdir" && find src -name '*.h' ! -name '*_tp.h' | sort); do
    echo "#include \"${header#src/}\"" >"$work/alone.c"
    # shellcheck disable=SC2046,SC2086 # both may be lists of options
    check "$header compiles alone" $CC -std=gnu11 -D_GNU_SOURCE -fsyntax-only \
        -I"$top_srcdir/src" $(pkg-config --cflags babeltrace2) "$work/alone.c"
done

if command -v shellcheck >/dev/null; then
    # shellcheck disable=SC2046 # a list of names without spaces
    check "shell scripts are clean" shellcheck -x -P "$top_srcdir" $(cd "$top_srcdir" &&
        grep -lE '^#!/bin/(sh|bash)|^# shellcheck shell' bootstrap scripts/* portable/* tests/*/*.sh tests/rdma/* |
        sed "s|^|$top_srcdir/|")
else
    skip "shellcheck is not installed: scripts/install-deps tests" "shell scripts are clean"
fi

if command -v man >/dev/null; then
    for page in "$top_srcdir"/doc/man/*; do
        # One that is another's page says where it will be when both are installed.
        other=$(sed -n 's|^\.so man1/||p' "$page")
        if [ -n "$other" ]; then
            check "$(basename "$page") is another page" test -e "$top_srcdir/doc/man/$other"
            continue
        fi
        check "$(basename "$page") is well formed" sh -c \
            "LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z '$page' 2>&1 >/dev/null | { ! grep .; }"
    done
else
    skip "man is not installed: scripts/install-deps tests" "manual pages are well formed"
fi

tap_done
