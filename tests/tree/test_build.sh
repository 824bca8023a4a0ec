#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/build, which scripts/demo and scripts/check use, in a tree that was configured
# in place, as the README's install commands leave it: here a small one.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

if ! command -v autoreconf >/dev/null || ! command -v automake >/dev/null; then
    echo "1..0 # SKIP autoconf and automake are not installed: scripts/install-deps"
    exit 0
fi

# Outside of this tree: configure must not find this one's build-aux above.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/scripts"
cp "$top_srcdir/scripts/build" "$tree/scripts/"
echo one >"$tree/word"
cat >"$tree/configure.ac" <<'END'
AC_INIT([small], [1])
AM_INIT_AUTOMAKE([foreign])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
cat >"$tree/Makefile.am" <<'END'
EXTRA_DIST = scripts/build word
all-local:
	cp $(srcdir)/word made
END
(cd "$tree" && autoreconf --install) >"$tree/autoreconf.log" 2>&1

builds() # FOLDER WORD: and has made it there
{
    "$tree/scripts/build" "$tree/build/$1" && [ "$(cat "$tree/build/$1/made")" = "$2" ]
}

check "a tree that is not configured is built elsewhere" builds early one
check "without a copy of it" test ! -e "$tree/build/early/sources"
in_place=0
(cd "$tree" && ./configure && make) >"$tree/in-place.log" 2>&1 || in_place=$?
same "the tree is configured and built in place" "0 one" "$in_place $(cat "$tree/made")"
check "it is built elsewhere all the same" builds late one
check "from a copy" test -e "$tree/build/late/sources/word"
echo two >"$tree/word"
check "what changes later is built" builds late two
check "so it is where it was built before" builds early two
same "what was made in place stays" one "$(cat "$tree/made")"
(cd "$tree" && make distclean) >"$tree/distclean.log" 2>&1 || :
echo three >"$tree/word"
check "when it is no longer configured, the tree itself is built again" builds late three

tap_done
