# SPDX-License-Identifier: MIT
"""Several releases of NCCL in one process, each initialised, their calls in turns.

usage: wheels.py LIBRARY...
       wheels.py --check OUTPUT JSONL LIBRARY...

The second form compares what the first printed with what was traced of it.
"""

import ctypes
import json
import os
import sys


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


def run(paths):
    libraries = [ctypes.CDLL(path) for path in paths]
    ids = [UniqueId() for _ in paths]
    version, comm = ctypes.c_int(), ctypes.c_void_p()
    for path, library in zip(paths, libraries):
        library.ncclCommInitRank.argtypes = [
            ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int]
        print(path, "ncclGetVersion", library.ncclGetVersion(ctypes.byref(version)))
        print("version", version.value)
    # One group within another's, each of its own library.
    steps = [("ncclGetUniqueId", lambda i: libraries[i].ncclGetUniqueId(ctypes.byref(ids[i]))),
             ("ncclGroupStart", lambda i: libraries[i].ncclGroupStart()),
             ("ncclGroupEnd", lambda i: libraries[i].ncclGroupEnd()),
             ("ncclCommInitRank",
              lambda i: libraries[i].ncclCommInitRank(ctypes.byref(comm), 1, ids[i], 0)),
             ("ncclGetVersion", lambda i: libraries[i].ncclGetVersion(ctypes.byref(version)))]
    for name, step in steps:
        for i, path in enumerate(paths):
            print(path, name, step(i))
    sys.stdout.flush()
    os._exit(0)


def check(out, jsonl, paths):
    with open(out, encoding="utf-8") as file:
        printed = [line.split() for line in file]
    versions = [int(words[1]) for words in printed if words[0] == "version"]
    assert len(set(versions)) == len(paths) > 1, versions
    libraries, spans = {}, []
    with open(jsonl, encoding="utf-8") as file:
        for record in map(json.loads, file):
            if record["type"] == "library":
                libraries[record["library_id"]] = os.path.realpath(record["path"])
            if record["type"] == "span":
                spans.append(record)
            assert record["type"] != "problem", record
    spans.sort(key=lambda span: span["call_id"])
    went = [(libraries[span["fields"]["library"]], span["name"]) for span in spans
            if not span["inner"]]
    assert went == [(os.path.realpath(words[0]), words[1]) for words in printed
                    if words[0] != "version"], went
    # What a library calls itself, through the linker, must not end in another one.
    for span in spans:
        assert not span["inner"] or span["fields"]["library"] == span["caller_library"], span
    # The groups overlap, but none is within another.
    starts = [span for span in spans if span["name"] == "ncclGroupStart"]
    ends = [span for span in spans if span["name"] == "ncclGroupEnd"]
    assert all(span["fields"]["group_depth"] == 0 for span in starts), starts
    assert all(span["fields"]["group_depth"] == 1 for span in ends), ends
    assert all(span["fields"]["group_outcome"] == "launched" for span in ends), ends
    assert len({span["group_id"] for span in ends}) == len(paths), ends


if sys.argv[1] == "--check":
    check(sys.argv[2], sys.argv[3], sys.argv[4:])
else:
    run(sys.argv[1:])
