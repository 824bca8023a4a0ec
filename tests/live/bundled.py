# SPDX-License-Identifier: MIT
"""What ccltap reports must be what the oracle counted, call by call.

usage: bundled.py COUNTS REPORT-JSON RANKS
"""

import collections
import json
import sys

counted = collections.Counter()
for line in open(sys.argv[1], encoding="utf-8"):
    name, times = line.split()
    counted[name] += int(times)
report = json.load(open(sys.argv[2], encoding="utf-8"))
ranks = int(sys.argv[3])

reported = collections.Counter()
for process in report["processes"]:
    for call in process["calls"]:
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
