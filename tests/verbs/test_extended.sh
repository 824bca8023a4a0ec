#!/bin/sh
# SPDX-License-Identifier: MIT
# The extended interface: what is built and polled call by call is in the trace as if it had
# been posted in lists, and comes to the same for the program.
set -eu
# shellcheck source=tests/verbs/verbs.inc.sh
. "${top_srcdir:?}/tests/verbs/verbs.inc.sh"

program=$top_builddir/tests/verbs/programs/extended
trace_py=$top_srcdir/tests/verbs/expect/trace.py

# ways NAME SENTENCE WORDS...: one process for all the words.
ways()
{
    name=$1
    sentence=$2
    shift 2
    COUNT_TO=$work/$name.counted
    export COUNT_TO
    "$program" "$@" >"$work/$name.bare" 2>&1 || true
    LD_PRELOAD=$CCLTAP_LIBDIR/libccltap.so "$program" "$@" >"$work/$name.with" 2>&1 || true
    same "$sentence: the same with us" "$(cat "$work/$name.bare")" "$(cat "$work/$name.with")"
    same "$sentence: they ran" $# "$(wc -l <"$work/$name.bare")"
    run 0 "$sentence: recorded" env COUNT_TO="$COUNT_TO" "$ccltap" record -o "$work/$name" -- \
        env LD_PRELOAD="$CCLTAP_LIBDIR/libccltap.so:$top_builddir/tests/verbs/programs/count.so" \
        "$program" "$@"
    same "$sentence: the same when recorded" "$(cat "$work/$name.bare")" "$(cat "$work/out")"
    events "$work/$name" >"$work/$name.events"
    same "$sentence: all that was counted, each once" "$(sort "$COUNT_TO")" \
        "$(python3 "$trace_py" <"$work/$name.events")"
    same "$sentence: nothing is said to be unseen" 0 \
        "$(grep -cE 'verbs:unobserved|tap:problem' "$work/$name.events")"
}

# The words are ways of tests/verbs/programs/extended.c.
ways plain "batches, both interfaces, what is refused" \
    batch12 batch300 cq plain datagrams mixed refused replace
exact plain "batches, both interfaces, what is refused"
same "the refused ones are told" 20 "$(grep -c verbs:post_failed "$work/plain.events")"
ways rough "flushes, open batches, threads, forks" errors open_batch threads forks
COUNT_RESETS=1
export COUNT_RESETS
ways resets "a provider that puts its functions there anew" batch12
exact resets "a provider that puts its functions there anew"
unset COUNT_RESETS

# What a provider makes by functions of its own cannot be seen, and is said to be.
preload=$CCLTAP_LIBDIR/libccltap.so:$top_builddir/tests/verbs/programs/count.so
run 0 "a queue pair that was made past us" "$ccltap" record -o "$work/past" -- \
    env LD_PRELOAD="$preload" "$program" past
same "works" "past: 1" "$(cat "$work/out")"
same "and is told to be unobserved" 1 \
    "$(events "$work/past" | grep -c 'verbs:unobserved: .* what = "a queue pair"')"

# A recording that starts when all is set up: the addresses of datagrams are state.
starts_late()
{
    mkfifo "$work/go"
    mkdir "$work/late"
    LD_PRELOAD=$CCLTAP_LIBDIR/libccltap.so "$program" late <"$work/go" >"$work/late.out" 2>&1 &
    late=$!
    exec 3>"$work/go"
    until grep -q ready "$work/late.out" || ! kill -0 "$late"; do
        sleep 0.1
    done
    session=late-$$
    lttng create "$session" -o "$work/late" >/dev/null
    lttng enable-event -s "$session" -u 'tap:*,verbs:*' >/dev/null
    lttng add-context -s "$session" -u -t vpid -t vtid >/dev/null
    lttng start "$session" >/dev/null
    # When that is done the state has been written.
    until lttng rotate "$session" >/dev/null 2>&1; do
        sleep 0.1
    done
    echo >&3
    exec 3>&-
    wait "$late" || true
    lttng destroy "$session" >/dev/null
    events "$work/late" >"$work/late.events"
    same "a recording that starts late has the port as state" 1 \
        "$(grep -c tap:statedump_port "$work/late.events")"
    same "and its addresses" 2 "$(grep -c tap:statedump_gid "$work/late.events")"
    # What was lost before nobody knows, so that nothing proves which is which.
    # shellcheck disable=SC2016 # for the other shell
    check "then each datagram has its receiver" sh -c '
        env -u LD_LIBRARY_PATH "$0" check --json "$1" | python3 -c "
import json, sys
of = {kind[\"kind\"]: kind for kind in json.load(sys.stdin)[\"links\"]}[\"send-receive\"]
assert of[\"unmatched\"] == 0 and of[\"inferred\"] == 100, of
"' "$ccltap" "$work/late"
}

if lttng --no-sessiond list >/dev/null 2>&1; then
    starts_late
else
    skip "no session daemon runs: scripts/daemon" "a recording that starts late"
fi

# The same tests, of traces in which one event is missing.
for name in 'post_[a-z]*_list' poll; do
    awk "!/ verbs:$name:/ || ++n != 2" "$work/plain.events" | python3 "$trace_py" >"$work/lost"
    check "one of $name that is missing is noticed" grep -q "^bad " "$work/lost"
done

tap_done
