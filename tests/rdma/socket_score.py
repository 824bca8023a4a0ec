#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scores what ccltap tells of NET/Socket's messages against what nib logged by itself.

usage: socket_score.py [--inferred LEAST] TRACE FOLDER...

Each FOLDER has the logs of one setting; all are in TRACE.  CCLTAP is the ccltap command.  A
line per setting says how much of it is right, others what is not: each message is one span at
either end, in the order and of the size that both logs say, complete, inside of the times that
nib knows; one exact link joins the two; nothing of the trace is left over; and the bytes that
passed the sockets are those of the messages with their headers and handshakes.  --inferred:
nothing is decoded, so that of a connection the first messages are told, or all, their links are
inferred, and at least so many percent of all messages are right.  Ends with 1 when anything is
wrong."""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import nib_log  # pylint: disable=wrong-import-position
from nccl_wire import Trace as Wire  # pylint: disable=wrong-import-position

SHOWN = 5
HEADER, HANDSHAKE = 4, 13

Message = collections.namedtuple("Message", "id number bytes parts begin end is_whole")


class Trace:
    """Messages by process and end, links by their ends, and the bytes of each process."""

    def __init__(self, path):
        said = subprocess.run(["babeltrace2", "--output-format=ctf-metadata",
                               os.path.dirname(Wire.metadata(path))],
                              check=True, capture_output=True, text=True)
        offset = int(re.search(r"\n\s*offset = (\d+);", said.stdout)[1])
        self.messages = collections.defaultdict(list)
        self.links = collections.Counter()
        self.known = collections.Counter()
        read = subprocess.run([os.environ.get("CCLTAP", "ccltap"), "timeline", "--format",
                               "jsonl", path], check=True, capture_output=True, text=True)
        for line in read.stdout.splitlines():
            if '"layer":"net"' in line:
                span = json.loads(line)
                fields = span["fields"]
                self.messages[span["pid"], span["name"][4:]].append(Message(
                    span["id"], fields["request"], fields.get("bytes"), fields.get("parts"),
                    span["begin_ns"] - offset, (span["end_ns"] or 0) - offset,
                    span["state"] == "complete" and span["result"] == "SUCCESS"))
            elif '"kind":"socket-message"' in line:
                link = json.loads(line)
                self.links[tuple(link["spans"])] += 1
                self.known[link["known"]] += 1
        self.moved = collections.Counter()
        self.closed = collections.Counter()
        self.undecoded = []
        self.read_events(path)

    def read_events(self, path):
        events = subprocess.run(["babeltrace2", path], check=True, capture_output=True, text=True)
        for line in events.stdout.splitlines():
            found = re.search(r" net:(\w+):.* vpid = (\d+),", line)
            if not found:
                continue
            event, pid = found[1], int(found[2])
            if event in ("send", "recv"):
                self.moved[pid, event] += int(re.search(r" bytes = (\d+)", line)[1])
            elif event == "close":
                self.closed[pid, "send"] += int(re.search(r" sent_bytes = (\d+)", line)[1])
                self.closed[pid, "recv"] += int(re.search(r" received_bytes = (\d+)", line)[1])
            elif event == "undecoded":
                self.undecoded.append(line)


class Setting:
    """One setting, against the trace."""

    def __init__(self, folder, trace, is_inferred):
        self.folder, self.trace, self.is_inferred = folder, trace, is_inferred
        self.wrong = 0
        self.right = self.messages = 0
        self.lines = nib_log.read(folder)
        self.pids = []
        for rank in "01":
            with open(os.path.join(folder, "log." + rank), encoding="ascii") as log:
                self.pids.append(int(re.search(r" process (\d+)$", log.readline())[1]))
        with open(os.path.join(folder, "sockets"), encoding="ascii") as file:
            self.sockets = int(file.read())

    def expect(self, what, good):
        if not good:
            self.wrong += 1
            if self.wrong <= SHOWN:
                print(f"{self.folder}: {what}")
        return good

    def score(self):
        for rank, connection in enumerate(("0>1", "1>0")):
            ends = [nib_log.of_end(self.lines, connection, end) for end in ("send", "recv")]
            pids = self.pids[rank], self.pids[1 - rank]
            told = [self.trace.messages[pid, end] for pid, end in zip(pids, ("send", "recv"))]
            self.look_at_bytes(connection, ends, pids)
            self.messages += len(ends[0])
            wanted = len(ends[0])
            if self.is_inferred and len(told[0]) < wanted:
                print(f"{self.folder}: {connection}: the first {len(told[0])} are told")
                wanted = len(told[0])
            self.expect(f"{connection}: {len(told[0])} and {len(told[1])} are told, and not "
                        f"{wanted}", wanted == len(told[0]) == len(told[1]))
            for number, both in enumerate(zip(*ends, *told), 1):
                self.right += self.look_at_message(f"{connection} {number}", number, *both)
        return self.wrong

    def look_at_message(self, what, number, sent, received, send, receive):
        good = self.expect(f"{what}: {send} and {receive}",
                           send.number == receive.number == number)
        good &= self.expect(f"{what}: size {send.bytes} and {receive.bytes}, and not {sent.size}",
                            send.bytes == receive.bytes == sent.size)
        good &= self.expect(f"{what}: incomplete", send.is_whole and receive.is_whole)
        good &= self.expect(f"{what}: times of the sender",
                            sent.tried <= send.begin <= send.end <= sent.done)
        good &= self.expect(f"{what}: times of the receiver",
                            received.tried <= receive.begin <= receive.end <= received.done)
        good &= self.expect(f"{what}: links", self.trace.links[send.id, receive.id] == 1)
        return good

    def look_at_bytes(self, connection, ends, pids):
        payload = sum(line.size for line in ends[0])
        wanted = payload + HEADER * len(ends[0]) + HANDSHAKE * self.sockets
        for pid, end in zip(pids, ("send", "recv")):
            for told, how in ((self.trace.moved, "moved"), (self.trace.closed, "closed")):
                self.expect(f"{connection}: {how}: {told[pid, end]} bytes at the {end}, and not "
                            f"{wanted}", told[pid, end] == wanted)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("--inferred", type=float, metavar="LEAST")
    parser.add_argument("trace")
    parser.add_argument("folders", nargs="+")
    asked = parser.parse_args()
    trace = Trace(asked.trace)
    wrong = right = messages = 0
    for folder in asked.folders:
        setting = Setting(folder, trace, asked.inferred is not None)
        wrong += setting.score()
        right += setting.right
        messages += setting.messages
        print(f"{os.path.basename(folder)}: {setting.right} of {setting.messages} messages right"
              + (f"; WRONG: {setting.wrong}" if setting.wrong else ""))
    known = "exact" if asked.inferred is None else "inferred"
    links = right if asked.inferred is not None else messages
    if sum(trace.links.values()) != links or trace.known[known] != links:
        print(f"{dict(trace.known)} links, and not {links} {known}")
        wrong += 1
    if asked.inferred is not None:
        share = 100 * right / messages
        print(f"{right} of {messages} messages are inferred, {share:.1f} %")
        wrong += share < asked.inferred
    for line in trace.undecoded:
        print(line)
    sys.exit(bool(wrong or trace.undecoded))


if __name__ == "__main__":
    main()
