#!/bin/sh
# SPDX-License-Identifier: MIT
# What several threads share, under the thread sanitizer: parts of libccltap by themselves,
# with stand-ins for what is around them.
set -eu

: "${top_srcdir:?}" "${top_builddir:?}"
# shellcheck source=tests/lib/tap.sh
. "$top_srcdir/tests/lib/tap.sh"

work=$top_builddir/tests/unit/races.$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
TSAN_OPTIONS=
export TSAN_OPTIONS

# build FILE...: them as $work/program.  A warning says that fences are not looked at.
build()
{
    # shellcheck disable=SC2086 # a compiler may be several words
    (cd "$top_srcdir" && ${CC:-cc} -D_GNU_SOURCE -std=gnu11 -g -O1 -fsanitize=thread -w \
        -pthread -Isrc -Itests -o "$work/program" "$@") >"$work/log" 2>&1
}

# races SENTENCE FILE...: none are told, and no case fails.
races()
{
    sentence=$1
    shift
    if ! build "$@"; then
        if echo 'int main(void) { return 0; }' >"$work/empty.c" &&
            ${CC:-cc} -fsanitize=thread -o "$work/empty" "$work/empty.c" 2>/dev/null; then
            ok 1 "$sentence"
            sed 's/^/# /' "$work/log"
        else
            skip "no thread sanitizer: scripts/install-deps tests" "$sentence"
        fi
        return
    fi
    "$work/program" >"$work/said" 2>&1 || echo "status $?" >>"$work/said"
    same "$sentence" "" "$(grep -E '^(not ok|SUMMARY|FATAL|status)' "$work/said" | sort | uniq -c)"
}

races "communicators change while others tell of them" tests/unit/test_comm.c \
    src/intercept/nccl/comm.c src/intercept/nccl/group.c src/intercept/thread_state.c \
    src/intercept/threads.c src/common/safe_read.c src/common/thread.c \
    src/intercept/metrics.c src/common/launcher.c
races "calls go by while what they lead to changes" tests/unit/test_entries.c \
    src/intercept/entry.c src/intercept/guard.c src/intercept/cuda/cuda_call.c \
    src/common/thread.c src/intercept/metrics.c src/common/launcher.c

tap_done
