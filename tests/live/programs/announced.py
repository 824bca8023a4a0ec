# SPDX-License-Identifier: MIT
"""Makes calls of a stock NCCL that announces them, and compares them with the trace.

usage: announced.py LIBRARY
       announced.py LIBRARY JSONL (nvtx | wrapper)

The calls have no communicator, so NCCL refuses them; it has told NVTX of them by then.
"""

import ctypes
import json
import sys

MAX, SUM, FLOAT = 2, 0, 7
CALLS = [
    ("ncclGroupStart", []),
    ("ncclGroupEnd", []),
    ("ncclAllReduce", [None, None, 1024, FLOAT, MAX, None, None]),
    ("ncclBroadcast", [None, None, 3, FLOAT, 2, None, None]),
    ("ncclReduce", [None, None, 5, FLOAT, SUM, 1, None, None]),
    ("ncclAllGather", [None, None, 6, FLOAT, None, None]),
    ("ncclReduceScatter", [None, None, 7, FLOAT, SUM, None, None]),
    ("ncclSend", [None, 8, FLOAT, 4, None, None]),
    ("ncclRecv", [None, 9, FLOAT, 0, None, None]),
]
TOLD = {
    "ncclAllReduce": {"bytes": 4096, "op": "ncclMax"},
    "ncclBroadcast": {"bytes": 12, "root": 2},
    "ncclReduce": {"bytes": 20, "op": "ncclSum", "root": 1},
    "ncclAllGather": {"bytes": 24},
    "ncclReduceScatter": {"bytes": 28, "op": "ncclSum"},
    "ncclSend": {"bytes": 32, "peer": 4},
    "ncclRecv": {"bytes": 36, "peer": 0},
}


def call(library):
    nccl = ctypes.CDLL(library)
    for name, arguments in CALLS:
        sized = [ctypes.c_size_t(a) if isinstance(a, int) and i in (1, 2) else a
                 for i, a in enumerate(arguments)]
        print(name, getattr(nccl, name)(*sized))


def compare(library, jsonl, known_by):
    with open(jsonl, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert all(count == 0 for count in records[0]["loss"].values()), records[0]
    spans = [r for r in records if r["type"] == "span"]
    # What NCCL tells inside a wrapped call is that call once more.
    assert {s.get("known_by", "wrapper") for s in spans} == {known_by}, spans
    spans = sorted((s for s in spans if not s["inner"]), key=lambda s: s["begin_ns"])
    assert [s["name"] for s in spans] == [name for name, _ in CALLS], spans
    paths = {r["library_id"]: r["path"] for r in records if r["type"] == "library"}
    for span in spans:
        fields = dict(span["fields"])
        assert paths[fields.pop("library")] == library, fields
        if known_by == "wrapper":
            continue
        # Since 2.25; there is no communicator.
        assert fields.pop("comm_hash", "0x0") == "0x0", span
        assert fields == TOLD.get(span["name"], {}), span


if len(sys.argv) == 2:
    call(sys.argv[1])
else:
    compare(*sys.argv[1:])
