#!/bin/sh
# SPDX-License-Identifier: MIT
# Stock programs of libibverbs, on softverbs: what is in the trace is what a counter of its
# own saw, and every ordinal follows the one before.
set -eu
# shellcheck source=tests/verbs/verbs.inc.sh
. "${top_srcdir:?}/tests/verbs/verbs.inc.sh"

trace_py=$top_srcdir/tests/verbs/expect/trace.py
counter=$top_builddir/tests/verbs/programs/count.so

# counted NAME COMMAND...: recorded, with the counter behind us.
counted()
{
    name=$1
    shift
    COUNT_TO=$work/$name.counted
    export COUNT_TO
    run 0 "$name is recorded" "$ccltap" record -o "$work/$name" -- \
        "$work/pair" "$counter" "$@"
    [ "$run_status" = 0 ] || sed 's/^/# /' "$PAIR_OUT".*
    same "$name: requests and completions are those that were counted" \
        "$(sort "$COUNT_TO")" "$(events "$work/$name" | python3 "$trace_py")"
}

# shared NAME IN-ORDER: all receives have one wr_id.  So many complete in the order in which
# they were posted, since one queue pair takes them; of others it is not said which they were.
# Who sent it is known of each message, exactly where its receive is not a guess.
shared()
{
    # shellcheck disable=SC2016 # for the other shell
    check "$1: $2 receives are matched by their order, all messages with their senders" sh -c '
        env -u LD_LIBRARY_PATH "$0" check --json "$1" | python3 -c "
import json, sys
kinds = {kind[\"kind\"]: kind for kind in json.load(sys.stdin)[\"links\"]}
posts, messages = kinds[\"post-completion\"], kinds[\"send-receive\"]
in_order = int(sys.argv[1])
assert posts[\"inferred\"] == messages[\"inferred\"] == in_order, kinds
assert posts[\"why\"].get(\"order\", 0) == in_order, posts
assert posts[\"unmatched\"] == posts[\"why\"].get(\"ambiguous\", 0), posts
assert in_order or posts[\"unmatched\"] and messages[\"exact\"], kinds
assert messages[\"unmatched\"] == 0, messages
" "$2"' "$ccltap" "$work/$1" "$2"
}

counted rc ibv_rc_pingpong -g 0 -n 1000
counted rc-events ibv_rc_pingpong -g 0 -n 200 -e
counted uc ibv_uc_pingpong -g 0 -n 1000
counted ud ibv_ud_pingpong -g 0 -n 1000
for name in rc rc-events uc ud; do
    exact $name
done
counted srq ibv_srq_pingpong -g 0 -n 1000
shared srq 0
if command -v ib_send_bw >/dev/null; then
    counted send_bw ib_send_bw -x 0 -n 2000
    counted send_bw-list ib_send_bw -x 0 -n 2048 -l 64
    counted write_bw ib_write_bw -x 0 -n 2000
    exact send_bw
    exact send_bw-list
    counted srq_bw ib_send_bw -x 0 -n 2000 --use-srq
    shared srq_bw 2000
    counted srq_bw-pairs ib_send_bw -x 0 -n 500 --use-srq -q 4
    shared srq_bw-pairs 0
else
    skip "ib_send_bw is not installed: scripts/install-deps tests" "ib_send_bw"
fi

# The extended interface: of queue pairs (-N), of completion queues (-t), of both.
counted extended ibv_rc_pingpong -g 0 -n 500 -N
counted extended-both ibv_rc_pingpong -g 0 -n 500 -N -t
for name in extended extended-both; do
    exact $name
    same "$name: nothing is said to be unseen" 0 \
        "$(events "$work/$name" | grep -c 'verbs:unobserved')"
done

# The same test, of a trace in which one event is missing.
events "$work/rc" | awk '!/ verbs:post_send:/ || ++n != 7' | python3 "$trace_py" >"$work/lost"
check "an event that is missing is noticed" grep -q "^bad " "$work/lost"

# libibverbs registers memory by another of its own functions, that we stand in for too.
same "a memory region is told once" 2 \
    "$(events "$work/rc" | grep -c ' verbs:mr:')"
same "a queue pair's connection is told" 4 \
    "$(events "$work/rc" | grep -c ' verbs:qp_modify: .* state = [23], dest_qp_num = [1-9]')"
check "waiting for a completion is told" sh -c \
    "env -u LD_LIBRARY_PATH babeltrace2 '$work/rc-events' | grep -q 'verbs:comp_event_exit: .* cq_id = 1, ret = 0'"

run 0 "hot events can be left out" "$ccltap" record -o "$work/none" --layers nccl -- \
    "$work/pair" "" ibv_rc_pingpong -g 0 -n 100
same "then there are none" 0 "$(events "$work/none" | grep -c ' verbs:' || true)"

run 0 "a program of this layer alone is recorded" "$ccltap" record -o "$work/alone" \
    --layers verbs -- "$work/pair" "" ibv_rc_pingpong -g 0 -n 100
check "and not said to reach no session daemon" sh -c "! grep 'could not' '$work/err'"

tap_done
