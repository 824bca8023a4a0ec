# SPDX-License-Identifier: MIT
"""What the truth of mini-NCCL says of threads, launches and connections agrees with what it says
of messages.

usage: facts.py FOLDER RANKS
"""
import collections
import glob
import json
import sys

folder, ranks = sys.argv[1], int(sys.argv[2])
told = collections.defaultdict(list)
for path in glob.glob(folder + "/truth.*.jsonl"):
    with open(path, encoding="utf-8") as file:
        for record in map(json.loads, file):
            told[record["record"]].append(record)


def rank_of(record):
    return record["comm_hash"], record["rank"]


def end_of(record):
    return rank_of(record) + tuple(record[name] for name in (
        "peer", "channel", "index", "direction"))


# Each communicator has the threads of its proxy, and each thread is told once.
worlds = {rank_of(comm) for comm in told["communicator"] if comm["origin"] == "init"}
assert {rank for _, rank in worlds} == set(range(ranks)), worlds
roles = collections.Counter((thread["pid"], thread.get("comm_hash"), thread["role"])
                            for thread in told["thread"])
for comm in told["communicator"]:
    for role in "service", "uds", "progress":
        assert roles[comm["pid"], comm["proxy_hash"], role], (comm, role)
tids = [(thread["pid"], thread["tid"]) for thread in told["thread"]]
assert len(set(tids)) == len(tids), "a thread is told twice"

# Each operation with messages was launched, on the channels on which these went.
launched = collections.defaultdict(int)
for launch in told["launch"]:
    assert launch["result"] == 0 and launch["ops"], launch
    for op in launch["ops"]:
        launched[rank_of(launch), op["op"]] |= int(op["channels"], 16)
        assert int(op["channels"], 16) & ~int(launch["channels"], 16) == 0, launch
assert told["message"], "no message"
for message in told["message"]:
    assert launched[rank_of(message), message["op"]] >> message["channel"] & 1, message

# Each message went by the queue pairs of its connection, where those are told of.  A
# communicator that uses another's has none of its own.
queues = {end_of(end): {qp["number"] for qp in end["qps"] if qp["role"] == "data"}
          for end in told["connection"]}
owners = {comm["comm_hash"] for comm in told["communicator"]
          if comm["comm_hash"] == comm["proxy_hash"]}
for message in told["message"] if queues else ():
    if message["comm_hash"] in owners:
        assert set(message["qps"]) <= queues[end_of(message)], message
