#!/bin/sh
# SPDX-License-Identifier: MIT
# What is opened is found as without us, and other libraries are preloaded beside us.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

for moment in runpath no-load deep memory symbols; do
    harmless "$moment" "$programs/loading" $moment
done
LD_BIND_NOW=1
export LD_BIND_NOW
for moment in runpath deep; do
    harmless "$moment, all bound at start" "$programs/loading" $moment
done
unset LD_BIND_NOW

# beside SENTENCE LIBRARY MOMENT: preloaded with another library, before it and after.
beside()
{
    beside_bare=$(run env LD_PRELOAD="$2" "$programs/loading" "$3")
    same "$1 after us" "$beside_bare" \
        "$(run env LD_PRELOAD="$preload:$2" "$programs/loading" "$3")"
    same "$1 before us" "$beside_bare" \
        "$(run env LD_PRELOAD="$2:$preload" "$programs/loading" "$3")"
    [ $has_daemon = yes ] || return 0
    same "$1, recorded" "$beside_bare" \
        "$(LD_PRELOAD=$2 && export LD_PRELOAD && recorded "$programs/loading" "$3")"
    check "$1, and it is in the trace" seen
}

for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    if ldconfig -p | grep -q "$allocator"; then
        beside "$allocator" "$allocator" memory
        beside "$allocator, an opened library" "$allocator" runpath
    else
        skip "not installed: scripts/install-deps tests" "$allocator"
    fi
done
beside "another dlsym()" "$programs/asks.so" symbols
beside "another dlsym(), an opened library" "$programs/asks.so" runpath
NEXT_NCCL=$link/copy3.so
export NEXT_NCCL
beside "a wrapper that opens NCCL" "$programs/next_all.so" symbols
unset NEXT_NCCL
beside "a wrapper that asks for the next NCCL" "$programs/next_all.so" symbols
beside "two wrappers" "$programs/next_all.so:$link/next.so" symbols
beside "everything at once" "$programs/asks.so:$programs/next_all.so" symbols

bare=$(run "$programs/loading" symbols)
same "twice" "$bare" "$(run env LD_PRELOAD="$preload:$preload" "$programs/loading" symbols)"
mkdir "$work/other"
cp "$ours" "$CCLTAP_LIBDIR/libccltap-events.so" "$work/other/"
same "two copies of us" "$bare" \
    "$(run env LD_PRELOAD="$preload:$work/other/libccltap.so" "$programs/loading" symbols)"
same "without the other half" "$bare" \
    "$(rm "$work/other/libccltap-events.so"; run env LD_PRELOAD="$work/other/libccltap.so" \
        "$programs/loading" symbols)"
same "a relative path" "$bare" \
    "$(cd "$work" && run env LD_PRELOAD=./other/libccltap.so "$programs/loading" symbols)"
same "by a library path" "$bare" "$(run env LD_LIBRARY_PATH="$CCLTAP_LIBDIR" \
    LD_PRELOAD=libccltap.so "$programs/loading" symbols)"
# ld.so takes a space for the end of a name: neither half is found, and it says so itself.
mkdir "$work/a space"
cp "$ours" "$work/a space/"
same "a path with a space is not loaded" "$bare" \
    "$(run env LD_PRELOAD="$work/a space/libccltap.so" "$programs/loading" symbols |
        grep -v '^ERROR: ld.so')"

tap_done
