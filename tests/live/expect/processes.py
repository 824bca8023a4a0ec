# SPDX-License-Identifier: MIT
"""What processes.c did must be in the trace, each call in the process that made it.

usage: processes.py OUTPUT JSONL
"""

import collections
import json
import sys

parent, child = map(int, open(sys.argv[1], encoding="utf-8").read().split())
records = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
spans = [r for r in records if r["type"] == "span"]
processes = {r["pid"]: r for r in records if r["type"] == "process"}

calls = collections.Counter(s["pid"] for s in spans)
grandchild = next(pid for pid in calls if pid not in (parent, child))
# The program that took the child's place by exec has its pid.
assert calls == {parent: 8 * 10 + 2, child: 5 + 3, grandchild: 7}, calls
assert len({s["tid"] for s in spans if s["pid"] == parent}) == 9, "one row per thread"
for pid in calls:
    assert processes[pid]["command"], pid
assert processes[child]["ppid"] == parent, processes[child]
assert processes[grandchild]["ppid"] == child, processes[grandchild]
for span in spans:
    assert span["state"] == "complete" and span["caller"].startswith("processes+"), span
