#!/bin/sh
# SPDX-License-Identifier: MIT
# The doubles of NCCL, libcuda and libibverbs under the address and the thread sanitizer: a
# share of the matrix, one configuration of each kind, and tests of ranks that are lost run
# without a word of theirs.
#
# MATRIX_RUNS=1000 makes so many random configurations of it, MATRIX_SEED says from what.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=${top_builddir:?}/tests/doubles_tests/sanitized.$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
ASAN_OPTIONS=
LSAN_OPTIONS=
# What an adapter writes no sanitizer sees, and NCCL waits for some of it by looking at memory.
echo 'race:soft_copy' >"$work/suppressed"
TSAN_OPTIONS=suppressions=$work/suppressed
# The thread sanitizer leaves less room for addresses than windows of many ranks would take.
NCCL_WIN_STRIDE=4294967296
export ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS NCCL_WIN_STRIDE
doubles=$top_srcdir/tests/doubles

# compile SANITIZER ARGUMENT...: as doubles_link of tests/doubles/local.mk does it
compile()
{
    compile_with=$1
    shift
    # shellcheck disable=SC2086 # a compiler may be several words
    ${CC:-cc} $flags -fsanitize="$compile_with" "$@"
}
flags="-std=gnu11 -D_GNU_SOURCE -I$doubles/include -g1 -O1 -fPIC -w -pthread \
    -fno-omit-frame-pointer -fvisibility=hidden"

# objects SANITIZER FOLDER TO ARGUMENT...: one of each source, several at once
objects()
{
    objects_with=$1
    objects_of=$doubles/$2
    objects_to=$3
    mkdir -p "$objects_to"
    shift 3
    # shellcheck disable=SC2016,SC2086 # the inner shell's own; words
    printf '%s\n' "$objects_of"/*.c | xargs -P "$(nproc)" -I'{}' \
        sh -c 'to=$1/$(basename "$0" .c).o; shift; exec "$@" -c "$0" -o "$to"' '{}' "$objects_to" \
        ${CC:-cc} $flags -fsanitize="$objects_with" "$@"
}

# library SANITIZER FOLDER NAME MAP COMPILED-WITH ARGUMENT...: all sources of a folder
library()
{
    library_with=$1
    library_to=$folder/doubles/$2/$3
    library_map=$doubles/$2/$4
    library_objects=$folder/objects/$2
    mkdir -p "$folder/doubles/$2"
    ln -s "$3" "${library_to%.*}"
    # shellcheck disable=SC2086 # none, or one
    objects "$1" "$2" "$library_objects" $5
    shift 5
    compile "$library_with" -shared -Wl,-soname,"${library_to##*/}" \
        -Wl,--version-script="$library_map" -o "$library_to" "$library_objects"/*.o "$@"
}

# build SANITIZER: the libraries in $folder, and the program
build()
{
    mkdir -p "$folder/objects" "$folder/doubles_tests/programs"
    objects "$1" cudart "$folder/objects" -DMINI_CUDART_VERSION=13000
    # Newer releases of NCCL start their threads in C++.
    for source in "$doubles"/nccl/*.cc; do
        [ ! -e "$source" ] || ${CXX:-c++} -D_GNU_SOURCE -g1 -O1 -fPIC -w -pthread \
            -fsanitize="$1" -fvisibility=hidden -c "$source" \
            -o "$folder/objects/$(basename "$source" .cc).o"
    done
    library "$1" cuda libcuda.so.1 libcuda.map -D__CUDA_API_VERSION_INTERNAL \
        -Wl,-Bsymbolic-functions
    library "$1" verbs libibverbs.so.1 libibverbs.map -fvisibility=default -Wl,-z,nodelete
    # shellcheck disable=SC2016 # the linker's own variable
    library "$1" nccl libnccl.so.2 libnccl.map "" "$folder"/objects/*.o -lstdc++ -lm \
        -Wl,--enable-new-dtags,-rpath,'$ORIGIN/../cuda'
    for program in $programs; do
        program "$1" "$program" "$top_srcdir/tests/doubles_tests/$program.c"
    done
    program "$1" programs/configuration \
        "$top_srcdir/tests/doubles_tests/programs/configuration.c" \
        "$top_srcdir/tests/doubles_tests/programs/elements.c" \
        "$top_srcdir/tests/doubles_tests/programs/operations.c"
}

# program SANITIZER TO SOURCE...: exported, so that the library's pthread_create() is a test's
program()
{
    program_with=$1
    program_to=$folder/doubles_tests/$2
    shift 2
    compile "$program_with" -rdynamic -o "$program_to" "$@" \
        -L"$folder/doubles/nccl" -L"$folder/doubles/cuda" -lnccl -lcuda -lm \
        -Wl,-rpath,"$folder/doubles/nccl:$folder/doubles/cuda"
}
programs="test_dead test_death test_lost test_posters test_profiled test_windows"

# kinds SANITIZER: what a share may not have
kinds()
{
    while IFS='|' read -r kind environment settings; do
        # shellcheck disable=SC2086 # words
        check "$1 sanitizer: $kind" env $environment "$configuration" limit=120 $settings
    done <<'END'
posting for others||transport=pxn ranks=4 channels=2 operation=any rounds=3
posting for others of one process|NCCL_NET=Socket|transport=pxn ranks=4 layout=threads
windows||transport=windows ranks=3 rounds=3
windows in graphs||transport=windows ranks=3 operation=any manner=captured rounds=3
copies||transport=copies ranks=3 rounds=3
copies in graphs||transport=copies ranks=3 operation=any manner=captured rounds=3
graphs||transport=verbs ranks=3 operation=any manner=captured rounds=3
sockets of several threads|NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=2|transport=socket ranks=2 most=4194304
several queue pairs of merged adapters|SOFTVERBS_DEVICES=2 NCCL_NET_FORCE_MERGE=soft0,soft1 NCCL_IB_QPS_PER_CONNECTION=2 MININCCL_FLUSH=1|ranks=2 release=2.30.7
END
    for program in $programs; do
        check "$1 sanitizer: $program" "$folder/doubles_tests/$program"
    done
}

# sanitized SANITIZER SYMBOL
sanitized()
{
    echo 'int main(void) { return 0; }' >"$work/empty.c"
    if ! compile "$1" -o "$work/empty" "$work/empty.c" 2>/dev/null; then
        skip "no $1 sanitizer: scripts/install-deps tests" "the matrix under it"
        return
    fi
    folder=$work/$1
    configuration=$folder/doubles_tests/programs/configuration
    check "the doubles are built with the $1 sanitizer" build "$1"
    [ -x "$configuration" ] || return 0
    # What is not looked at cannot be wrong.
    for library in "$folder"/doubles/*/*.so; do
        check "$(basename "$library") is looked at" sh -c "nm -D '$library' | grep -q $2"
    done
    /usr/bin/python3 "$top_srcdir/tests/doubles_tests/matrix.py" --pairs \
        --random "${MATRIX_RUNS-6}" --seed "${MATRIX_SEED-$(date -u +%Y%m%d)}" \
        --part "1/$share" --limit 120 "$configuration" >"$work/said" 2>&1 || true
    [ -s "$work/said" ] || echo "not ok - matrix.py says something" >"$work/said"
    passed_on "$work/said" "$1 sanitizer: "
    kinds "$1"
}

share=12
[ -z "${MATRIX_RUNS-}" ] || share=1
sanitized address __asan_report_store
sanitized thread __tsan_write
tap_done
