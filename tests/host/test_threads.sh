#!/bin/sh
# SPDX-License-Identifier: MIT
# Threads that call at once, and end in the midst of it.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

for moment in all-at-once first-at-once short-lives cancel specific-data \
    end-of-all ends-in-a-call outlived; do
    case ${CCLTAP_EMULATED:+$moment} in
    end-of-all | ends-in-a-call)
        unharmed "$moment" "$programs/threads" "$moment"
        skip "its processes end before recording has begun there" "$moment, recorded"
        ;;
    *) harmless "$moment" "$programs/threads" "$moment" ;;
    esac
done

# Nobody can keep it out of LTTng: a thread may be cancelled there, and record says so.
unharmed cancel-anywhere "$programs/threads" cancel-anywhere

tap_done
