#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `ccltap report --json` with what the small programs wrote down themselves.

usage: report.py LOGS REPORT TIMELINE

Of each queue pair: sends, bytes, errors, receives, depth; the percentiles of the signalled
ones as the log's own times give them, to a tenth and what a call takes; of each peer the sums
of its queue pairs.  All wr_ids of a queue pair differ, or all requests are signalled."""
import collections
import json
import os
import sys

problems = []
logs = {}
for name in os.listdir(sys.argv[1]):
    queues = collections.defaultdict(collections.Counter)
    open_sends, times, names = collections.defaultdict(list), collections.defaultdict(list), []
    for line in open(os.path.join(sys.argv[1], name)):
        kind, *rest = line.split()
        n = [int(word) for word in rest]
        queue = queues[n[0]]
        if kind == "qp":
            names.append(n[0])
        elif kind == "post":
            open_sends[n[0]].append(n)
            queue["depth_max"] = max(queue["depth_max"], len(open_sends[n[0]]))
        elif kind == "sent":
            # In order; those that are not signalled end with the next that is.
            while True:
                post = open_sends[n[0]].pop(0)
                own = post[6] or n[3] and post[2] == n[2]
                if n[3] and own:
                    queue["errors"] += 1
                else:
                    queue["sends"] += 1
                    queue["bytes"] += post[4]
                    if own:
                        times[n[0]].append((n[4] - post[10], n[5] - post[9]))
                if own:
                    break
        elif kind == "got":
            queue["errors" if n[3] else "receives"] += 1
    for number, spent in times.items():
        for percent in 50, 90, 99:
            rank = (len(spent) * percent + 99) // 100 - 1
            queues[number][f"p{percent}_ns"] = (sorted(low for low, _ in spent)[rank],
                                                sorted(high for _, high in spent)[rank])
    logs[int(name.split(".")[0])] = (names, queues)

pids = {}
for line in open(sys.argv[3]):
    record = json.loads(line)
    if record["type"] == "process":
        pids[record["process"]] = record["pid"]
report = json.load(open(sys.argv[2]))
sums = collections.defaultdict(collections.Counter)
for told in report["queue_pairs"]:
    names, queues = logs[pids[told["process"]]]
    counted = queues[names[told["qp_id"] - 1]]
    for what in "sends", "bytes", "errors", "receives", "depth_max":
        if told[what] != counted[what]:
            problems.append(f"{told}: {what} is {counted[what]}")
    for what in "p50_ns", "p90_ns", "p99_ns":
        if not counted[what]:
            if told[what] is not None:
                problems.append(f"{told}: {what} is not known")
            continue
        low, high = counted[what]
        if not low * 9 // 10 - 1 <= told[what] <= high * 11 // 10 + 1:
            problems.append(f"{told}: {what} is {low} to {high}")
    if counted["sends"] > 1 and not told["bytes_per_second"] > 0:
        problems.append(f"{told}: no bandwidth")
    for what in "sends", "bytes":
        sums[told["process"]][what] += counted[what]
for told in report["peers"]:
    for what in "sends", "bytes":
        sums[told["process"]][what] -= told[what]
for process, left in sums.items():
    if any(left.values()):
        problems.append(f"process {process}: {dict(left)} more than to its peers")
if not report["queue_pairs"] or not report["peers"]:
    problems.append("nothing is reported")
print("\n".join(problems[:20]))
sys.exit(1 if problems else 0)
