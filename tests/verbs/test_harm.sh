#!/bin/sh
# SPDX-License-Identifier: MIT
# What programs do to libibverbs: it comes to the same bare, with us and recorded, and what
# was recorded is what was counted.
set -eu
# shellcheck source=tests/verbs/verbs.inc.sh
. "${top_srcdir:?}/tests/verbs/verbs.inc.sh"

harm=$top_builddir/tests/verbs/programs/harm
trace_py=$top_srcdir/tests/verbs/expect/trace.py

# way NAME SENTENCE
way()
{
    COUNT_TO=$work/$1.counted
    export COUNT_TO
    "$harm" "$1" >"$work/$1.bare" 2>&1 || true
    LD_PRELOAD=$CCLTAP_LIBDIR/libccltap.so "$harm" "$1" >"$work/$1.with" 2>&1 || true
    same "$2: the same with us" "$(cat "$work/$1.bare")" "$(cat "$work/$1.with")"
    run 0 "$2: recorded" env COUNT_TO="$COUNT_TO" "$ccltap" record -o "$work/$1" -- \
        env LD_PRELOAD="$CCLTAP_LIBDIR/libccltap.so:$top_builddir/tests/verbs/programs/count.so" \
        "$harm" "$1"
    same "$2: the same when recorded" "$(cat "$work/$1.bare")" "$(cat "$work/out")"
    same "$2: all that was counted, each once" "$(sort "$COUNT_TO")" \
        "$(events "$work/$1" | python3 "$trace_py")"
}

way reopen "a device that is opened again"
way destroy "a queue pair that goes with requests outstanding"
way reset "a queue pair that is reset"
same "each reset begins a life" "1 2 3 4 5" \
    "$(events "$work/reset" | sed -n 's/.* verbs:post_[a-z]*: .* generation = \([0-9]*\),.*/\1/p' |
        uniq | tr '\n' ' ' | sed 's/ $//')"
way threads "threads that share a queue pair"
COUNT_TOGETHER=2
export COUNT_TOGETHER
way race "threads that are in a post at once"
unset COUNT_TOGETHER
same "all ten posts are told to have raced" "raced 10" \
    "$(events "$work/race" | python3 "$trace_py" --raced | grep raced)"
same "those of one thread after the other are not" "raced 0" \
    "$(events "$work/reset" | python3 "$trace_py" --raced | grep raced)"
way forks "a program that forks"
way replace "a program that replaces a function in the table"
way many "a thousand queue pairs"
same "each has a number of its own" 1000 "$(events "$work/many" |
    sed -n 's/.* verbs:qp: .* qp_id = \([0-9]*\),.*/\1/p' | sort -u | wc -l)"
way mixed "polls that find what is not alike, and what is"
way list "a list of 512"
way bad "a request that is refused"
same "the refused ones are told, with what was accepted before" \
    "accepted = 40, wr_id = 40 accepted = 0, wr_id = 0" \
    "$(events "$work/bad" | sed -n 's/.* verbs:post_failed: .*\(accepted = .*\) }/\1/p' |
        tr '\n' ' ' | sed 's/ $//')"
way overrun "a completion queue that overruns"
SOFTVERBS_FAULTS=fatal@5
export SOFTVERBS_FAULTS
way fatal "a device that fails while it is polled"
unset SOFTVERBS_FAULTS
check "its failure is told" sh -c "env -u LD_LIBRARY_PATH babeltrace2 '$work/fatal' |
    grep -q 'verbs:async_event: .*event = .*8'"

# Nothing of what is posted is seen then, and that is said.
keeps=$top_builddir/tests/verbs/programs/keeps.so
LD_PRELOAD=$keeps "$harm" keeps >"$work/keeps.bare" 2>&1 || true
run 0 "a provider that puts its own table back: recorded" "$ccltap" record -o "$work/keeps" -- \
    env LD_PRELOAD="$CCLTAP_LIBDIR/libccltap.so:$keeps" "$harm" keeps
same "the same when recorded" "$(cat "$work/keeps.bare")" "$(cat "$work/out")"
same "it is told to be unobserved" 1 "$(events "$work/keeps" |
    grep -c 'verbs:unobserved: .* what = "ibv_post_send"')"

SILENT=yes
export SILENT
same "a provider that does not say what it refused" "silent: 4 1" \
    "$(LD_PRELOAD=$keeps "$harm" silent 2>&1 || true)"
same "the same with us" "silent: 4 1" \
    "$(LD_PRELOAD="$CCLTAP_LIBDIR/libccltap.so:$keeps" "$harm" silent 2>&1 || true)"
run 0 "and recorded" "$ccltap" record -o "$work/silent" -- \
    env LD_PRELOAD="$CCLTAP_LIBDIR/libccltap.so:$keeps" "$harm" silent
same "the same when recorded" "silent: 4 1" "$(cat "$work/out")"
same "the first of each list is told" "wr_id = 1 wr_id = 2 wr_id = 3 wr_id = 4" \
    "$(events "$work/silent" | sed -n 's/.* verbs:post_failed: .*\(wr_id = [0-9]*\) }/\1/p' |
        tr '\n' ' ' | sed 's/ $//')"
tap_done
