# SPDX-License-Identifier: MIT
"""Reads a derived trace with babeltrace2's text, whose fields are all flat.

As a program, says whether a trace tells what jsonl tells of the same recording.

usage: derived.py FOLDER JSONL
"""

import collections
import heapq
import json
import os
import re
import subprocess
import sys

LINE = re.compile(r"\[(-?\d+)\.(\d{9})\] (?:(\S+) )?ccltap:(\w+): "
                  r"\{ vpid = (-?\d+), vtid = (-?\d+) \}, \{ (.*) \}$", re.DOTALL)
FIELD = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|(0x[0-9A-F]+|-?\d+))(?:, |$)', re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unescape(text):
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text,
                  flags=re.DOTALL)


def read_trace(folder, host):
    text = subprocess.run(["babeltrace2", "--no-delta", "--clock-seconds", folder],
                          stdout=subprocess.PIPE, check=True).stdout
    for line in text.decode(errors="replace").splitlines():
        seconds, ns, named, name, vpid, vtid, rest = LINE.match(line).groups()
        event = {"event": name, "host": named or host,
                 "time": int(seconds) * 10**9 + int(ns), "vpid": int(vpid), "vtid": int(vtid)}
        at = 0
        while at < len(rest):
            found = FIELD.match(rest, at)
            at = found.end()
            event[found[1]] = unescape(found[2]) if found[3] is None else int(found[3], 0)
        yield event


def read(folder):
    """The events in order: dictionaries with the fields, and event, host, time, vpid, vtid."""
    traces = [read_trace(os.path.join(folder, name), name)
              for name in sorted(os.listdir(folder))]
    return heapq.merge(*traces, key=lambda event: event["time"])


def or_none(value, none):
    return None if value == none else value


def span_id(event, name="call_id"):
    if name == "call_id" and event["work"] != "-":
        return event["work"]
    return f"{event['process']}.{event[name]}" if event[name] else None


def row_of(event):
    """The row that jsonl names: there connections and queues have one each."""
    if event["row"].startswith(("calls ", "progress ")):
        return event["row"].replace("calls", "thread").replace("progress", "thread")
    if event["row"].startswith("gpu "):
        return event["row"]
    lane = event["lane"].replace("ProxyOps ", "").rpartition(" ")[0]
    return f"{event['row'].split()[0]} {lane}"


# What is not known where the value is this; "work" has no call.
NONE = {"nccl_event": "-", "caller": "-", "known_by": "-", "comm_id": 0, "comm_key": "-",
        "comm_rank": -1, "op_number": 0, "op_key": "-", "group_id": 0}
# What the derived trace may know where jsonl does not: it waits, and links tell it.
BY_LINKS = ("comm_key", "comm_rank", "op_number", "op_key")


def span_of(begin, end):
    """What jsonl has of a span, as far as the two events tell."""
    event = {**(begin or {}), **end}
    span = {"id": span_id(event), "name": event["name"], "process": event["process"],
            "host": event["host"], "pid": or_none(event["vpid"], -1),
            "tid": or_none(event["vtid"], -1), "row": row_of(event),
            "begin_ns": None if event["state"] == "begin-lost" else event["begin_ns"]}
    if event["end_known"] != "at-most":
        span["end_ns"] = event["end_ns"] if event["end_known"] == "exact" else None
        span["state"] = event["state"]
    if begin:
        span["layer"] = begin["layer"]
    for name, none in NONE.items():
        if name in event:
            span[name] = or_none(event[name], none)
    if begin and "parent_id" in begin:
        span["parent"] = span_id(event, "parent_id")
        span["inner"] = bool(event["inner"])
    return span


def same_span(span, record):
    for name, value in span.items():
        there = record.get(name)
        assert value == there or (name in BY_LINKS and there is None), f"{name}: expected: {there}\nthere: {span}"


def same_result(told, record):
    result = record["result"]
    if result is None:
        return told == "-"
    if isinstance(result, list):
        return told.startswith("[")
    return told in (str(result), f"{result}")


def open_bytes(event):
    """What a call adds to the bytes that are open; what runs on a GPU adds nothing."""
    is_late = event["layer"] == "gpu" or event["name"] == "ProxyOp"
    return 0 if is_late else max(event["bytes"], 0)


def is_at(event, time_ns):
    """A work request is known when its post has returned, and its completion, too; so is
    what was put on a stream.  What ran on a GPU may be known later yet."""
    if event["work"] != "-" or event.get("lane", "").startswith("launches "):
        return event["time"] >= time_ns
    return event["time"] == time_ns


class Reading:
    """What the events say, checked for what holds in every trace."""

    def __init__(self):
        self.ends = collections.defaultdict(list)  # (begin, end) by host and id
        self.links = collections.defaultdict(list)
        self.begun = {}
        self.stacks = collections.defaultdict(list)
        self.counted = collections.Counter()
        self.open = {}
        self.times = {}

    def take(self, event):
        host = event["host"]
        assert event["time"] >= self.times.get(host, event["time"]), event
        self.times[host] = event["time"]
        if event["event"] == "link":
            self.links[event["link"]].append(event)
            return
        assert event["event"] in ("begin", "end", "wire_begin", "wire_end"), event
        is_wire = event["event"].startswith("wire_")
        count = host, event["who"], is_wire
        if event["event"].endswith("begin"):
            self.begin(event, count)
        else:
            self.end(event, count)
        if not is_wire:
            assert event["open_bytes"] == self.counted[count], event
        self.open[count] = event["open_bytes"]

    def begin(self, event, count):
        place = event["host"], event["who"], event["row"], event["lane"]
        # Calls that are told twice are damage, and end before they begin anew.
        assert span_id(event) not in self.begun, event
        self.begun[span_id(event)] = event
        assert event["label"] != "-", event
        stack = self.stacks[place]
        assert event["depth"] not in [e["depth"] for e in stack], event
        if stack:
            assert event["depth"] > max(e["depth"] for e in stack), event
        stack.append(event)
        self.counted[count] += open_bytes(event)

    def end(self, event, count):
        begin = self.begun.pop(span_id(event), None) if event["depth"] else None
        assert (begin is None) == (event["state"] == "begin-lost"), event
        if begin:
            for name in ("row", "lane", "depth", "name", "who", "kind_id"):
                assert begin[name] == event[name], (name, event)
            assert is_at(begin, event["begin_ns"]), event
            self.counted[count] -= open_bytes(begin)
            self.stacks[begin["host"], begin["who"], begin["row"], begin["lane"]].remove(begin)
        if event["end_ns"] != -1:
            assert is_at(event, event["end_ns"]), event
        self.ends[event["host"], span_id(event)].append((begin, event))


def compare(events, records):
    """Raises AssertionError where both do not tell the same."""
    reading = Reading()
    for event in events:
        reading.take(event)
    assert not reading.begun, reading.begun
    assert not any(reading.counted.values()), reading.counted
    assert not any(reading.open.values()), reading.open
    expected = collections.defaultdict(list)
    for record in records:
        if record["type"] == "span":
            expected[record["host"], record["id"]].append(record)
    # A trace may leave it to its process to name the host.
    for host in {h for h, _ in expected} - {h for h, _ in reading.ends}:
        for key in [key for key in reading.ends if key[0] == "trace"]:
            reading.ends[host, key[1]] = [
                tuple(e and {**e, "host": host} for e in pair) for pair in reading.ends.pop(key)]
    assert expected.keys() == reading.ends.keys(), expected.keys() ^ reading.ends.keys()
    for key, spans in expected.items():
        assert len(spans) == len(reading.ends[key]), (spans, reading.ends[key])
        for record, (begin, end) in zip(spans, reading.ends[key]):
            same_span(span_of(begin, end), record)
            if end["end_known"] == "at-most":
                # A message that came of it may prove earlier that it is over.
                assert end["time"] <= record.get("end_max_ns", end["time"]), (record, end)
                continue
            assert "end_max_ns" not in record, (record, end)
            assert same_result(end["result"], record), (end["result"], record)
    compare_links(reading.links, records)


def compare_links(links, records):
    # The span of a work request is the link from its post to its completion.
    told = [r for r in records if r["type"] == "link" and r["kind"] != "post-completion"]
    assert len(told) == len(links), (len(told), len(links))
    for record, number in zip(told, sorted(links)):
        parts = sorted(links[number], key=lambda event: event["part"])
        assert [e["part"] for e in parts] == list(range(1, parts[0]["parts"] + 1)), parts
        assert [span_id(e) for e in parts] == record["spans"], (record, parts)
        if record["kind"] in ("collective-ranks", "send-recv"):
            assert [or_none(e["comm_rank"], -1) for e in parts] == record["ranks"], record
        for event in parts:
            assert (event["kind"], event["known"], or_none(event["name"], "-"),
                    or_none(event["comm_key"], "-"), event["op_number"]) == (
                record["kind"], record["known"], record["name"], record.get("comm_key"),
                record.get("op_number", 0)), (record, event)
            assert or_none(event["op_key"], "-") == record.get("op_key"), (record, event)
            assert bool(event["mismatch"]) == record.get("mismatch", False), record


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    compare(read(sys.argv[1]), records)


if __name__ == "__main__":
    main()
