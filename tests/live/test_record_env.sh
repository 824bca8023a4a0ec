#!/bin/sh
# SPDX-License-Identifier: MIT
# What `ccltap env` prints makes a shell trace, and loads libraries in the right order.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

ours=$(realpath "$CCLTAP_LIBDIR")/libccltap.so
guard=$(LD_PRELOAD=liblttng-ust-fd.so.1 ldd /bin/sh | sed -n 's/.*-fd.so.1 => \([^ ]*\).*/\1/p')

# A ccltap that is built with a sanitizer would not start after another library.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

# with PRESENT: LD_PRELOAD as a shell has it after the lines, where it was PRESENT.
with()
{
    # shellcheck disable=SC2016
    env ${1:+LD_PRELOAD="$1"} sh -c 'eval "$("$0" env)"; echo "$LD_PRELOAD"' "$ccltap" \
        2>/dev/null
}

same "the tracer and LTTng's guard" "$ours:$guard" "$(with "")"
same "what was there comes after" "$ours:$guard:libc.so.6" "$(with libc.so.6)"
same "a sanitizer's runtime stays first" \
    "libubsan.so.1:$ours:$guard:libc.so.6" "$(with "libc.so.6:libubsan.so.1")"
same "twice is once" "$ours:$guard" "$(with "$ours:$guard")"
same "by its plain name too" "$ours:$guard" "$(with "liblttng-ust-fd.so.1")"
# shellcheck disable=SC2046
same "an unquoted substitution works too" "$ours:$guard" \
    "$(eval $("$ccltap" env) && echo "$LD_PRELOAD")"

odd="$work/it's;\$(touch"
mkdir "$odd"
ln -s "$ours" "$odd/libccltap.so"
same "a directory's name that a shell would read" "$odd/libccltap.so:$guard" \
    "$(CCLTAP_LIBDIR=$odd with "")"
mkdir "$work/a space"
ln -s "$ours" "$work/a space/libccltap.so"
CCLTAP_LIBDIR="$work/a space" run 1 "a directory that LD_PRELOAD cannot hold" \
    "$ccltap" env
said "it is told" "LD_PRELOAD cannot hold"
CCLTAP_LIBDIR=$work/none run 1 "no tracer" "$ccltap" env
said "it is told" "cannot read $work/none/libccltap.so"
run 2 "a session's name that a shell would read" "$ccltap" env --session 'x
rm'
run 2 "an argument" "$ccltap" env sing
# shellcheck disable=SC2016
run 1 "a full disk" sh -c 'exec "$0" env >/dev/full' "$ccltap"
said "it is told" "standard output"

# The commands that are shown are those to type.
name=ccltap-test-env-$$
"$ccltap" env --session "$name" |
    sed -n "s,^#   lttng create .*,& --output='$work/by-hand',; s/^#   //p" \
        >"$work/commands"
check "a session by the commands shown" sh -eu "$work/commands"
tap_done
