#!/bin/sh
# SPDX-License-Identifier: MIT
# The packed events are ordinary ones to LTTng: filters on fields and on elements of arrays,
# contexts, and triggers.
set -eu
# shellcheck source=tests/verbs/verbs.inc.sh
. "${top_srcdir:?}/tests/verbs/verbs.inc.sh"

# Four sessions at once, so that one run is looked at in four ways.
session()
{
    lttng create "$1" -o "$work/$1" >/dev/null
    lttng enable-event -s "$1" -u "$2" ${3:+--filter "$3"} >/dev/null
    lttng add-context -s "$1" -u -t vpid -t vtid >/dev/null
    lttng start "$1" >/dev/null
}
nr()
{
    events "$work/$1" 2>/dev/null | wc -l
}

if ! lttng --no-sessiond list >/dev/null 2>&1; then
    echo "1..0 # SKIP no session daemon runs: scripts/daemon"
    exit 0
fi
session all-$$ 'verbs:post_send'
session one-$$ 'verbs:post_send' 'seq == 7'
session range-$$ 'verbs:post_send' 'seq > 10 && length == 4096 && concurrent == 0'
session array-$$ 'verbs:poll*' 'wr_id[0] == 2 && num_wc == 1'
session sent-$$ 'verbs:poll_sent' 'wr_id[0] == 2 && num_wc == 1 && opcode == 0'
session never-$$ 'verbs:poll*' 'wr_id[0] == 3'
LD_PRELOAD=$CCLTAP_LIBDIR/libccltap.so run 0 "ibv_rc_pingpong runs" \
    "$work/pair" "" ibv_rc_pingpong -g 0 -n 100
for name in all one range array sent never; do
    lttng destroy "$name-$$" >/dev/null
done
same "without a filter all are there" 200 "$(nr all-$$)"
same "a filter on a field" 2 "$(nr one-$$)"
same "a filter on several" 180 "$(nr range-$$)"
check "a filter on an element of an array" test "$(nr array-$$)" -gt 0
check "also where that is all they have" test "$(nr sent-$$)" -gt 0
same "one that never holds" 0 "$(nr never-$$)"

tap_done
