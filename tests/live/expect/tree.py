# SPDX-License-Identifier: MIT
"""Trees of seven operations of two ranks: nothing stands twice, each part begins after the call
above it, a step's other parts are within it, and both ranks have every kind of part.

usage: tree.py JSONL
"""

import collections
import json
import sys

trees = collections.defaultdict(dict)
operations, paths = {}, {}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        record = json.loads(line)
        if record["type"] == "tree":
            operations[record["tree"]] = record["operations"]
        elif record["type"] == "node":
            assert record["id"] not in trees[record["tree"]], record
            trees[record["tree"]][record["id"]] = record
        elif record["type"] == "path":
            paths[record["tree"]] = record["hops"]
        else:
            end = record
assert end["messages_in_no_tree"] == 0, end
names = [sorted(o["name"] for o in operations[tree]) for tree in sorted(operations)]
assert names == [["ncclAllReduce"], ["ncclAllGather"], ["ncclBroadcast"], ["ncclReduce"],
                 ["ncclReduceScatter"], ["ncclSend"], ["ncclSend", "ncclSend"]], names

everywhere = [node["id"] for tree in trees.values() for node in tree.values()]
assert len(everywhere) == len(set(everywhere))

ABOVE = {"GroupApi": [None], "CollApi": [None, "GroupApi"], "P2pApi": [None, "GroupApi"],
         "KernelLaunch": ["CollApi", "P2pApi", "GroupApi"], "Coll": ["CollApi", "GroupApi"],
         "P2p": ["P2pApi", "GroupApi"], "KernelCh": ["Coll", "P2p"], "ProxyOp": ["Coll", "P2p"],
         "ProxyStep": ["ProxyOp"], "NetPlugin": ["ProxyStep"]}
for number, tree in trees.items():
    events = collections.Counter()
    for node in tree.values():
        above = tree[node["parent"]] if node["parent"] else None
        assert (above and above["event"]) in ABOVE[node["event"]], node
        assert (node["known"] is None) == (above is None), node
        if above:
            assert node["process"] == above["process"], node
            assert node["rank"] == above["rank"], node
            assert node["begin_ns"] >= above["begin_ns"] or above["event"] == "ProxyStep", node
        events[node["rank"], node["event"]] += 1
    steps = collections.Counter()
    for rank in (0, 1):
        for event in ("KernelLaunch", "KernelCh", "ProxyOp", "ProxyStep"):
            assert events[rank, event], (number, rank, event, events)
    for node in tree.values():
        if node["event"] == "ProxyOp":
            below = [n for n in tree.values() if n["parent"] == node["id"]]
            assert len(below) == node["fields"]["nSteps"], node
            assert [n["fields"]["step"] for n in below] == list(range(len(below))), below
            assert sum(n["fields"]["transSize"] for n in below) == node["fields"]["transSize"]
            steps[node["fields"]["isSend"]] += len(below)
    # What one rank sends the other receives.
    assert steps[0] == steps[1], (number, steps)
    hops = paths[number]
    assert hops[0]["moment"] == "ended" and hops[-1]["moment"] == "called", hops
    times = [hop["time_ns"] for hop in hops]
    assert times == sorted(times, reverse=True), hops
    last = max(n["end_ns"] for n in tree.values() if n["event"] == "KernelCh")
    assert hops[0]["time_ns"] == last, hops
