# SPDX-License-Identifier: MIT
"""What nvtx.c told NVTX is in the trace, and nothing else.

usage: nvtx.py JSONL (calls | ranges | mixed)

calls: NCCL's alone, which is the default; ranges: the program's own too; mixed: a told call
with one inside that has a wrapper.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    records = [json.loads(line) for line in file]
assert all(count == 0 for count in records[0]["loss"].values()), records[0]
has_ranges = sys.argv[2] == "ranges"
spans = sorted((r for r in records if r["type"] == "span"), key=lambda s: s["call_id"])
libraries = {r["library_id"]: r for r in records if r["type"] == "library"}
calls = [s for s in spans if s["layer"] == "nccl"]
ranges = [s for s in spans if s["layer"] == "nvtx"]

if sys.argv[2] == "mixed":
    found = [(c["name"], c.get("known_by"), c["parent"]) for c in calls]
    outer = calls[0]["id"]
    assert found == [("ncclCommInitAll", "nvtx", None), ("ncclGetVersion", None, outer),
                     ("ncclGroupStart", "nvtx", outer), ("ncclGetVersion", None, None)], found
    sys.exit()

for call in calls:
    library = libraries[call["fields"].pop("library")]
    assert library["layer"] == "nccl" and "/nvtx" in library["path"], library
    assert call["known_by"] == "nvtx" and call["state"] == "complete", call
    assert call["result"] is None and call["comm_key"] is None, call

expected = [
    ("ncclCommInitRank", False, {"comm_hash": "0x1234", "nranks": 8, "rank": 3}),
    ("ncclGroupStart", True, {}),
    ("ncclAllReduce", False, {"comm_hash": "0xabcd", "bytes": 4096, "op": "ncclMax"}),
    # A 0 that was told is there, and one that was not is absent.
    ("ncclAllReduce", False, {"comm_hash": "0x0", "bytes": 0, "op": "ncclSum"}),
    ("ncclCommAbort", False, {}),
] + 300 * [("ncclCommCount", False, {})] + [
    ("ncclAllReduce", False, {"comm_hash": "0xabcd", "bytes": 64, "op": "ncclSum"}),
    ("ncclCommDestroy", False, {}),
]
found = [(c["name"], c["inner"], c["fields"]) for c in calls]
assert found == expected, found
assert calls[1]["parent"] == calls[0]["id"], calls[1]
assert calls[5]["tid"] != calls[0]["tid"], "another thread"
assert calls[-1]["pid"] != calls[0]["pid"], "a child"

problems = [r["detail"] for r in records if r["type"] == "problem"]
assert problems == ["ranges of NVTX that are nested more than 32 deep"], problems
if not has_ranges:
    assert not ranges, ranges
    sys.exit()

by_name = {}
for r in ranges:
    by_name.setdefault(r["name"], []).append(r)
assert len(by_name.pop("deep")) == 32
for name in ("hostStreamPlanCallback", "ncclOfTheFuture"):
    (r,) = by_name.pop(name)
    assert r["fields"] == {"scope": "thread", "domain": "NCCL"}, r
(epoch,), (step,), (forward,), (loss,) = (by_name.pop(n) for n in
                                          ("epoch 1", "step 1", "forward", "loss"))
(summer,), (never,) = by_name.pop("été"), by_name.pop("never popped")
assert not by_name, by_name
assert epoch["fields"] == {"scope": "process", "domain": ""}, epoch
assert forward["fields"] == {"scope": "thread", "domain": "app", "category": 7,
                             "color": "0xff00ff00", "value": -5}, forward
assert loss["fields"]["scope"] == "mark" and loss["begin_ns"] == loss["end_ns"], loss
# Popped in the order in which they were pushed, from two domains.
assert step["begin_ns"] < forward["begin_ns"] < step["end_ns"] < forward["end_ns"]
assert forward["parent"] == step["id"] and loss["parent"] == forward["id"]
assert forward["end_ns"] < summer["begin_ns"] < epoch["end_ns"], "ended by another thread"
assert never["state"] == "open" and summer["state"] == "complete", never
