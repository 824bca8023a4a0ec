#!/bin/sh
# SPDX-License-Identifier: MIT
# Threads that call at once, and end in the midst of it.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

for moment in all-at-once first-at-once short-lives cancel specific-data \
    end-of-all ends-in-a-call outlived; do
    harmless "$moment" "$programs/threads" $moment
done

# Nobody can keep it out of LTTng: a thread may be cancelled there, and record says so.
unharmed cancel-anywhere "$programs/threads" cancel-anywhere

tap_done
