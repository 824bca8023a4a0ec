#!/bin/sh
# SPDX-License-Identifier: MIT
# What we read from unwind tables is what readelf reads, in whatever libraries are here;
# damaged tables do no harm.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

rules=${top_builddir:?}/tests/stack/programs/rules
for tool in readelf /usr/bin/python3; do
    command -v "$tool" >/dev/null || { echo "1..0 # SKIP $tool is not installed"; exit 0; }
done

case $(uname -m) in
aarch64) kind=AArch64 ;;
*) kind=x86-64 ;;
esac

# The path of a library that the linker finds, or nothing.
path_of() # NAME
{
    LC_ALL=C ldconfig -p | sed -n "s|^[[:space:]]*$1 (libc6,$kind.*=> ||p" | head -n 1
}

for name in libc.so.6 libm.so.6 libstdc++.so.6 libcrypto.so.3 liblttng-ust.so.1 libdw.so.1; do
    path=$(path_of "$name")
    if [ -n "$path" ]; then
        check "$name has the rules that readelf shows" \
            /usr/bin/python3 "$top_srcdir/tests/stack/expect/rules.py" "$rules" "$path"
    else
        skip "not here" "$name has the rules that readelf shows"
    fi
done

libc=$(path_of libc.so.6)
for seed in 1 2 3; do
    check "damaged tables do no harm, seed $seed" "$rules" --damage "$libc" "$seed"
done

tap_done
