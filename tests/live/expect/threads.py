#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the threads of a trace with what they wrote themselves: threads.py [--late] LOG JSONL.

LOG has a line "TID ROLE CREATOR" for each thread that NCCL made, JSONL is what `ccltap timeline
--format jsonl` says.  No other thread may be there.  --late: recording began when most were there
already; some had ended, and the calls that made the others are not in the trace.
"""
import collections
import json
import sys

EXACT = {"bootstrap", "service", "uds", "progress", "socket-helper"}
SHARED = ("service", "uds", "progress", "socket-helper")
YIELDS = 3  # for each operation
OPERATIONS = 3  # one of the first communicator, two of the second


def read(path):
    threads, head = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "nccl_thread":
                threads[record["tid"]] = record
            elif record["type"] == "trace":
                head = record
    return threads, head


def main():
    truth, errors = {}, []
    late = sys.argv[1] == "--late"
    if late:
        del sys.argv[1]
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            tid, role, creator = line.split()
            truth[int(tid)] = (role, int(creator))
    threads, head = read(sys.argv[2])
    if any(value for value in head["loss"].values()):
        errors.append(f"the trace is not whole: {head['loss']}")
    for tid in truth.keys() - threads.keys():
        if late and truth[tid][0] in ("bootstrap", "job"):
            continue
        errors.append(f"thread {tid}, {truth[tid][0]}, is missing")
    for tid in threads.keys() - truth.keys():
        errors.append(f"thread {tid}, {threads[tid]['role']}, is none of NCCL's")
    comms, yields = collections.defaultdict(list), 0
    for tid in truth.keys() & threads.keys():
        (role, creator), thread = truth[tid], threads[tid]
        if thread["role"] != role:
            errors.append(f"thread {tid} is {role}, not {thread['role']}")
        if creator and thread["creator_tid"] != creator:
            errors.append(f"thread {tid} was made by {creator}, not {thread['creator_tid']}")
        if role in EXACT and thread["known"] != "exact":
            errors.append(f"thread {tid}, {role}, is {thread['known']}: {thread['how']}")
        if role == "ras" and (thread["end_ns"] or thread["known"] != "inferred"):
            errors.append(f"thread {tid}, {role}: {thread}")
        if role in SHARED:
            comms[thread["comm_id"]].append(role)
        if role == "progress":
            yields += thread["yields"]
        if role == "progress" and not thread["sleeps"]:
            errors.append(f"thread {tid}, {role}, never slept")
    want = sorted(role for role, _ in truth.values() if role in SHARED)
    if yields != YIELDS * OPERATIONS:
        errors.append(f"the progress threads yielded {yields} times")
    for comm, roles in comms.items():
        if late and comm is None:
            continue
        if comm is None or sorted(roles * 2) != want:
            errors.append(f"communicator {comm} has {roles}")
    if not truth:
        errors.append("no thread wrote its line")
    print("\n".join(errors) or f"{len(truth)} threads")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
