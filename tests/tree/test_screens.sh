#!/bin/sh
# SPDX-License-Identifier: MIT
# The screens and the picture in README.md, and the screens in doc/diagnoses.md and the manual pages,
# are what the tool says of three traces of the bundled program.
#
#     SCREENS_UPDATE=1 make -C build/check check TESTS=tests/tree/test_screens.sh
#
# writes them anew, and the picture; screens/record records the traces anew.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=$(cd "${top_builddir:?}" && pwd)/tests/tree/screens.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/traces" "$work/bin"
CCLTAP_LIBDIR=$(cd "$top_builddir" && pwd)/.libs
export CCLTAP_LIBDIR
ln -s "$(cd "$top_builddir" && pwd)/ccltap" "$work/bin/ccltap"
PATH=$work/bin:$PATH
for archive in "$top_srcdir"/tests/tree/screens/*.tar.xz; do
    tar -xJf "$archive" -C "$work/traces"
done

screens() # FILE...
{
    /usr/bin/python3 "$top_srcdir/tests/tree/screens.py" "$work/traces" "$@"
}

# shellcheck disable=SC2046 # names without spaces
screens "$top_srcdir/README.md" "$top_srcdir/doc/diagnoses.md" $(grep -l '^\.\\" screen: ' "$top_srcdir"/doc/man/*) >"$work/out" ||
    echo "not ok - screens.py comes to its end" >>"$work/out"
passed_on "$work/out"
ccltap timeline --format jsonl "$work/traces/late" | /usr/bin/python3 "$top_srcdir/tests/tree/picture.py" >"$work/late.svg"
same "doc/late.svg is what a script draws of the trace" "$(cat "$top_srcdir/doc/late.svg")" \
    "$(cat "$work/late.svg")"
[ -z "${SCREENS_UPDATE-}" ] || cp "$work/late.svg" "$top_srcdir/doc/late.svg"
check "README.md has screens" grep -q 'ok - README.md: ccltap' "$work/out"

# One with a word that the tool does not say.
sed '/^<!-- screen: /,/^<!-- end of screen/s/rank/rang/' "$top_srcdir/README.md" >"$work/README.md"
unset SCREENS_UPDATE
screens "$work/README.md" >"$work/wrong"
check "a screen that is not what the tool prints is found" grep -q '^not ok' "$work/wrong"

tap_done
