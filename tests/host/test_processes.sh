#!/bin/sh
# SPDX-License-Identifier: MIT
# Processes that a traced program makes, and programs that it becomes.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

for moment in fork-first fork-later vfork-end vfork-exec vfork-call bare-fork \
    spawn spawn-without spawn-nothing shell \
    exec exec-without exec-empty exec-failing exec-in-thread unset \
    daemon-first daemon-later fork-while-calling fork-in-threads; do
    harmless "$moment" "$here/processes" $moment
done

tap_done
