#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks whether what nib-settings left is whole, and what it should be.

usage: nib_log.py FOLDER...     each a setting's: DIR/SETTING
       nib_log.py --plan FOLDER...

Says nothing, or what is wrong: a message that an end lacks, times out of order, what was
posted (FOLDER/counted) other than what NCCL posts for these messages.  With --plan it
prints what does not depend on the moment: what was sent and how much was posted."""
import collections
import itertools
import os
import sys

Line = collections.namedtuple(
    "Line", "connection end ordinal group place of size tag "
    "tried called accepted done flush flushed")
wrong = 0


def expect(folder, what, good):
    global wrong
    if not good:
        print(f"{folder}: {what}")
        wrong += 1


def read(folder):
    """The lines of both ends."""
    lines = []
    for rank in "01":
        with open(os.path.join(folder, f"log.{rank}"), encoding="ascii") as log:
            for text in log:
                if not text.startswith("#"):
                    words = text.split()
                    lines.append(Line(*words[:2], *(0 if word == "-" else int(word)
                                                    for word in words[2:])))
    return lines


def of_end(lines, connection, end):
    return [line for line in lines if (line.connection, line.end) == (connection, end)]


def groups(lines):
    return [list(group) for _, group in itertools.groupby(lines, lambda line: line.group)]


def look_at_log(folder, lines):
    """What one end sent is what the other received, in an order that can be."""
    expect(folder, "connections", {line.connection for line in lines} == {"0>1", "1>0"})
    for connection in "0>1", "1>0":
        sent = of_end(lines, connection, "send")
        received = of_end(lines, connection, "recv")
        expect(folder, f"{connection}: ends", [line[2:8] for line in sent]
               == [line[2:8] for line in received])
        expect(folder, f"{connection}: ordinals",
               [line.ordinal for line in sent] == list(range(len(sent))))
        for line in sent + received:
            expect(folder, f"times of {line}",
                   0 < line.tried <= line.called <= line.accepted <= line.done)
            expect(folder, f"flush of {line}",
                   line.flush == line.flushed == 0
                   or line.end == "recv" and line.done <= line.flush <= line.flushed)
        for one, other in zip(groups(sent), groups(received)):
            expect(folder, f"{connection}: places in group {one[0].group}",
                   [(line.place, line.of) for line in one]
                   == [(i, len(one)) for i in range(len(one))])
            expect(folder, f"{connection}: group {one[0].group} before it was asked for",
                   other[0].called <= min(line.accepted for line in one)
                   and max(line.called for line in one) <= other[0].done)


def posted(setting, lines, rank):
    """How many requests and receives NCCL posts there."""
    def value(name):
        return int(next((word[len(name) + 1:] for word in setting
                         if word.startswith(name + "=")), 0))

    adapters = 2 if "--merge" in setting else 1
    queues = max(value("NCCL_IB_QPS_PER_CONNECTION"), 1) * adapters
    pieces = queues if value("NCCL_IB_SPLIT_DATA_ON_QPS") else adapters
    sent = 0
    for group in groups(of_end(lines, ("0>1", "1>0")[rank], "send")):
        if len(group) > 1:
            sent += pieces * (len(group) + 1)
        else:
            large = value("NCCL_IB_ADAPTIVE_ROUTING") and group[0].size > 8192
            sent += pieces * (2 if large else 1)
    receives = groups(of_end(lines, ("1>0", "0>1")[rank], "recv"))
    sent += len(receives)
    sent += adapters * sum(1 for group in receives if group[0].flush)
    received = pieces * len(receives)
    if value("NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS"):
        received += 256 * queues
    return sent, received


def look_at_posts(folder, lines):
    path = os.path.join(folder, "counted")
    if not os.path.exists(path):
        return
    with open(os.path.join(folder, "setting"), encoding="utf-8") as file:
        setting = file.read().split()
    with open(path, encoding="ascii") as file:
        counted = sorted((int(words[1]), int(words[3]))
                         for words in map(str.split, file))
    wanted = sorted(posted(setting, lines, rank) for rank in (0, 1))
    expect(folder, f"posted {counted}, and not {wanted}", counted == wanted)
    if "--flush" in setting:
        expect(folder, "flushes", all(
            any(line.size for line in group) == bool(group[0].flush)
            for connection in ("0>1", "1>0")
            for group in groups(of_end(lines, connection, "recv"))))


def print_plan(folder, lines):
    print(os.path.basename(folder))
    for line in lines:
        print(*line[:8], "flushed" if line.flush else "")
    with open(os.path.join(folder, "counted"), encoding="ascii") as file:
        print(*sorted(text.split(" completed")[0] for text in file), sep="\n")


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        if folder == "--plan" or os.path.exists(os.path.join(folder, "skipped")):
            continue
        if not os.path.exists(os.path.join(folder, "log.1")):
            expect(folder, "no log", False)
            continue
        lines = read(folder)
        if sys.argv[1] == "--plan":
            print_plan(folder, lines)
            continue
        look_at_log(folder, lines)
        look_at_posts(folder, lines)
    sys.exit(bool(wrong))
