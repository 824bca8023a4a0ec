#!/bin/sh
# SPDX-License-Identifier: MIT
# With the lttng command alone, as the manual and `ccltap env` say, the spans are those
# that `ccltap record` gives.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

session=ccltap-test-hand-$$
trap 'lttng --no-sessiond destroy "$session" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

program()
{
    "$top_builddir/examples/allreduce" -n 2 -i 3 -c 10000 >/dev/null
}

# spans TRACE: each span without its times, numbers of processes and addresses; a rank polls,
# and its proxy rests, as often as it has to.
spans()
{
    "$ccltap" timeline --format jsonl "$1" | /usr/bin/python3 -c '
import json, sys
ranks, lines = {}, []
for line in sys.stdin:
    record = json.loads(line)
    if record["type"] == "process":
        ranks[record["process"]] = record["rank"]
    elif record["type"] == "span" and record["name"] not in ("ncclCommGetAsyncError", "ProxyCtrl"):
        fields = {name: value for name, value in record["fields"].items()
                  if isinstance(value, (int, str)) and not str(value).startswith("0x")
                  and not name.endswith("_ns")
                  and name not in ("peer_process", "wait_known")}
        lines.append(json.dumps([ranks[record["process"]], record["name"], record["state"],
                                 record["op_number"], record["comm_rank"], record["inner"],
                                 record["caller"], record["result"], fields], sort_keys=True))
print("\n".join(sorted(lines)))'
}

run 0 "recorded by ccltap" "$ccltap" record -o "$work/record" -- \
    "$top_builddir/examples/allreduce" -n 2 -i 3 -c 10000
spans "$work/record" >"$work/expected"
check "there are spans" test "$(wc -l <"$work/expected")" -gt 20

# The few lines that LTTng users know: one channel for all.
lttng --no-sessiond create "$session" --output "$work/plain" >/dev/null
lttng --no-sessiond enable-event -s "$session" -u \
    'nccl:*,cuda:*,gpu:*,verbs:*,net:*,thread:*,tap:*' >/dev/null
lttng --no-sessiond add-context -s "$session" -u -t vpid -t vtid -t procname >/dev/null
lttng --no-sessiond start "$session" >/dev/null
(eval "$("$ccltap" env)"; program)
lttng --no-sessiond destroy "$session" >/dev/null
spans "$work/plain" >"$work/actual"
check "by hand the spans are the same" diff "$work/expected" "$work/actual"

# Those that env prints: the channels of record.
"$ccltap" env --session "$session" |
    sed -n "s,^#   lttng create .*,& --output='$work/env',; s/^#   //p" >"$work/commands"
grep -v destroy "$work/commands" | sh -eu >/dev/null
(eval "$("$ccltap" env)"; program)
grep destroy "$work/commands" | sh -eu >/dev/null
spans "$work/env" >"$work/actual"
check "by what env prints, too" diff "$work/expected" "$work/actual"
tap_done
