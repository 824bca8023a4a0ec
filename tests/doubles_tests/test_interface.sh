#!/bin/sh
# SPDX-License-Identifier: MIT
# The doubles as a linker and a caller see them: names, bindings, calls of their
# own through the PLT, and the results of calls that need no GPU, compared with a
# real NCCL 2.28.9 where CCLTAP_REAL_NCCL is the path of one.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

doubles=${top_builddir:?}/tests/doubles
programs=${top_builddir:?}/tests/doubles_tests/programs
nccl=$doubles/nccl/libnccl.so.2
cuda=$doubles/cuda/libcuda.so.1
names=$PWD/interface.$$
trap 'rm -f "$names".*' EXIT

soname()
{
    readelf -dW "$1" | sed -n 's/.*soname: \[\(.*\)\]/\1/p'
}

# Lines of name, binding and address of the functions that a library defines.
functions()
{
    readelf --dyn-syms -W "$1" |
        awk '$4 == "FUNC" && $7 != "UND" {sub("@.*", "", $8); print $8, $5, $2}' | sort
}

same "libnccl has the real soname" libnccl.so.2 "$(soname "$nccl")"
same "libcuda has the real soname" libcuda.so.1 "$(soname "$cuda")"

functions "$nccl" >"$names.nccl"
functions "$cuda" >"$names.cuda"
same "libnccl exports nothing but NCCL's functions" "" \
    "$(grep -v '^p*nccl[A-Z]' "$names.nccl" || :)"
same "libcuda exports nothing but the driver's functions" "" \
    "$(grep -v '^cu[A-Z]' "$names.cuda" || :)"
same "each ncclX is weak, each pncclX is not" "GLOBAL pnccl
WEAK nccl" "$(sed 's/^\(p*nccl\)[^ ]* \([A-Z]*\) .*/\2 \1/' "$names.nccl" | sort -u)"
same "and both are one function" "" \
    "$(sed 's/^p//' "$names.nccl" | awk '{print $1, $3}' | sort | uniq -c | grep -v '^ *2 ' || :)"

# That of a newer release, since the double has some of its functions too.
list=$top_srcdir/tests/calls/exports/nccl-2.29.7.txt
if [ -r "$list" ]; then
    sed '/^#/d; s/ .*//' "$list" | sort -u >"$names.real"
    same "the real one has each of them" "" \
        "$(sed 's/ .*//; s/^p//' "$names.nccl" | sort -u | comm -23 - "$names.real")"
else
    skip "no list of a real library's exports" "the real one has each of them"
fi

readelf -rW "$nccl" >"$names.slots"
for name in ncclBroadcast ncclGetUniqueId ncclCommGetAsyncError ncclGetVersion; do
    check "it calls its own $name through the PLT" \
        grep -q "JUMP_SLO.* $name " "$names.slots"
done
same "it calls no other function of its own that way" "ncclBroadcast
ncclCommGetAsyncError
ncclGetUniqueId
ncclGetVersion" "$(sed -n 's/.*JUMP_SLO.* \(p*nccl[A-Z][A-Za-z]*\) .*/\1/p' "$names.slots" | sort)"
same "it does not link the driver" "" "$(readelf -dW "$nccl" | grep 'NEEDED.*cuda' || :)"

# Without its driver, as a real one finds itself on a machine without a GPU.
mkdir -p "$names.alone"
cp "$nccl" "$names.alone"
"$programs/arguments" "$names.alone/libnccl.so.2" >"$names.double"
rm -r "$names.alone"
same "without a driver there is no communicator" \
    "ncclCommInitAll(&comm, 1, NULL) = 1" "$(tail -n 1 "$names.double")"
# The stock library of the release that the double imitates, if it is there.
sentence="it returns what the real one returns"
imitated=
for library in $(echo "${CCLTAP_REAL_NCCL:-}" | tr ':' ' '); do
    "$programs/arguments" "$library" >"$names.theirs" || :
    grep -q 'the version is 2.28.9' "$names.theirs" || continue
    imitated=$library
    same "$sentence" "$(cat "$names.theirs")" "$(cat "$names.double")"
done
[ -n "$imitated" ] ||
    skip "CCLTAP_REAL_NCCL names no NCCL 2.28.9: scripts/fetch-nccl gets one" "$sentence"
tap_done
