#!/bin/sh
# SPDX-License-Identifier: MIT
# The CUPTI double against NVIDIA's, in all that can be had without a GPU: names, the header,
# how long records are, and what is answered where there is no driver.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

doubles=${top_builddir:?}/tests/doubles
made=${top_builddir:?}/tests/doubles_tests
work=$made/cupti_real.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/empty"

if [ -z "${CCLTAP_REAL_CUPTI-}" ]; then
    echo "1..0 # SKIP CCLTAP_REAL_CUPTI names no folder: scripts/fetch-cuda gets one"
    exit 0
fi

names() # LIBRARY
{
    nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' | sort -u
}

compile() # PROGRAM OPTION...
{
    compile_program=$1
    shift
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -w -DDOUBLE_CUPTI_VERSION="$number" "$@" \
        -o "$work/$compile_program" "$top_srcdir/tests/doubles_tests/programs/cupti_layouts.c"
}

# Those of a function that the real one does not survive are left out of both.
answers() # LIBRARY
{
    # No driver: an empty folder, not the one that a test may have been started with.
    LD_LIBRARY_PATH=$work/empty "$made/programs/cupti_probe" "$1" 2>&1
}

for real in $(echo "$CCLTAP_REAL_CUPTI" | tr ':' ' '); do
    name=$(basename "$real")
    library=$(find "$real/lib" -name 'libcupti.so.*')
    soname=$(basename "$library")
    double=$doubles/cupti/$soname
    case $name in
    cupti-11.*) number=11080 ;;
    cupti-12.*) number=12090 ;;
    *) number=13000 ;;
    esac
    check "$name: the double has no name that it lacks" test -z "$(
        names "$double" >"$work/names"
        names "$library" | comm -23 "$work/names" -)"
    check "$name: and has the version that it gives its names" \
        grep -q "^cuptiSubscribe@@$soname\$" "$work/names"

    answers "$library" >"$work/theirs"
    answers "$double" >"$work/ours"
    grep '^ended' "$work/theirs" >"$work/died" || :
    # A line of ours stands for one of theirs: what ended there is told by its number.
    awk 'NR == FNR { if (/^ended/) skip[FNR] = 1; next } !(FNR in skip)' \
        "$work/theirs" "$work/ours" >"$work/ours-then"
    same "$name: the double answers and walks as it does" \
        "$(grep -v '^ended' "$work/theirs")" "$(cat "$work/ours-then")"
    check "$name: it survives all but a few questions" \
        test "$(wc -l <"$work/died")" -le 2

    headers=
    for folder in $(echo "${CCLTAP_REAL_CUDA-}" | tr ':' ' '); do
        case $(basename "$folder")-$name in
        cuda-11*-cupti-11* | cuda-12*-cupti-12* | cuda-13*-cupti-13*) headers=$folder ;;
        esac
    done
    if [ -z "$headers" ]; then
        skip "CCLTAP_REAL_CUDA names no headers for $name" "$name: the header is as its"
        continue
    fi
    check "$name: a program compiles with our header" \
        compile ours -I"$top_srcdir/tests/doubles/include"
    check "$name: and with the real ones" compile theirs -DTHEIRS -I"$top_srcdir/tests/lib" \
        -isystem "$real/include" -isystem "$headers/include"
    same "$name: they say the same of records and numbers" \
        "$("$work/theirs")" "$("$work/ours")"
done
tap_done
