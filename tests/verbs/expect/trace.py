#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the events of verbs as babeltrace2 prints them, and says what they come to.

usage: babeltrace2 TRACE | trace.py

A line for each process that posted, as tests/verbs/programs/count.c says it, sorted; and a line
"bad ..." for each queue whose ordinals are not 1, 2, 3 and so on, each once.  With
--raced also how many requests and completions were in an event that says so."""
import re
import sys


def values(text):
    """The fields of an event; arrays as lists."""
    fields = {}
    for name, array in re.findall(r"(\w+) = \[ ((?:\[\d+\] = [^,\s]+(?:, )?)*) ?\]", text):
        fields[name] = re.findall(r"\] = ([^,\s]+)", array)
    rest = re.sub(r"(\w+) = \[ .*? \](?=,| )", "", text)
    for name, single in re.findall(r"(\w+) = (\"[^\"]*\"|[^,\s\[]+)", rest):
        fields[name] = single.strip('"')
    return fields


def number(text):
    return int(text, 0)


counts = {}
raced = 0
seen = {}


def expect(pid, what, seq, nr):
    seen.setdefault((pid,) + what, []).extend(range(seq, seq + nr))


for line in sys.stdin:
    match = re.search(r" verbs:(\w+): (.*)", line)
    if not match:
        continue
    name, text = match.groups()
    event = values(text)
    pid = event["vpid"]
    count = counts.setdefault(pid, dict.fromkeys(
        ("sent", "received", "failed", "completed", "polls"), 0))
    if re.fullmatch("post_(send|rdma|datagram)(_list)?", name):
        nr = number(event.get("num_wr", "1"))
        count["sent"] += nr
        raced += nr * number(event["concurrent"])
        expect(pid, ("send", event["qp_id"], event["generation"]), number(event["seq"]), nr)
    elif name in ("post_recv", "post_recv_list"):
        nr = number(event.get("num_wr", "1"))
        count["received"] += nr
        expect(pid, ("recv", event["qp_id"], event["srq_id"], event["generation"]),
               number(event["seq"]), nr)
    elif name == "post_failed":
        count["failed"] += 1
    elif name in ("poll", "poll_detailed", "poll_sent"):
        nr = number(event["num_wc"])
        count["completed"] += nr
        count["polls"] += 1
        raced += nr * number(event["concurrent"])
        expect(pid, ("poll", event["cq_id"]), number(event["first_seq"]) + 1, nr)
        if name == "poll_sent":
            expect(pid, ("completion", event["qp_id"], event["generation"], event["is_recv"]),
                   number(event["seq"]), nr)
            continue
        for i in range(nr):
            if number(event["seq"][i]):
                expect(pid, ("completion", event["qp_id"][i], event["generation"][i],
                             event["is_recv"][i]), number(event["seq"][i]), 1)

for line in sorted(" ".join(f"{name} {n}" for name, n in count.items())
                   for count in counts.values()):
    print(line)
for queue, seqs in seen.items():
    if sorted(seqs) != list(range(1, len(seqs) + 1)):
        print(f"bad {queue}: {len(seqs)} up to {max(seqs)}")
if "--raced" in sys.argv:
    print(f"raced {raced}")
