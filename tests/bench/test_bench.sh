#!/bin/sh
# SPDX-License-Identifier: MIT
# `make bench` comes to an end with every figure, and leaves nothing behind however it
# ends.  How fast this machine is, is not judged.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

for tool in lttng lttng-sessiond babeltrace2 /usr/bin/python3; do
    if ! command -v "$tool" >/dev/null; then
        echo "1..0 # SKIP $tool is not installed"
        exit 0
    fi
done

if [ -z "${BENCH_HAS_DAEMON-}" ]; then
    # Another test may not count on a daemon that is there for this one alone.
    alone "$@"
    BENCH_HAS_DAEMON=1
    export BENCH_HAS_DAEMON
    "$top_srcdir/scripts/daemon" "$0" 9>&-
    exit
fi

work=${top_builddir:?}/tests/bench/work.$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# start OPTION...: a bench in the background as $pid.  finish: its $status.
start()
{
    /usr/bin/python3 "$top_srcdir/tests/bench/bench.py" --output "$work/bench.json" "$@" \
        >"$work/out" 2>"$work/err" &
    pid=$!
}

finish()
{
    status=0
    wait "$pid" || status=$?
}

left_behind()
{
    lttng --no-sessiond list | grep -o "ccltap-bench-$pid-[^ ]*" || true
    find /dev/shm "$top_builddir" -maxdepth 1 -name "ccltap-bench-$pid.*"
}

start --quick
finish
if grep -q 'MiB free' "$work/err"; then
    echo "1..0 # SKIP /dev/shm is too small"
    exit 0
fi
[ "$status" -eq 0 ] || sed 's/^/# /' "$work/err"
same "a quick run ends well, whatever holds" 0 "$status"
same "it leaves nothing behind" "" "$(left_behind)"
check "the figures are all there and fit together" \
    /usr/bin/python3 - "$work/bench.json" <<'EOF'
import json, math, sys
figures = json.load(open(sys.argv[1], encoding="utf-8"))
names = ["wrapper, tracing off", "NCCL call, counted",
         "NCCL call, tracing on", "NCCL call, flight recorder",
         "stack of depth 8, frame pointers", "stack of depth 8, unwind tables",
         "post, tracing off", "list of 16, tracing off", "empty poll, tracing off",
         "poll of 1, tracing off", "poll of 16, tracing off", "post, counted",
         "list of 16, counted", "poll of 1, counted", "poll of 16, counted",
         "post and its poll, counted", "empty poll, tracing on",
         "post, tracing on", "post, against a pair", "list of 16, each, tracing on",
         "poll of 1, tracing on", "poll of 16, tracing on",
         "poll of 16 received, tracing on", "bytes, request that sends",
         "bytes, request that writes", "bytes, each of 16 that send",
         "bytes, each of 16 that write", "bytes, completion",
         "bytes, each of 16 completions", "send, not NCCL's thread", "recv, not NCCL's thread",
         "send of NCCL's, tracing on", "events of 4 M posts/s",
         "events of 1 M posts and polls/s", "launch, tracing off",
         "runtime's call, tracing off", "launch, tracing on", "launch, against a pair",
         "arguments of a launch, 24 alike", "arguments of a launch, 24 of 4 kinds",
         "launch, CUPTI tells its number", "record of a kernel to event",
         "start, touches nothing",
         "start, one call, no session", "start, one call, all events",
         "pthread_create, the program's", "pthread_create, NCCL's",
         "pthread_create, NCCL's, tracing on", "a thread of NCCL's, tracing on", "dlsym",
         "join, report, 2 streams", "join, timeline, 2 streams",
         "join, report, 256 streams", "join, timeline, 256 streams",
         "join, report, memory", "join, timeline, memory",
         "join, report, all layers", "join, timeline, all layers",
         "trace of the calls, 2 streams"]
assert [f["name"] for f in figures] == names, [f["name"] for f in figures]
for f in figures:
    assert f["unit"] in ("ns", "ms", "s", "KiB", "bytes", "events"), f
    assert all(math.isfinite(f[key]) for key in ("value", "bare", "over", "ratio")), f
    # An empty poll may come to no more than the call, or to less where that is disturbed.
    assert f["value"] > 0 or f["name"].startswith("empty poll"), f
    assert f["bare"] > 0 and f["promise"] >= 0, f
    assert math.isclose(f["over"], f["value"] - f["bare"], abs_tol=1e-3), f
    # Four digits are kept, of seconds too.
    assert math.isclose(f["ratio"], f["value"] / f["bare"], rel_tol=0.02,
                        abs_tol=1e-3), f
    assert f["promise_of"] in ("over", "ratio", "value"), f
    assert f["holds"] in (None, f[f["promise_of"]] <= f["promise"]), f
EOF
same "each is in the table" 59 "$(grep -cE '(over|ratio|value) <= ' "$work/out")"

# Ended in the middle: when its session is seen there.
rm -f "$work/bench.json"
start
tries=0
until lttng --no-sessiond list | grep -q "ccltap-bench-$pid-" || [ "$tries" -gt 600 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
same "a full run has a session of its own" yes "$([ "$tries" -le 600 ] && echo yes)"
kill -TERM "$pid"
finish
same "it ends when it is told to" 143 "$status"
same "and leaves nothing behind" "" "$(left_behind)"
check "nor figures" test ! -e "$work/bench.json"

mkdir "$work/bin"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/lttng"
chmod +x "$work/bin/lttng"
PATH=$work/bin:$PATH
start --quick
finish
same "without a session daemon it fails" 1 "$status"
same "and says how to get one" "1 1" "$(wc -l <"$work/err") $(
    grep -c 'no LTTng session daemon answers: scripts/daemon' "$work/err")"

tap_done
