# SPDX-License-Identifier: MIT
"""What ccltap reports must be what the oracle counted, call by call, and what was posted to
libibverbs or sent over sockets what mini-NCCL says that it sent.

usage: bundled.py COUNTS REPORT-JSON RANKS TRUTH-FOLDER
"""

import collections
import glob
import json
import sys

counted = collections.Counter()
for line in open(sys.argv[1], encoding="utf-8"):
    name, times = line.split()
    counted[name] += int(times)
report = json.load(open(sys.argv[2], encoding="utf-8"))
ranks = int(sys.argv[3])

reported = collections.Counter()
posted = collections.Counter()
for process in report["processes"]:
    for call in process["calls"]:
        if not call["name"].startswith("nccl"):
            posted[process["pid"], call["name"]] += call["calls"]
            assert call["failures"] == 0, call
            continue
        reported[call["name"]] += call["calls"]
        assert call["open"] == call["end_lost"] == call["begin_lost"] == 0, call
        assert call["failures"] == 0, call
# The oracle stands between us and NCCL, so it counts what we ask NCCL ourselves too: the
# state of each communicator and its device, before which NCCL asks for the state again.
for name in ("ncclCommGetAsyncError", "ncclCommCuDevice", "ncclCommGetAsyncError"):
    counted[name] -= ranks
assert reported == +counted, (reported - counted, counted - reported)
assert len(report["processes"]) == ranks, len(report["processes"])
assert reported["ncclAllReduce"] == 3 * ranks, reported
assert reported["ncclGetUniqueId"] == 1, reported

# A message is a write with immediate data, for which there was a receive and a write that
# told where it may go; and each of its ends is told as such.
sent = collections.Counter()
for path in glob.glob(sys.argv[4] + "/*"):
    for line in open(path, encoding="utf-8"):
        end = json.loads(line)
        if end["record"] != "message":
            continue
        requests = ("RDMA_WRITE_WITH_IMM",) if end["direction"] == "send" \
            else ("RECV", "RDMA_WRITE")
        # Over sockets there are no queue pairs.
        for name in (*(requests if end["qps"] else ()), "net_" + end["direction"]):
            sent[end["pid"], name] += 1
assert posted == sent, (posted, sent)
assert sent
