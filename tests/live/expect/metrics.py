# SPDX-License-Identifier: MIT
"""The metrics of a file are exactly what a program knows of its own calls.

usage: metrics.py FILE TRUTH [DROPPED]
       metrics.py FILE COUNTS BYTES-OF-AN-OPERATION

TRUTH has lines "FUNCTION CALLS FAILURES BYTES"; DROPPED is how many operations went with
their group.  COUNTS has lines "FUNCTION CALLS", and no call failed.
"""

import collections
import re
import sys

OPERATIONS = {"ncclAllReduce", "ncclAllGather", "ncclBroadcast", "ncclSend", "ncclRecv"}
COUNTED = OPERATIONS | {"ncclCommInitRank", "ncclCommDestroy", "ncclCommAbort", "ncclCommFinalize",
                        "ncclGroupEnd"}
LINE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="[A-Za-z0-9._+:@%\[\]-]*",?)*)\})? ([0-9.]+)\n')
# One call in so many is timed.
EVERY = 251
# What the metrics of a type are called besides their own name.
SUFFIXES = {"summary": ("_sum", "_count"), "histogram": ("_bucket", "_sum", "_count")}


def read(path):
    """The values of each metric by their labels, and no two have the same."""
    metrics = collections.defaultdict(dict)
    helped, typed = set(), {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("# HELP "):
            helped.add(line.split()[2])
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name in helped and name not in typed, line
            typed[name] = kind
            continue
        match = LINE.fullmatch(line)
        assert match, line
        name, labels, value = match.groups()
        last = list(typed)[-1]
        assert name in [last + suffix for suffix in SUFFIXES.get(typed[last], ("",))], line
        assert (typed[last] == "counter") == name.endswith("_total"), line
        labels = frozenset(re.findall('([a-z_]+)="([^"]*)"', labels or ""))
        assert labels not in metrics[name], line
        metrics[name][labels] = float(value)
    assert helped == set(typed)
    return metrics


def by_function(values):
    sums = collections.Counter()
    for labels, value in values.items():
        sums[dict(labels)["function"]] += value
    return sums


def timed(calls):
    """How many of the first calls are timed."""
    return (calls + EVERY - 1) // EVERY


def check_times(metrics, calls, processes):
    """The calls of each program: of one communicator 1005, of another 2, of 300 one each."""
    counts = by_function(metrics["ccltap_nccl_call_seconds_count"])
    sums = by_function(metrics["ccltap_nccl_call_seconds_sum"])
    of_comms = by_function(metrics["ccltap_nccl_communicator_call_seconds_count"])
    assert counts["ncclAllReduce"] == processes * (timed(1005) + timed(2) + 300), counts
    assert of_comms["ncclAllReduce"] <= counts["ncclAllReduce"], of_comms
    made = calls["ncclCommInitRank"] // processes
    assert counts["ncclCommInitRank"] == processes * timed(made), counts
    assert all(0 < sums[name] < 10 * count for name, count in counts.items() if count), sums
    assert set(metrics["ccltap_nccl_calls_per_sample"].values()) == {EVERY}


def main():
    metrics = read(sys.argv[1])
    truth = [line.split() for line in open(sys.argv[2], encoding="utf-8")]
    calls, failures, nr_bytes = (collections.Counter() for _ in range(3))
    is_whole = len(truth[0]) == 4
    for name, *counts in truth:
        if name not in COUNTED:
            continue
        calls[name] += int(counts[0])
        failures[name] += int(counts[1]) if is_whole else 0
        if name in OPERATIONS:
            nr_bytes[name] += int(counts[2]) if is_whole else int(counts[0]) * int(sys.argv[3])
    operations = collections.Counter({name: calls[name] - failures[name]
                                      for name in calls if name in OPERATIONS})
    for metric, expected in (("calls", calls), ("call_failures", failures),
                             ("operations", operations), ("operation_bytes", nr_bytes)):
        seen = by_function(metrics[f"ccltap_nccl_{metric}_total"])
        assert +seen == +expected, (metric, seen, expected)
        # Of communicators there may be fewer: room of one that is gone is used again.
        of_comms = by_function(metrics[f"ccltap_nccl_communicator_{metric}_total"])
        assert all(of_comms[name] <= expected[name] for name in of_comms), (metric, of_comms)
        if not is_whole and metric != "calls":
            assert of_comms == +expected, (metric, of_comms, expected)
    if is_whole:
        # Room that is used again begins with nothing: a thread's, and those used once.
        of_each = {value for labels, value in
                   metrics["ccltap_nccl_communicator_operations_total"].items()
                   if dict(labels)["function"] == "ncclAllReduce"}
        assert of_each == {1, 1000}, of_each
        check_times(metrics, calls, sum(line[0] == "ncclAllReduce" for line in truth))
    dropped = sum(metrics["ccltap_nccl_dropped_operations_total"].values())
    assert dropped == (int(sys.argv[3]) if is_whole and len(sys.argv) > 3 else 0), dropped
    for metric in "ccltap_refused_processes_total", "ccltap_nccl_communicators_without_series":
        assert list(metrics[metric].values()) == [0], metrics[metric]
    # Another recording's file in the same folder has none of these.
    recordings = {dict(labels).get("recording") for values in metrics.values() for labels in values}
    assert len(recordings) == 1 and None not in recordings, recordings
    assert not metrics["ccltap_nccl_open_call_seconds"], metrics["ccltap_nccl_open_call_seconds"]


main()
