#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What `ccltap timeline --format jsonl` says of tests/live/programs/reuse: reuse.py JSONL ROUNDS.
An address that is used again is a communicator of its own, whose numbers begin anew."""
import collections
import json
import sys


def main():
    path, rounds = sys.argv[1], int(sys.argv[2])
    lives = collections.defaultdict(list)
    keys, addresses = {}, collections.defaultdict(set)
    numbers = collections.defaultdict(list)
    links = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "communicator":
                who = record["process"], record["comm_id"]
                lives[who].append(record["phase"])
                keys[who] = record["comm_key"]
                addresses[record["process"]].add(record["comm"])
            elif record["type"] == "span" and record["name"] == "ncclAllReduce":
                numbers[record["process"], record["comm_id"]].append(record["op_number"])
            elif record["type"] == "link" and "comm_key" in record:
                assert record["known"] == "exact" and record["ranks"] == [0, 1], record
                links[record["comm_key"]] += 1
    processes = sorted({process for process, _ in lives})
    assert len(processes) == 2, processes
    for process in processes:
        ids = sorted(ident for who, ident in lives if who == process)
        assert ids == list(range(1, rounds + 3)), ids
        assert len(addresses[process]) < rounds // 2, len(addresses[process])
    for (process, ident), life in lives.items():
        # The last but one is aborted, the last is never freed.
        end = {rounds + 1: "aborted", rounds + 2: "ready"}.get(ident, "destroyed")
        assert life[-1] == end and life.count("destroyed") <= 1, (ident, life)
        times = {rounds + 1: 1, rounds + 2: 2}.get(ident, 1 + (rounds + 1 - ident) % 3)
        assert numbers[process, ident] == list(range(1, times + 1)), (ident, times)
        assert keys[process, ident] == keys[processes[0], ident], ident
        assert links[keys[process, ident]] == times, (ident, times)
    assert len(set(keys.values())) == rounds + 2


main()
