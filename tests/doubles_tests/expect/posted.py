# SPDX-License-Identifier: MIT
"""Who posts for whom, by the truth file of mini-NCCL.

usage: posted.py FOLDER RANKS RANKS_PER_NODE (direct|posted|shared|untold)

direct: each rank posts for itself; posted: what goes point to point to another node is posted by
the rank that has the receiver's place on the own node; shared: on one connection with what others
send that way, and receives of it share requests; untold: these learn not how much they got, but
whether it was anything.
"""

import collections
import glob
import json
import sys

folder, ranks, per_node, how = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
is_shared = how in ("shared", "untold")
lines = []
for path in glob.glob(folder + "/truth.*.jsonl"):
    with open(path, encoding="utf-8") as file:
        lines += map(json.loads, file)
messages = [line for line in lines if line["record"] == "message"]
connections = [line for line in lines if line["record"] == "connection"]
pids = {
    (line["comm_hash"], line["rank"]): line["pid"]
    for line in lines
    if line["record"] == "communicator"
}


def poster(line):
    is_far = line["rank"] // per_node != line["peer"] // per_node
    if how == "direct" or line["direction"] == "recv" or line["index"] == 0 or not is_far:
        return line["rank"]
    there = line["rank"] // per_node * per_node + line["peer"] % per_node
    # The last node may have less.
    return there if there < ranks else line["rank"]


# Each end is told by the process that has its queue pairs or sockets, and of whose it is.
for line in messages + connections:
    assert line["proxy_rank"] == poster(line), line
    assert line["pid"] == pids[line["comm_hash"], line["proxy_rank"]], line
    is_foreign = line["pid"] != pids[line["comm_hash"], line["rank"]]
    assert (line["comm"] is None) >= is_foreign, line
posted = [line for line in messages if line["proxy_rank"] != line["rank"]]
assert bool(posted) == (how != "direct"), len(posted)

# Receives that are one request began and ended together.
requests = collections.Counter(
    (line["pid"], line["posted_ns"], line["done_ns"])
    for line in messages
    if line["direction"] == "recv"
)

# Every message has two ends, in one order, whoever posted it.
ends = collections.defaultdict(list)
for line in messages:
    is_send = line["direction"] == "send"
    pair = (line["rank"], line["peer"]) if is_send else (line["peer"], line["rank"])
    ends[line["comm_hash"], pair, line["channel"], line["index"], line["message"]].append(line)
for key, both in ends.items():
    assert {end["direction"] for end in both} == {"send", "recv"} and len(both) == 2, key
    sent, got = sorted(both, key=lambda end: end["direction"], reverse=True)
    is_alone = requests[got["pid"], got["posted_ns"], got["done_ns"]] == 1
    expected = sent["bytes"] if is_alone or how != "untold" else sent["bytes"] > 0
    assert got["bytes"] == expected, both

# Queue pairs of one connection that several ranks use; requests that several receives share.
used = collections.defaultdict(set)
for line in connections:
    for qp in line["qps"]:
        if qp["role"] == "data":
            used[line["pid"], qp["adapter"], qp["number"]].add((line["rank"], line["peer"]))
shared = [users for users in used.values() if len(users) > 1]
grouped = [request for request, count in requests.items() if count > 1]
assert bool(shared) == bool(grouped) == is_shared, (len(shared), len(grouped))
print(f"# {len(messages)} ends, {len(posted)} posted, {len(shared)} connections shared, "
      f"{len(grouped)} requests of several receives")
