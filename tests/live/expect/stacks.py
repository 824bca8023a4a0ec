# SPDX-License-Identifier: MIT
"""Compares the stacks of a timeline with those that libunwind found.

stacks.py walked JSONL ORACLE DEPTH: each stack is the oracle's, up to DEPTH
stacks.py lost JSONL: the calls from where nobody can tell end there, and say so
stacks.py names JSONL CALL NAME...: a call has a stack with these functions, in order
stacks.py through JSONL CALL MODULE...: a call's stack goes through these files, in order
stacks.py all JSONL PROCESSES: every call of so many or more has a stack
stacks.py inner JSONL: no inner call has one
stacks.py many JSONL KEPT: so many of its calls have a stack, each another
stacks.py none JSONL: no call has one
"""
import json
import os
import sys


def spans(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "span" and not record["inner"]:
                yield record


def frames(span):
    """Each frame once, without what was inlined there."""
    return [f"{os.path.basename(f['module'])}+{f['offset']}" if f["module"] else None
            for f in span["stack"] if not f["inlined"]]


def walked(path, oracle, depth):
    depth = int(depth)
    with open(oracle, encoding="utf-8") as file:
        expected = [line.split() for line in file]
    calls = [s for s in spans(path) if s["name"] == "ncclGetVersion"]
    assert len(calls) == len(expected) > 10, (len(calls), len(expected))
    for call, stack in zip(calls, expected):
        assert frames(call) == stack[:depth], f"{frames(call)}\n{stack}"
        assert (call["stack_end"] == "depth") == (len(stack) > depth or
                                                  len(stack) == 64), call
    # What begins a stack of the program's own making is in no table of the C library.
    assert sum(c["stack_end"] == "lost" for c in calls) == (depth > 1)
    assert any(c["stack_end"] == "depth" for c in calls)
    assert any(c["stack_end"] == "start" for c in calls) or depth < 8


def lost(path):
    calls = [s for s in spans(path) if s["name"] == "ncclGroupStart"]
    assert len(calls) == 5, len(calls)
    assert all(c["stack_end"] == "lost" for c in calls), [c["stack_end"] for c in calls]
    made, *damaged = calls
    assert len(frames(made)) == 2 and frames(made)[1] is None, frames(made)
    for call in damaged:
        names = [f["function"] for f in call["stack"]]
        assert names == ["lost", "call_with_frame"], names


def names(path, name, *expected):
    for call in spans(path):
        if call["name"] != name or not call["stack"]:
            continue
        left = list(expected)
        for frame in call["stack"]:
            function, _, line = left[0].partition(":") if left else ("", "", "")
            if frame["function"] == function and (not line or frame["line"]):
                left.pop(0)
        if not left:
            return
    raise AssertionError(f"no {name} has {expected}")


def through(path, name, *expected):
    for call in spans(path):
        left = list(expected)
        for frame in frames(call) if call["name"] == name else ():
            if left and frame and frame.startswith(left[0]):
                left.pop(0)
        if not left:
            return
    raise AssertionError(f"no {name} goes through {expected}")


def every(path, processes):
    calls = list(spans(path))
    assert len({call["process"] for call in calls}) >= int(processes)
    assert all(call["stack"] for call in calls), [c["id"] for c in calls if not c["stack"]]


def inner(path):
    with open(path, encoding="utf-8") as file:
        calls = [record for record in map(json.loads, file) if record.get("inner")]
    assert calls and all(call["stack"] is None for call in calls)


def many(path, kept):
    """The first ones have a stack each, and nothing later is taken for one of them."""
    calls = list(spans(path))
    # A constructor makes one, too.
    assert len(calls) == 8193, len(calls)
    stacks = [tuple(frames(call)) for call in calls if call["stack"]]
    assert len(stacks) == len(set(stacks)) == int(kept), (len(stacks), len(set(stacks)))
    assert all(call["stack"] for call in calls[:int(kept)])


def none(path):
    assert all(s["stack"] is None for s in spans(path))


{"walked": walked, "lost": lost, "names": names, "through": through, "many": many,
 "all": every, "inner": inner, "none": none}[sys.argv[1]](*sys.argv[2:])
