#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the driver double wrote down of its device with what was recorded of it.

usage: babeltrace2 --clock-cycles TRACE | trace.py LOG ROWS [NAME=COUNT...]

ROWS is what list-calls --cuda prints.  Each kernel, copy and set that ran is to be one
event, with its times, its stream, its node and its shape, and with the correlation id of
the one event of the call that put it there.  What a graph repeats is traced back to the
call that was captured.  NAME=COUNT asks how many events of a name there are; kernel=N,
memcpy=N, memset=N how many of those; dropped=N, zero_time=N what was told to be lost;
zero=N and discarded=N how many more are missing; `owners=A,B,...` who had CUPTI, in order;
unnumbered=yes that events of calls may lack the number, tolerance=NS that times may differ
by that; `collectives=A,B,...` in which calls of NCCL the kernels of graphs were captured.
"""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../lib"))
from driver_log import entries, events, read_rows  # noqa: E402 (the path comes first)

KINDS = {"gpu:kernel": "kernel", "gpu:memcpy": "memcpy", "gpu:memcpy_p2p": "memcpy",
         "gpu:memset": "memset"}


def number(text):
    return int(text, 0)


class Log:
    """The calls, by their correlation id and by the node that they made, and what ran."""

    def __init__(self, path):
        self.calls, self.made, self.ran, begun = {}, {}, [], {}
        for word, entry in entries(path, "call", "begin", "end"):
            pid = int(entry["pid"])
            if word == "call":
                self.calls[pid, int(entry["correlation"])] = entry
                self.made[pid, number(entry["node"])] = entry
                continue
            if entry["kind"] not in KINDS.values():
                continue
            # One stream does one thing at a time.
            if word == "begin":
                begun[pid, entry["queue"]] = entry
            else:
                start = begun.pop((pid, entry["queue"]))
                self.ran.append(dict(entry, pid=pid, start=int(start["ns"]),
                                     end=int(entry["ns"])))


class Trace:
    def __init__(self, lines):
        self.counts = collections.Counter()
        self.work, self.calls, self.numbers = [], collections.defaultdict(list), {}
        self.nodes, self.names, self.lost = {}, {}, collections.Counter()
        self.owners, self.nccl = [], {}
        for when, layer, name, event in events(lines, ("gpu", "cuda", "nccl")):
            self.add(when, layer, name, event)

    def add(self, when, layer, name, event):
        self.counts[f"{layer}:{name}"] += 1
        event["pid"] = int(event["vpid"])
        if f"{layer}:{name}" in KINDS:
            event["kind"] = KINDS[f"{layer}:{name}"]
            self.work.append(event)
        elif layer == "nccl" and "call_id" in event and not name.endswith("_exit"):
            self.nccl[event["pid"], event["call_id"]] = name.removesuffix("_entry")
        elif layer == "cuda" and name.startswith("cu"):
            self.add_call(when, name, event)
        elif name in ("name", "statedump_name"):
            self.names[event["pid"], event["name"]] = event["text"]
        elif name == "graph_node":
            self.add_node(event)
        elif name == "lost":
            self.lost[event["what"]] += int(event["count"])
        elif name == "owner":
            self.owners.append(event["state"])

    def add_call(self, when, name, event):
        """A pair of events is one call; the later one knows what it was numbered."""
        key = event["pid"], event["call_id"]
        call = self.numbers.setdefault(key, {"row": re.sub("_(entry|exit)$", "", name)})
        call.update(event)
        if name.endswith("_entry"):
            call["begin"] = when
        elif name.endswith("_exit"):
            call["end"] = when
        else:
            call.update(begin=int(event["begin_ns"]), end=when)
        correlation = int(event.get("correlation_id", "0"))
        if correlation:
            self.calls[event["pid"], correlation].append(call)

    def add_node(self, event):
        key = event["pid"], number(event["node"])
        assert key not in self.nodes, f"a node that is told twice: {event}"
        self.nodes[key] = event

    def captured(self, pid, node):
        """The call that made the node that this one is a copy of."""
        event = self.nodes[pid, node]
        while number(event["original"]):
            event = self.nodes[pid, number(event["original"])]
        return event


def key_of(pid, kind, correlation, node, start):
    return pid, kind, int(correlation) & 0xffffffff, node, start


def compare_work(ran, event, trace, tolerance):
    assert abs(int(event["start_ns"]) - ran["start"]) <= tolerance, "start"
    assert abs(int(event["end_ns"]) - ran["end"]) <= tolerance, "end"
    assert event["stream"] == ran["queue"], "stream"
    assert number(event["graph"]) == number(event["graph_node"]) >> 32, "graph"
    if ran["kind"] == "kernel":
        assert trace.names[ran["pid"], event["name"]] == ran["name"], "name"
        for what in "grid", "block":
            assert ran[what] == "x".join(event[what + axis] for axis in "XYZ"), what
        assert event["clusterX"] == ran["cluster"], "cluster"
    else:
        assert event["bytes"] == ran["bytes"], "bytes"


def compare_call(ran, log, trace, rows, unnumbered):
    """The event that has the correlation id is that of the call that has it in the log."""
    correlation = int(ran["correlation"])
    call = log.calls[ran["pid"], correlation]
    found = {id(event): event for event in trace.calls.get((ran["pid"], correlation), [])}
    if unnumbered and not found:
        return
    assert len(found) == 1, f"{len(found)} events have the number of {call}"
    event = list(found.values())[0]
    compare_made(call, event, rows[call["entry"]])


def compare_made(call, event, row):
    assert event["row"] == row, f"{event['row']} has the number of {call}"
    assert event["vtid"] == call["tid"], "thread"
    assert event["begin"] <= int(call["ns"]) <= int(call["to"]) <= event["end"], "time"


def compare_node(ran, log, trace, rows):
    """Of a graph: what was captured is the call that the log gives the node of."""
    made = trace.captured(ran["pid"], number(ran["node"]))
    calls = [call for call in trace.numbers.values()
             if (call["pid"], call["call_id"]) == (ran["pid"], made["call_id"])]
    assert len(calls) == 1, f"no call made {made}"
    assert made["correlation_id"] == calls[0].get("correlation_id", "0"), made
    call = log.made[ran["pid"], number(made["node"])]
    compare_made(call, calls[0], rows[call["entry"]])
    return trace.nccl.get((ran["pid"], calls[0].get("parent_id", "0")), "none")


def main():
    rows = read_rows(sys.argv[2])
    asked = dict(argument.split("=", 1) for argument in sys.argv[3:])
    log, trace = Log(sys.argv[1]), Trace(sys.stdin)
    missing = sum(int(asked.pop(what, "0")) for what in ("zero", "discarded"))
    missing += trace.lost["dropped"]
    unnumbered = asked.pop("unnumbered", "")
    tolerance = int(asked.pop("tolerance", "0"))
    nodes, collectives = {}, set()

    events = collections.defaultdict(list)
    for event in trace.work:
        events[key_of(event["pid"], event["kind"], event["correlation_id"],
                      number(event["graph_node"]),
                      0 if tolerance else int(event["start_ns"]))].append(event)
    absent, ran_of = [], collections.Counter()
    for ran in log.ran:
        node = number(ran["node"])
        found = events.pop(key_of(ran["pid"], ran["kind"], ran["correlation"], node,
                                  0 if tolerance else ran["start"]), [])
        if not found:
            absent.append(ran)
            continue
        assert len(found) == 1, f"{len(found)} times: {ran}"
        ran_of[ran["kind"]] += 1
        try:
            compare_work(ran, found[0], trace, tolerance)
            compare_call(ran, log, trace, rows, unnumbered)
            if node and (ran["pid"], node) not in nodes:
                nodes[ran["pid"], node] = compare_node(ran, log, trace, rows)
                collectives.add(nodes[ran["pid"], node])
        except (AssertionError, KeyError):
            print(f"{ran}\nis {found[0]}")
            raise
    assert not events, f"that never ran: {next(iter(events.values()))}"
    assert len(absent) == missing, \
        f"{len(absent)} of {len(log.ran)} are missing, not {missing}, as {absent[:1]}"

    for name, count in asked.items():
        if name == "collectives":
            there = ",".join(sorted(collectives))
        elif name == "owners":
            there = ",".join(trace.owners)
        elif name in ("dropped", "zero_time", "other_clock", "unknown_record"):
            there = str(trace.lost[name])
        elif name in KINDS.values():
            there = str(ran_of[name])
        else:
            there = str(trace.counts[name])
        assert there == count, f"{name}: {there}, not {count}"


main()
