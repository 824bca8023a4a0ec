#!/bin/sh
# SPDX-License-Identifier: MIT
# The doubles as a linker and a caller see them: names, bindings, calls of their
# own through the PLT, and the results of calls that need no GPU, compared with real
# libraries where CCLTAP_REAL_NCCL has the paths of some.
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
for name in ncclBroadcast ncclGetUniqueId ncclCommGetAsyncError ncclGetVersion \
    ncclCommRegister ncclCommDeregister ncclCommWindowDeregister ncclMemAlloc ncclMemFree; do
    check "it calls its own $name through the PLT" \
        grep -q "JUMP_SLO.* $name " "$names.slots"
done
same "it calls no other function of its own that way" "ncclBroadcast
ncclCommDeregister
ncclCommGetAsyncError
ncclCommRegister
ncclCommWindowDeregister
ncclGetUniqueId
ncclGetVersion
ncclMemAlloc
ncclMemFree" "$(sed -n 's/.*JUMP_SLO.* \(p*nccl[A-Z][A-Za-z]*\) .*/\1/p' "$names.slots" | sort)"
same "it does not link the driver" "" "$(readelf -dW "$nccl" | grep 'NEEDED.*cuda' || :)"

# Kernels between windows have the names of the real ones.
grep -ao '_Z[0-9]*ncclSymkDevKernel_[A-Za-z0-9_]*4K' "$nccl" | sort -u >"$names.kernels"
same "it has all that need no multicast" 14 "$(wc -l <"$names.kernels")"

# Without its driver, as a real one finds itself on a machine without a GPU.
mkdir -p "$names.alone"
cp "$nccl" "$names.alone"
"$programs/arguments" "$names.alone/libnccl.so.2" >"$names.double"
same "without a driver there is no communicator" \
    "ncclCommInitAll(&comm, 1, NULL) = 1" "$(tail -n 1 "$names.double")"
# Stock libraries, and each of them compared with the double as that release.  Not all
# survive what is no communicator: then it is what they say until then.
sentence="returns what the real one returns"
for library in $(echo "${CCLTAP_REAL_NCCL:-}" | tr ':' ' '); do
    ended=0
    "$programs/arguments" "$library" >"$names.theirs" 2>"$names.missing" || ended=$?
    release=$(sed -n 's/.* the version is //p' "$names.theirs")
    # shellcheck disable=SC2046 # a list of words
    MININCCL_RELEASE=$release "$programs/arguments" "$names.alone/libnccl.so.2" \
        $(sort -u "$names.missing") >"$names.ours"
    case $release in
    2.18.* | 2.19.* | 2.20.* | 2.23.* | 2.24.*)
        head -n "$(wc -l <"$names.theirs")" "$names.ours" >"$names.until"
        ;;
    *)
        same "the program comes to its end with $release" 0 "$ended"
        cp "$names.ours" "$names.until"
        ;;
    esac
    same "as $release it $sentence" "$(cat "$names.theirs")" "$(cat "$names.until")"
    case $release in
    2.28.* | 2.29.* | 2.3?.*)
        nm "$library" | sed -n 's/.* \(_Z.*ncclSymkDevKernel_.*\)/\1/p' | sort -u >"$names.symbols"
        same "$release has kernels of these names" "" \
            "$(comm -23 "$names.kernels" "$names.symbols")"
        ;;
    esac
    # Before 2.25 ranges tell less, and the double is ahead of that.
    case $release in
    2.1* | 2.20.* | 2.21.* | 2.22.* | 2.23.* | 2.24.*) continue ;;
    esac
    rm -f "$names.log.theirs" "$names.log.ours"
    NVTX_LOG=$names.log.theirs NVTX_INJECTION64_PATH=$programs/nvtx_log.so \
        "$programs/arguments" "$library" >"$names.theirs" 2>/dev/null || :
    # shellcheck disable=SC2046 # a list of words
    NVTX_LOG=$names.log.ours NVTX_INJECTION64_PATH=$programs/nvtx_log.so \
        MININCCL_RELEASE=$release "$programs/arguments" "$names.alone/libnccl.so.2" \
        $(sort -u "$names.missing") >"$names.ours"
    same "as $release it announces by NVTX what the real one does" \
        "$(cat "$names.log.theirs")" "$(cat "$names.log.ours")"
done
[ -n "${CCLTAP_REAL_NCCL:-}" ] ||
    skip "CCLTAP_REAL_NCCL names no library: scripts/fetch-nccl gets one" "it $sentence"
rm -r "$names.alone"
tap_done
