# SPDX-License-Identifier: MIT
"""How the collectives of a run between windows were done, by mini-NCCL's truth and by the log of
the driver.

usage: windows.py FOLDER RANKS RULE

  kernels   by kernels between windows, without a message
  batches   by copies, in batches but in graphs
  messages  as without windows
"""
import collections
import glob
import json
import re
import sys

folder, ranks, rule = sys.argv[1], int(sys.argv[2]), sys.argv[3]
told = collections.defaultdict(list)
for path in glob.glob(folder + "/truth.*.jsonl"):
    with open(path, encoding="utf-8") as file:
        for record in map(json.loads, file):
            told[record["record"]].append(record)
with open(folder + "/cuda", encoding="utf-8") as file:
    calls = [line for line in file if line.startswith("call ")]


def count(name):
    return sum(f" entry={name}" in call for call in calls)


def is_symmetric(launch):
    return re.search("ncclSymk?DevKernel_", launch["kernel"] or "") is not None


# Of floats other operators have no such kernel, and those of integers none at all.
by_kernels = [launch for launch in told["launch"] if is_symmetric(launch)]
by_copies = [launch for launch in told["launch"] if launch["kind"] == "copies"]
direct = {(launch["comm_hash"], launch["rank"], op["op"])
          for launch in by_kernels + by_copies for op in launch["ops"]}
sent = {(message["comm_hash"], message["rank"], message["op"]) for message in told["message"]}
assert not direct & sent, "what goes directly has messages, too"
assert all(launch["result"] == 0 and launch["ops"] for launch in told["launch"])
by_rank = collections.Counter(launch["rank"] for launch in by_kernels + by_copies)
assert len(set(by_rank.values())) <= 1, f"not the same on all ranks: {by_rank}"

assert bool(by_kernels) == (rule == "kernels"), by_kernels
assert bool(by_copies) == (rule == "batches"), by_copies
if by_kernels:
    assert len(by_rank) == ranks
    assert all(launch["channels"] != "0x0" for launch in by_kernels)
if by_copies:
    assert len(by_rank) == ranks
    # Two, since no operation here is large.
    assert count("cuStreamBatchMemOp") == 2 * len(by_copies), count("cuStreamBatchMemOp")
    assert count("cuMemcpyBatchAsync")
