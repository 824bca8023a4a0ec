#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ccltap tells of the messages that the NCCL double sent, against what it wrote down.

usage: messages.py TRACE TRUTH...

Each TRUTH is what MININCCL_TRUTH names, of a run in the trace, and may have a file shape with
the numbers of its ranks and channels.

Each line of the truth (tests/doubles/nccl/README) is in the trace once, at its end, with its
size, posted and done when it says; receives of one group share a message of the trace.
Nothing else is there of these processes.  CCLTAP is the ccltap command.  Prints a line, and
what is wrong."""
import bisect
import collections
import glob
import itertools
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../lib"))
import nccl_wire  # pylint: disable=wrong-import-position

SHOWN = 5
wrong = []
taken = {}  # by end of a connection, the line that has it


def read(folder):
    """The lines of each end of a connection, in order."""
    ends = collections.defaultdict(list)
    for path in glob.glob(folder + "/truth.*.jsonl"):
        with open(path, encoding="utf-8") as file:
            for line in map(json.loads, file):
                if line["record"] != "message":
                    continue
                ends[line["comm_hash"], line["rank"], line["peer"], line["channel"],
                     line["index"], line["direction"]].append(line)
    for lines in ends.values():
        lines.sort(key=lambda line: line["message"])
    return ends


def shared(sent, received):
    """Those that share a message: what is posted at once, and what is sent for that."""
    sent = iter(sent)
    for _, group in itertools.groupby(received, lambda line: line["posted_ns"]):
        group = list(group)
        yield list(itertools.islice(sent, len(group))), group


def told_of(trace, end, lines):
    """The end of a connection in the trace that has these queues in this process, by number.

    Two adapters have equal numbers: of several it is the one that was posted just after each
    of the lines."""
    queues = {number for line in lines for number in line["qps"]}
    first = lines[0]
    found = [(waited, messages) for messages in trace.messages[end].values()
             if messages[0].pid == first["pid"]
             and trace.queues[messages[0].key + (end,)] == queues
             and (waited := from_post_to_begin(messages, lines)) is not None]
    if not found:
        wrong.append(f"{first}: no end of a connection has its queues and times")
        return {}
    messages = min(found, key=lambda one: one[0])[1]
    key = end, messages[0].key
    if key in taken:
        wrong.append(f"{first} has the messages that {taken[key]} has")
    taken[key] = first
    return {message.number: message for message in messages}


def from_post_to_begin(messages, lines):
    """How long after the lines the messages began, in all; nothing if one does not lie in a
    line."""
    posted = [line["posted_ns"] for line in lines]
    waited = 0
    for message in messages:
        place = bisect.bisect(posted, message.begin) - 1
        if place < 0 or message.begin > lines[place]["done_ns"]:
            return None
        waited += message.begin - posted[place]
    return waited / len(messages)


def main():
    path, *folders = sys.argv[1:]
    trace = nccl_wire.Trace(path)
    for folder in folders:
        score(trace, folder)
    sys.exit(bool(wrong))


def has_shape(folder, ends):
    if not os.path.exists(folder + "/shape"):
        return bool(ends)
    with open(folder + "/shape", encoding="ascii") as file:
        ranks, channels = map(int, file.read().split())
    return {end[1] for end in ends} == set(range(ranks)) \
        and {end[3] for end in ends if end[4] == 0} == set(range(channels))


def score(trace, folder):
    wrong_before = len(wrong)
    ends = read(folder)
    pids = {lines[0]["pid"] for lines in ends.values()}
    named = first_end(trace, pids)
    if not has_shape(folder, ends):
        wrong.append(f"the truth is of {sorted(ends)}")
    known = collections.Counter()
    lines = told = 0
    for end, sent in ends.items():
        if end[5] == "recv":
            continue
        received = ends[end[0], end[2], end[1], end[3], end[4], "recv"]
        sends = told_of(trace, "send", sent)
        receives = told_of(trace, "recv", received)
        told += len(sends) + len(receives)
        lines += len(sent) + len(received)
        if [line["bytes"] for line in sent] != [line["bytes"] for line in received]:
            wrong.append(f"{end}: the truth has other sizes where they are received")
        for number, groups in enumerate(shared(sent, received), 1):
            messages = sends.get(number), receives.get(number)
            if None in messages:
                wrong.append(f"{end}: message {number} is missing")
                continue
            what = f"{end} {number}: "
            for group, message in zip(groups, messages):
                if not all(line["posted_ns"] <= message.begin
                           and (message.end or 0) <= line["done_ns"] for line in group):
                    wrong.append(f"{what}{message} is not {group}")
            sizes = [line["bytes"] for line in groups[1]]
            wrong.extend(what + fault for fault in nccl_wire.faults(
                trace, *messages, sizes, "exact", named=named))
            known.update(link["known"] for link in trace.links[messages[1].id])
    all_told = sum(len(messages) for end in trace.messages.values()
                   for messages in end.values() if messages[0].pid in pids)
    if all_told != told:
        wrong.append(f"{all_told} ends of messages are told, of which {told} were sent")
    for post in trace.posted.values():
        if trace.pids[post.process] in pids and not post.role \
                and (post.end is None or post.end > named):
            wrong.append(f"{post} has no name")
    failed = len(wrong) - wrong_before
    print(f"{os.path.basename(folder)}: {lines} lines of {len(ends)} ends, {told} ends of "
          + "messages, " + ", ".join(f"{count} {how}" for how, count in known.items())
          + (f"; WRONG: {failed}" if failed else ""))
    print(*wrong[wrong_before:wrong_before + SHOWN], sep="\n", end="\n" if failed else "")


def first_end(trace, pids):
    """Until when a connection may have no name: its first message was not posted."""
    return max((link["end_ns"] - trace.offset for messages in trace.messages["recv"].values()
                if messages[0].pid in pids for link in trace.links[messages[0].id]), default=0)


main()
