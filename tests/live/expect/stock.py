# SPDX-License-Identifier: MIT
"""Compares what calls.c or calls.py printed with what was traced of it.

usage: stock.py OUTPUT JSONL CALLER-BASENAME
"""

import json
import sys

RESULTS = {0: "ncclSuccess", 1: "ncclUnhandledCudaError", 2: "ncclSystemError",
           3: "ncclInternalError", 4: "ncclInvalidArgument", 5: "ncclInvalidUsage"}

printed = [line.split() for line in open(sys.argv[1], encoding="utf-8")]
records = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
assert records[0]["type"] == "trace" and records[0]["schema"] == 1, records[0]
assert all(count == 0 for count in records[0]["loss"].values()), records[0]

spans = [r for r in records if r["type"] == "span"]
outer = [s for s in spans if not s["inner"]]
# NCCL asks for its own version on the way; that is an inner call and no other is.
names = [s["name"] for s in sorted(outer, key=lambda s: s["begin_ns"])]
assert names == [words[0] for words in printed], (names, printed)
for span, words in zip(sorted(outer, key=lambda s: s["begin_ns"]), printed):
    assert span["state"] == "complete" and span["begin_ns"] <= span["end_ns"], span
    assert span["caller"].startswith(sys.argv[3]), span
    if words[0] == "ncclGetErrorString":
        assert span["result"] == " ".join(words[1:]), span
    else:
        assert span["result"] == RESULTS[int(words[1])], span
    if words[0] == "ncclGetVersion":
        assert span["fields"]["version"] == int(words[3]), span
    if words[0] == "ncclGetUniqueId":
        unique_id = span["fields"]["uniqueId_hash"]
    if words[0] == "ncclCommInitRank":
        assert span["fields"]["commId_hash"] == unique_id, span
        assert span["fields"]["nranks"] == 1 and span["fields"]["rank"] == 0, span
        assert int(words[1]) != 0, "there is a GPU here: this test wants to see a failure"
for span in spans:
    if span["inner"]:
        assert span["caller"].startswith("libnccl.so"), span
