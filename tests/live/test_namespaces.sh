#!/bin/sh
# SPDX-License-Identifier: MIT
# Processes in namespaces, as containers have them: told apart where they are recorded, and
# named where they cannot be.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

program=$top_builddir/tests/link/programs/linked

if ! unshare -mpfT true 2>/dev/null; then
    echo "1..0 # SKIP no mount namespace, or none for processes and time: run as root"
    exit 0
fi

# Both are process 1, each of its own namespace, and run at the same time.
# shellcheck disable=SC2016
run 0 "two containers with one process each" "$ccltap" record -o "$work/pids" -- sh -c '
    unshare -pf "$0" & first=$!
    unshare -pf "$0" & wait "$first" && wait "$!"' "$program"
said "both are counted" "pids/[^ ]*: 2 processes"
"$ccltap" timeline --format jsonl -o "$work/jsonl" "$work/pids"
check "they are told apart" /usr/bin/python3 - "$work/jsonl" <<'EOF'
import collections, json, sys
records = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
processes = {r["process"]: r for r in records if r["type"] == "process"}
assert [p["pid"] for p in processes.values()] == [1, 1], processes
assert len({p["pid_namespace"] for p in processes.values()}) == 2, processes
calls = collections.Counter(r["process"] for r in records if r["type"] == "span")
assert list(calls.values()) == [4, 4], calls
assert all(r["state"] == "complete" for r in records if r["type"] == "span")
EOF

bare=$("$program")
run 0 "a process in another time namespace" "$ccltap" record -o "$work/time" -- \
    unshare -T --monotonic 1000 "$program"
same "it runs as ever" "$bare" "$(cat "$work/out")"
said "it is told" "; 1 process could not be recorded: process [0-9]*: it is in another time"

# shellcheck disable=SC2016
run 0 "a process that reaches no session daemon" "$ccltap" record -o "$work/none" -- \
    unshare -m sh -c 'mount -t tmpfs tmpfs /run/lttng && HOME=/nonexistent exec "$0"' "$program"
same "it runs as ever" "$bare" "$(cat "$work/out")"
said "it is told" "; 1 process could not be recorded: process [0-9]*: it reaches no session"
same "it is not said that nobody called" 0 "$(grep -c 'nothing was attached' "$work/err")"

# shellcheck disable=SC2016
run 0 "one process that is recorded and one that is not" "$ccltap" record -o "$work/half" -- \
    sh -c '"$0" -n 2 -i 2 && unshare -T --monotonic 1000 "$1"' \
    "$top_builddir/examples/allreduce" "$program"
run 2 "why cannot tell then" "$ccltap" why "$work/half"
check "and says of what it has no trace" grep -q \
    "cannot tell whether something is wrong: 1 process of the program was not recorded" "$work/out"
"$ccltap" check "$work/half" >"$work/checked" || true
check "check has it among the losses" grep -q \
    "^loss: processes that could not be recorded 1" "$work/checked"

# As a daemon of an ordinary user's that this one does not belong to.
check "a process of another user" /usr/bin/python3 - "$program" "$CCLTAP_LIBDIR" <<'EOF'
import os, socket, subprocess, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(f"\0ccltap-test-{os.getpid()}")
listener.settimeout(10)
script = 'mount -t tmpfs tmpfs /run/lttng && HOME=/nonexistent exec "$0"'
subprocess.run(["unshare", "-m", "env", f"LD_PRELOAD={sys.argv[2]}/libccltap.so",
                f"CCLTAP_RECORDER=4711 0 token ccltap-test-{os.getpid()}",
                "sh", "-c", script, sys.argv[1]], check=True)
said = listener.recv(1000).decode()
assert said.startswith("tokenprocess "), said
assert said.endswith(": it is another user's, whom the session daemon does not serve"), said
EOF

tap_done
