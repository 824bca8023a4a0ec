#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs built with sanitizers, whose runtimes want to be first or are linked in.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

# build COMPILER FLAG...: the program of test_processes.sh, as $work/program.
build()
{
    "$@" -g -pthread -o "$work/program" "$top_srcdir/tests/host/programs/processes.c" -L"$link" \
        -l:copy2.so -Wl,-rpath,"$link" >"$work/log" 2>&1
}

# with_first COMMAND...: as README says, the runtime before what `ccltap env` says.
with_first()
{
    run env LD_PRELOAD="${runtime:+$runtime:}$preload" "$@"
}

# In a child of a process with threads, and LTTng has some, the leak sanitizer finds leaks
# that are none and the thread sanitizer dies; under it LTTng's own races are told (README).
TSAN_OPTIONS=die_after_fork=0:report_bugs=0
export TSAN_OPTIONS
unset UBSAN_OPTIONS

for built in "gcc address asan once fork-later shell" "gcc thread tsan once fork-later" \
    "gcc undefined ubsan once" "gcc leak lsan once" \
    "clang address - once fork-later" "clang thread - once fork-later"; do
    # shellcheck disable=SC2086 # words
    set -- $built
    compiler=$1
    sanitizer=$2
    if ! build "$compiler" -fsanitize="$sanitizer"; then
        skip "no $compiler with it: scripts/install-deps tests" "$compiler's $sanitizer sanitizer"
        continue
    fi
    runtime=
    if [ "$3" != - ]; then
        runtime=$(gcc -print-file-name="lib$3.so")
    fi
    shift 3
    for moment in "$@"; do
        unset ASAN_OPTIONS LSAN_OPTIONS
        if [ "$moment" = fork-later ]; then
            ASAN_OPTIONS=detect_leaks=0
            LSAN_OPTIONS=detect_leaks=0
            export ASAN_OPTIONS LSAN_OPTIONS
        fi
        bare=$(run "$work/program" "$moment")
        same "$compiler's $sanitizer sanitizer: $moment" "$bare" \
            "$(with_first "$work/program" "$moment")"
        if [ $has_daemon = no ]; then
            skip "no LTTng session daemon: scripts/daemon make check" "the same, recorded"
            continue
        fi
        same "$compiler's $sanitizer sanitizer: $moment, recorded" "$bare" \
            "$(recorded "$work/program" "$moment")"
        check "$compiler's $sanitizer sanitizer: $moment, and it is in the trace" seen
    done
done

# The program's sanitizer still finds what it is for.
printf '%s\n' '#include <stdlib.h>' 'int main(int c, char **v) { char *p = malloc(1);' \
    'free(p); (void) v; return p[c]; }' >"$work/wrong.c"
unset ASAN_OPTIONS LSAN_OPTIONS
if gcc -g -fsanitize=address -o "$work/wrong" "$work/wrong.c" 2>"$work/log"; then
    if [ $has_daemon = yes ]; then
        recorded "$work/wrong" >"$work/found"
        check "what is wrong is found" grep -q "heap-use-after-free" "$work/found"
    fi
    with "$work/wrong" >"$work/found"
    check "without the runtime first it says so" grep -q "does not come first" "$work/found"
fi

tap_done
