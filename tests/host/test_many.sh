#!/bin/sh
# SPDX-License-Identifier: MIT
# Thousands of short processes, threads and communicators: nothing grows.  MANY is how
# often, 10000 for instance; by default what takes half a minute.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"
limit=600

# bounded SENTENCE KIB FILE: the program that wrote it has grown by no more, nor has it
# more descriptors.
bounded()
{
    cat "$3"
    grown=$(sed -n 's/^grown \(-*[0-9]*\) KiB, \(-*[0-9]*\) descriptors$/\1 \2/p' "$3")
    [ -n "$grown" ] && [ "${grown% *}" -le "$2" ] && [ "${grown#* }" -le 0 ]
}

# So much more than the limit may the program have; the NCCL double takes 1 MiB more at some time,
# once, whatever is preloaded and however many communicators it makes (12000 were tried).
of_double=0
for kind in "processes 150" "threads 2000" "communicators 1000"; do
    what=${kind% *}
    number=${MANY:-${kind#* }}
    [ "$what" != communicators ] || of_double=1024
    bare=$("$programs/many" "$what" "$number" 2>"$work/bare") || true
    same "$number $what" "$bare" "$(env LD_PRELOAD="$preload" \
        "$programs/many" "$what" "$number" 2>"$work/grown")"
    if [ -n "${CCLTAP_EMULATED-}" ]; then
        skip "the emulator keeps memory of each thread" "$number $what: nothing grows"
    else
        check "$number $what: nothing grows" bounded "$what" $((512 + of_double)) "$work/grown"
    fi
    if [ $has_daemon = no ]; then
        skip "no LTTng session daemon: scripts/daemon make check" "$number $what, recorded"
        continue
    fi
    same "$number $what, recorded" "$bare" "$(recorded "$programs/many" "$what" "$number" |
        grep -v '^grown')"
    if [ -n "${CCLTAP_EMULATED-}" ]; then
        skip "the emulator keeps memory of each thread" "$number $what, recorded: nothing grows"
    elif grep -q "reaches no session daemon\|before LTTng" "$work/closing"; then
        skip "LTTng came late, and its buffers with it" "$number $what, recorded: nothing grows"
    else
        check "$number $what, recorded: nothing grows" bounded "$what" $((1024 + of_double)) "$work/said"
    fi
    check "$number $what, and they are in the trace" seen
done

# Each a program of its own.
number=${MANY:-100}
failed=0
i=0
while [ $i -lt "$number" ]; do
    LD_PRELOAD=$preload "$programs/processes" once >"$work/once" || failed=$((failed + 1))
    i=$((i + 1))
done
same "$number programs" 0 $failed

tap_done
