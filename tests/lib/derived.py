# SPDX-License-Identifier: MIT
"""Reads a derived trace with babeltrace2's text, whose fields are all flat.

As a program, says whether a trace tells what jsonl tells of the same recording.

usage: derived.py FOLDER JSONL
"""

import collections
import json
import re
import subprocess
import sys

LINE = re.compile(r"\[(-?\d+)\.(\d{9})\] (?:\S+ )?ccltap:(\w+): "
                  r"\{ vpid = (-?\d+), vtid = (-?\d+) \}, \{ (.*) \}$", re.DOTALL)
FIELD = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|(0x[0-9A-F]+|-?\d+))(?:, |$)', re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unescape(text):
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text,
                  flags=re.DOTALL)


def read(folder):
    """The events in order: dictionaries with the fields, and event, time, vpid, vtid."""
    text = subprocess.run(["babeltrace2", "--no-delta", "--clock-seconds", folder],
                          stdout=subprocess.PIPE, check=True).stdout
    for line in text.decode(errors="replace").splitlines():
        seconds, ns, name, vpid, vtid, rest = LINE.match(line).groups()
        event = {"event": name, "time": int(seconds) * 10**9 + int(ns),
                 "vpid": int(vpid), "vtid": int(vtid)}
        at = 0
        while at < len(rest):
            found = FIELD.match(rest, at)
            at = found.end()
            event[found[1]] = unescape(found[2]) if found[3] is None else int(found[3], 0)
        yield event


def or_none(value, none):
    return None if value == none else value


def span_id(event, name="call_id"):
    if name == "call_id" and event["work"] != "-":
        return event["work"]
    return f"{event['process']}.{event[name]}" if event[name] else None


def span_of(end):
    """What jsonl has of a span."""
    return {"id": span_id(end), "parent": span_id(end, "parent_id"),
            "layer": end["layer"], "name": end["name"], "nccl_event": or_none(end["nccl_event"], "-"),
            "process": end["process"],
            "host": end["host"], "pid": or_none(end["vpid"], -1),
            "tid": or_none(end["vtid"], -1), "row": end["row"],
            "begin_ns": None if end["state"] == "begin-lost" else end["begin_ns"],
            "end_ns": end["end_ns"] if end["end_known"] == "exact" else None,
            "state": end["state"], "caller": or_none(end["caller"], "-"),
            "inner": bool(end["inner"]), "known_by": or_none(end["known_by"], "-"),
            "call_id": or_none(end["call_id"], 0 if end["work"] != "-" else None),
            "comm_id": or_none(end["comm_id"], 0),
            "comm_key": or_none(end["comm_key"], "-"), "comm_rank": or_none(end["comm_rank"], -1),
            "op_number": or_none(end["op_number"], 0), "op_key": or_none(end["op_key"], "-"),
            "group_id": or_none(end["group_id"], 0)}


def same_result(told, record):
    result = record["result"]
    if result is None:
        return told == "-"
    if isinstance(result, list):
        return told.startswith("[")
    return told in (str(result), f"{result}")


def counter(event):
    return "bytes in flight" if event["work"] != "-" else "bytes in calls"


def counted_bytes(event):
    """What runs on a GPU is counted by nobody: it is told when it is over."""
    return 0 if event["layer"] == "gpu" else max(event["bytes"], 0)


def is_at(event, time_ns):
    """A work request is known when its post has returned, and its completion, too; so is
    what was put on a stream.  What ran on a GPU may be known later yet."""
    if event["work"] != "-" or event["layer"] == "cuda":
        return event["time"] >= time_ns
    return event["time"] == time_ns


def is_late(span):
    """Whether the reader learns of it when it is long over."""
    return span["layer"] == "gpu" or span["name"] == "ProxyOp"


def in_order(spans, name):
    """Those that are known late last, by their names."""
    return ([span for span in spans if not is_late(span)] +
            sorted((span for span in spans if is_late(span)), key=name))


def compare(events, records):
    """Raises AssertionError where both do not tell the same."""
    expected = collections.defaultdict(list)
    for record in records:
        if record["type"] == "span":
            expected[record["host"]].append(record)
    ends = collections.defaultdict(list)
    links = collections.defaultdict(list)
    begun, stacks, counted = {}, collections.defaultdict(list), collections.Counter()
    times = {}
    for event in events:
        host = event["host"]
        assert event["time"] >= times.get(host, event["time"]), event
        times[host] = event["time"]
        place = host, event["who"], event.get("row"), event.get("lane")
        if event["event"] == "begin":
            # Calls that are told twice are damage, and end before they begin anew.
            assert span_id(event) not in begun, event
            begun[span_id(event)] = event
            assert event["depth"] not in [e["depth"] for e in stacks[place]], event
            if stacks[place]:
                assert event["depth"] > max(e["depth"] for e in stacks[place]), event
            stacks[place].append(event)
            counted[event["who"], host, counter(event)] += counted_bytes(event)
        elif event["event"] == "end":
            ends[host].append(event)
            begin = begun.pop(span_id(event), None) if event["depth"] else None
            assert (begin is None) == (event["state"] == "begin-lost"), event
            if begin:
                for name in ("row", "lane", "depth", "name", "who", "parent_id", "kind"):
                    assert begin[name] == event[name], (name, event)
                assert is_at(begin, event["begin_ns"]), event
                counted[event["who"], host, counter(event)] -= counted_bytes(begin)
                stacks[place].remove(begin)
            if event["end_ns"] != -1:
                assert is_at(event, event["end_ns"]), event
        elif event["event"] == "counter":
            assert event["value"] == counted[event["who"], host, event["name"]], event
        elif event["event"] == "link":
            links[event["link"]].append(event)
        else:
            raise AssertionError(event)
    assert not begun, begun
    assert not any(counted.values()), counted
    for host in expected.keys() | ends.keys():
        assert len(expected[host]) == len(ends[host]), (host, len(ends[host]))
        # What ran on a GPU is here in its place, and there when it was known.
        for record, end in zip(in_order(expected[host], lambda record: record["id"]),
                               in_order(ends[host], span_id)):
            span = span_of(end)
            there = {name: record.get(name) for name in span}
            assert span == there, f"expected: {there}\nthere: {span}"
            # Where only a bound is known, the event stands there.
            assert ("end_max_ns" in record) == (end["end_known"] == "at-most"), record
            assert end["time"] >= record.get("end_max_ns", end["time"]), (record, end)
            assert same_result(end["result"], record), (end["result"], record)
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
