#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the connections that ccltap tells of NCCL's network code with what nib logged by itself.

usage: connections.py JSONL TRANSPORT FOLDER...

Each FOLDER has the logs of one setting, all of which are in the trace.  Each process has one end
that sends and one that receives, of this transport, with each message of the log, and the other
process at its other end; nothing else is a connection.  Ends with 1 when anything is wrong."""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
import nib_log  # pylint: disable=wrong-import-position


def pid_of(folder, rank):
    with open(os.path.join(folder, f"log.{rank}"), encoding="ascii") as log:
        return int(re.search(r" process (\d+)$", log.readline())[1])


def wanted_of(transport, folders):
    """How many such connections there are, by what is said of each."""
    wanted = collections.Counter()
    for folder in folders:
        if os.path.exists(os.path.join(folder, "skipped")):
            continue
        lines = nib_log.read(folder)
        pids = [pid_of(folder, rank) for rank in (0, 1)]
        for rank, connection in enumerate(("0>1", "1>0")):
            for end, direction in (("send", "send"), ("recv", "receive")):
                pair = pids if (end == "send") == (rank == 0) else pids[::-1]
                groups = {line.group for line in nib_log.of_end(lines, connection, end)}
                wanted[transport, direction, len(groups), *pair] += 1
    return wanted


def main():
    path, transport, *folders = sys.argv[1:]
    pids, found = {}, collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "process":
                pids[record["process"]] = record["pid"]
            elif record["type"] == "connection":
                found[record["transport"], record["direction"], record["messages"],
                      record["pid"], pids.get(record["peer_process"])] += 1
    wanted = wanted_of(transport, folders)
    for what, these in ("missing", wanted - found), ("not nib's", found - wanted):
        for connection, count in these.items():
            print(f"{what}: {count} of {connection}")
    print(sum((wanted & found).values()), "of", sum(wanted.values()), "connections right")
    return wanted != found


if __name__ == "__main__":
    sys.exit(main())
