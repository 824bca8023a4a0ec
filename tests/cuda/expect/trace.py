#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the driver double wrote down of its calls with what was recorded of them.

usage: babeltrace2 --clock-cycles TRACE | trace.py LOG ROWS [NAME=COUNT...]

ROWS is what list-calls --cuda prints.  Of each thread the first call is to be the first
event, and so on: under the row's name, of the right twin, inside the time that the event
tells, with stream, result and what is launched.  NAME=COUNT asks how many of a row there
are, `function=COUNT` how many of the functions have a name, and `runtime=NUMBERS` by which
calls of a runtime they were made, in order.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../lib"))
from driver_log import entries, events, read_rows  # noqa: E402 (the path comes first)

PER_THREAD = 2
# What the driver does not write down.
NOT_LOGGED = "cuGraphExecDestroy", "cuGraphDestroy", "cuModuleUnload"

# By which calls of a runtime each is made, as cudart.def numbers them.
MADE_BY = {
    "cuLaunchKernel": {1, 2}, "cuLaunchKernelEx": {3}, "cuLaunchCooperativeKernel": {4},
    "cuLaunchHostFunc": {5}, "cuGraphLaunch": {6}, "cuMemcpyHtoDAsync_v2": {7},
    "cuMemcpyDtoHAsync_v2": {7}, "cuStreamSynchronize": {10},
}


def of_log(path, rows):
    """The calls of each thread, by the time when they began."""
    threads = {}
    for _, call in entries(path, "call"):
        assert call["entry"] in rows, f"no row for {call['entry']}"
        call["row"] = rows[call["entry"]]
        call["twin"] = int(call["entry"] != call["row"])
        call["begin"], call["end"] = int(call["ns"]), int(call["to"])
        threads.setdefault((call["pid"], call["tid"]), []).append(call)
    for calls in threads.values():
        calls.sort(key=lambda call: call["begin"])
    return threads


def of_trace(lines):
    """The same of the trace, a pair of events being one; and the functions' names."""
    threads, functions, opened, numbers = {}, {}, {}, set()
    for when, layer, name, event in events(lines, ("cuda", "tap")):
        name = f"{layer}:{name}"
        thread = event["vpid"], event["vtid"]
        if name in ("cuda:function", "tap:statedump_function"):
            functions[event["vpid"], int(event["function"], 0)] = event["name"]
        elif name.endswith("_exit") and name.startswith("cuda:"):
            call = opened.pop((event["vpid"], event["call_id"]))
            assert name == f"cuda:{call['row']}_exit", (name, call)
            assert thread == call["thread"], (name, call)
            call.update(event, end=when)
        elif name.startswith("cuda:cu"):
            is_pair = name.endswith("_entry")
            call = dict(event, row=name[5:].removesuffix("_entry"), thread=thread,
                        begin=when if is_pair else int(event["begin_ns"]), end=when)
            number = event["vpid"], event["call_id"]
            assert number not in numbers, f"two calls with one number: {event}"
            numbers.add(number)
            if is_pair:
                opened[number] = call
            if call["row"] not in NOT_LOGGED:
                threads.setdefault(thread, []).append(call)
    assert not opened, f"never returned: {opened}"
    for calls in threads.values():
        calls.sort(key=lambda call: call["begin"])
    return threads, functions


def stream_of(event):
    """What the driver makes of it: a twin's NULL is the thread's own."""
    stream = int(event.get("hStream", event.get("stream", "0")), 0)
    return stream or (PER_THREAD if int(event["per_thread"]) else 0)


def compare(call, event, functions):
    assert (event["row"], int(event["per_thread"])) == (call["row"], call["twin"])
    assert event["begin"] <= call["begin"] <= call["end"] <= event["end"]
    assert int(event["result"]) == int(call["result"])
    if "hStream" in event or "stream" in event:
        assert stream_of(event) == int(call["stream"], 0)
    if "capture" in event and int(call["works"]):
        assert int(event["capture"]) == int(call["node"] != "0")
    assert int(event["runtime"]) in MADE_BY.get(call["row"], set()) | {0}
    if call["row"] == "cuGraphLaunch":
        assert int(event["hGraphExec"], 0) == int(call["graph"], 0)
    if call.get("kind") == "kernel" and "gridDimX" in event:
        for what in "grid", "block":
            assert call[what] == "x".join(event[f"{what}Dim{axis}"] for axis in "XYZ")
        function = event["vpid"], int(event["f"], 0)
        assert functions[function] in ("", call["name"])
        if "clusterDimX" in event:
            assert int(event["clusterDimX"]) == int(call["cluster"])
    if call.get("kind") in ("memcpy", "memset") and call["works"] == "1" and \
            "ByteCount" in event:
        assert event["ByteCount"] == call["bytes"]


def main():
    rows = read_rows(sys.argv[2])
    expected = of_log(sys.argv[1], rows)
    threads, functions = of_trace(sys.stdin)
    found = [event for calls in threads.values() for event in calls]
    for thread, calls in expected.items():
        recorded = threads.get(thread, [])
        for number, call in enumerate(calls):
            assert number < len(recorded), \
                f"thread {thread}: {len(recorded)} of {len(calls)} are recorded, not {call}"
            try:
                compare(call, recorded[number], functions)
            except (AssertionError, KeyError):
                print(f"call {number} of thread {thread}: {call}\nis {recorded[number]}")
                raise
        assert len(recorded) == len(calls), f"thread {thread}: too many: {recorded[len(calls)]}"
    assert set(threads) <= set(expected), f"threads that did nothing: {set(threads) - set(expected)}"
    for asked in sys.argv[3:]:
        name, _, count = asked.partition("=")
        if name == "function":
            there = str(sum(map(bool, functions.values())))
        elif name == "runtime":
            there = ",".join(map(str, sorted({int(event["runtime"]) for event in found
                                              if "runtime" in event})))
        else:
            there = str(sum(event["row"] == name for event in found))
        assert there == count, f"{name}: {there}, not {count}"
    assert found, "nothing is recorded"


main()
