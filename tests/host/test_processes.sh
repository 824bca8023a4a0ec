#!/bin/sh
# SPDX-License-Identifier: MIT
# Processes that a traced program makes, and programs that it becomes.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

for moment in fork-first fork-later vfork-end vfork-exec vfork-fail vfork-call bare-fork \
    spawn spawn-without spawn-nothing shell \
    exec exec-without exec-empty exec-failing exec-in-thread unset \
    daemon-first daemon-later fork-while-calling fork-in-threads; do
    if [ "$moment" = fork-in-threads ] && [ -n "${CCLTAP_EMULATED-}" ]; then
        skip "the emulator's own lock stays taken in a child of a program with threads" "$moment"
        continue
    fi
    harmless "$moment" "$programs/processes" $moment
done

# No thread of ours begins or ends in the midst of a fork, nor of the handlers around it.
harmless "fork at once after a call" "$programs/forks" after-call
harmless "fork with a handler of the program's" "$programs/forks" with-handler

# What such a process leaves behind must not keep the recording from its end.
bare=$(run "$programs/processes" kill-while-calling)
if [ $has_daemon = yes ]; then
    same "killed in the midst of events" "$bare" \
        "$(limit=20 recorded "$programs/processes" kill-while-calling)"
    check "the recording ends and says how it went" grep -q "trace in" "$work/closing"
else
    skip "no LTTng session daemon: scripts/daemon make check" "killed in the midst of events"
fi

tap_done
