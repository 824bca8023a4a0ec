#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tables of an export with the JSON lines of the same trace.

usage: tables.py JSONL FOLDER [JSONL FOLDER]...

Both are read without knowing how either is made: each span, each end of a link, each process,
communicator, connection and counter of the one must be a row of the other, with the same values.
The export is CSV or JSON lines.
"""
import csv
import json
import sys
from collections import Counter
from pathlib import Path

SPANS = ("call", "kernel", "message", "request", "proxy")
ALONE = {"gpu": "g", "proxy-op": "p", "proxy-ctrl": "c"}
LETTERS = {"send": "s", "receive": "r", "refused": "f", "net-send": "s", "net-receive": "r"}


def read_tables(folder):
    """The rows of each table, with their hosts; numbers are numbers, nothing is None."""
    types = {}
    with open(folder / "columns.csv", newline="") as file:
        for row in csv.DictReader(file):
            types.setdefault(row["table"], {})[row["column"]] = row["type"]
    tables = {}
    for table, columns in types.items():
        rows = tables[table] = []
        for path in sorted((folder / table).glob("host=*/part-0.*")):
            host = path.parent.name.removeprefix("host=")
            with open(path, newline="") as file:
                if path.suffix == ".jsonl":
                    read = [json.loads(line) for line in file]
                else:
                    read = [{name: convert(types[table][name], value)
                             for name, value in row.items()} for row in csv.DictReader(file)]
            for row in read:
                assert list(row) == list(columns), f"{path}: {list(row)}"
                rows.append(dict(row, host=host))
    return tables


def convert(kind, text):
    if text == "":
        return None
    return {"BIGINT": int, "VARCHAR": str, "BOOLEAN": {"true": True, "false": False}.get}[kind](text)


def signed(key):
    """A key of 64 bits as the tables have it."""
    if key is None:
        return None
    number = int(key, 16)
    return number - (1 << 64) if number >> 63 else number


def id_of(process, kind, queue, generation, number, is_shared):
    if kind == "call":
        return f"{process}.{number}"
    if kind in ALONE:
        return f"{process}.{ALONE[kind]}{number}"
    if kind.startswith("net-"):
        return f"{process}.n{queue}.{LETTERS[kind]}{number}"
    return f"{process}.{'srq' if is_shared else 'q'}{queue}.{generation or 0}.{LETTERS[kind]}{number}"


def span_id(table, row):
    if table == "call":
        return f"{row['process']}.{(row['call_id'] or 0) % (1 << 64)}"
    if table == "kernel":
        return f"{row['process']}.g{row['number']}"
    if table == "proxy":
        return id_of(row["process"], row["kind"], None, None, row["number"], False)
    if table == "message":
        return id_of(row["process"], row["kind"], row["net_id"], None, row["number"], False)
    return None  # of a request, what the completion says of the queue may differ


def spans_of_tables(tables):
    for table in SPANS:
        for row in tables[table]:
            yield (span_id(table, row), row["process"], row["host"], row["begin_ns"], row["end_ns"],
                   row["state"], row.get("comm_key"), row.get("op_number"),
                   row.get("op_kind"), row["tid"] if "tid" in row else None)


def spans_of_lines(lines):
    for line in lines:
        if line["type"] != "span":
            continue
        is_request = line["layer"] == "verbs" and line["call_id"] is None
        yield (None if is_request else line["id"], line["process"], line["host"], line["begin_ns"],
               line["end_ns"], line["state"], signed(line["comm_key"]), line["op_number"],
               line.get("op_kind"), line["tid"])


def ends_of_tables(tables):
    """The ends of all links, but for halves, which the lines do not have."""
    for row in tables["link"]:
        if not row["is_half"]:
            yield (row["kind"], row["known"], row["why"], row["begin_ns"],
                   row["end_ns"], row["op_number"],
                   id_of(row["process"], row["span_kind"], row["queue"], row["generation"],
                         row["number"], row["is_shared_queue"]))
    for row in tables["operation"]:
        if row["ranks_here"] > 1:
            kind = "collective-ranks" if row["op_kind"] == "collective" else "send-recv"
            yield (kind, row["known"], None, None, None, row["op_number"],
                   f"{row['process']}.{row['call_id']}")


def ends_of_lines(lines):
    for line in lines:
        if line["type"] == "link":
            for span in line["spans"]:
                yield (line["kind"], line["known"], line.get("why"), line.get("begin_ns"),
                       line.get("end_ns"), line.get("op_number"), span)


def others_of_tables(tables):
    for row in tables["process"]:
        yield ("process", row["process"], row["host"], row["pid"], row["world_size"],
               row["command"], row["end_ns"], row["last_seen_ns"], row["open_calls"])
    for row in tables["communicator"]:
        if row["phase"] is not None:
            yield "communicator", row["process"], row["host"], row["comm_id"], row["phase"]
    for row in tables["connection"]:
        yield ("connection", row["process"], row["net_id"], row["transport"], row["peer_process"],
               row["channel"], row["known"], row["messages"])
    for row in tables["sample"]:
        yield ("sample", row["process"], row["time_ns"], row["source"], row["subject"],
               row["counter"], row["value"], row["growth"])
    for row in tables["loss"]:
        # The lines do not say that of a flight recorder.
        if row["stream"] is None and row["value"] and row["counter"] != "flight_recorder":
            yield "loss", row["counter"], row["value"]


def others_of_lines(lines):
    members = {}
    for line in lines:
        kind = line["type"]
        if kind == "process" and "end" in line:
            yield (kind, line["process"], line["host"], line["pid"], line["world_size"],
                   line["command"] or None, line["end"]["end_ns"], line["end"]["last_seen_ns"],
                   line["end"]["open_calls"])
        elif kind == "communicator":
            members[line["process"], line["host"], line["comm_id"]] = line.get("phase")
        elif kind == "connection":
            yield (kind, line["process"], line["net_id"], line["transport"], line["peer_process"],
                   line["channel"], line["known"], line["messages"])
        elif kind == "sample":
            for counter in line["counters"] or [dict(name=None, value=None, growth=None)]:
                yield (kind, line["process"], line["time_ns"], line["source"],
                       line["subject"] or None, counter["name"], counter["value"],
                       counter["growth"])
        elif kind == "trace":
            for name, value in line["loss"].items():
                if value:
                    yield "loss", name, value
    for (process, host, number), phase in members.items():
        if phase is not None:
            yield "communicator", process, host, number, str(phase)


def compare(what, rows, lines):
    rows, lines = Counter(rows), Counter(lines)
    for name, left in (("only in the tables", rows - lines), ("only in the lines", lines - rows)):
        for one in list(left)[:5]:
            print(f"{what}: {name}: {one}")
    return rows == lines


def main():
    is_alike, count = True, 0
    for jsonl, folder in zip(sys.argv[1::2], sys.argv[2::2]):
        tables = read_tables(Path(folder))
        with open(jsonl) as file:
            lines = [json.loads(line) for line in file]
        spans = list(spans_of_tables(tables))
        count += len(spans)
        is_alike &= compare(jsonl, spans, spans_of_lines(lines))
        is_alike &= compare(jsonl, ends_of_tables(tables), ends_of_lines(lines))
        is_alike &= compare(jsonl, others_of_tables(tables), others_of_lines(lines))
    print(f"{len(sys.argv) // 2} traces, {count} spans")
    return 0 if is_alike and count else 1


if __name__ == "__main__":
    sys.exit(main())
