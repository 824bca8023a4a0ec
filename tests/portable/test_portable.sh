#!/bin/sh
# SPDX-License-Identifier: MIT
# The portable form: it is made, and does all that it says in roots of Debian 12 and 13
# in which nothing is installed.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
# shellcheck source=tests/lib/tap.sh
. "$top_srcdir/tests/lib/tap.sh"

for tool in patchelf dpkg-query; do
    command -v "$tool" >/dev/null || {
        echo "1..0 # SKIP $tool is not installed: scripts/install-deps tests, on Debian"
        exit 0
    }
done
alone "$@"
# The build folder has one portable form.
exec 8>"$top_builddir/tests/portable.lock"
flock 8
work=$top_builddir/tests/portable/work.$$
mkdir -p "$work"
trap 'rm -rf "$work" "$top_builddir/old" "$top_builddir/old.tar.xz"' EXIT

check "the portable form is made, and what goes to a machine with a GPU" \
    env -u MAKEFLAGS make -C "$top_builddir" gpu-tarball
tarball=$(echo "$top_builddir"/ccltap-*-"$(uname -m)"-linux.tar.xz)
check "it is small" [ "$(stat -c %s "$tarball")" -lt 10000000 ]
gpu=$(echo "$top_builddir"/ccltap-*-gpu.tar.xz)
check "the other, too" [ "$(stat -c %s "$gpu")" -lt 60000000 ]
tar -C "$work" -xf "$gpu"
check "and runs where it is unpacked" \
    env CHECK_GPU_DOUBLES=1 "$work"/*-gpu/check-gpu --quick --only calls --results "$work/results"

status=0
PORTABLE_GLIBC=20 "$top_srcdir/scripts/make-portable" "$top_builddir" old >"$work/out" 2>&1 ||
    status=$?
same "what needs a newer glibc is not packed" 1 "$status"
check "and what that is, is said" grep -q 'lib/libccltap.so needs GLIBC_2.34, newer than 2.20' "$work/out"
check "and no tarball is left" [ ! -e "$top_builddir/old.tar.xz" ]

for release in bookworm trixie; do
    root=${CCLTAP_ROOTS-}/$release
    if [ -z "${CCLTAP_ROOTS-}" ] || [ ! -d "$root" ]; then
        skip "CCLTAP_ROOTS has no root of it: scripts/check makes it, as root" "it runs in $release"
        continue
    fi
    if ! unshare -mpf --kill-child true 2>/dev/null; then
        skip "no mount namespace can be made here" "it runs in $release"
        continue
    fi
    timeout 600 unshare -mpf --kill-child sh "$top_srcdir/tests/portable/enter.sh" "$root" "$tarball" \
        "$top_srcdir/tests/portable/inside.sh" >"$work/$release" 2>&1 || true
    passed_on "$work/$release" "$release: "
    check "$release: it came to its end" grep -q 'without the folder' "$work/$release"
done

tap_done
