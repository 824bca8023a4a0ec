#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scores what ccltap tells of NCCL's messages against what nib logged by itself.

usage: score.py [--trace TRACE] [--table FILE] FOLDER...

Each FOLDER is what nib-settings left of a setting: DIR/SETTING, with the trace of it; or
all are in TRACE, one after the other, and each has its time in it.  CCLTAP is the ccltap
command.  A line per setting says how much of it is right, others what is not:

  a receive of nib's is one message of the trace at either end, with its size and those of
  its requests, complete, with its CTS and what was posted for it, exact (decoded where
  receives are posted beforehand), posted and done when the log says, in this order;
  what was flushed has its flush, and nothing else has;
  nothing of the trace is left over: no message more, no request without a name;
  the bound on the sender's waiting is one.

Adds a line to FILE for each: release, setting, messages, right ones, how their links are
known, flushes found and done, bounds that hold and told, of these exactly none, what is wrong.
Ends with 1 when anything is."""
import argparse
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import nccl_wire  # pylint: disable=wrong-import-position
import nib_log  # pylint: disable=wrong-import-position

SHOWN = 5  # of what is wrong with a setting
FIRST_TRY_NS = 1000  # from before it to the call, when that took it

class Setting:
    """One setting, against the trace."""

    def __init__(self, folder, trace):
        self.folder = folder
        self.name = os.path.basename(folder)
        self.trace = trace
        self.wrong = collections.Counter()
        self.known = collections.Counter()
        self.messages = self.right = self.flushes = self.flushed = self.unnamed = 0
        self.bounds = self.held = self.sure = self.waited = self.whole = 0
        self.told = self.true = self.named = 0
        with open(os.path.join(folder, "setting"), encoding="utf-8") as file:
            words = file.read().split()
        self.release = words[1].strip(",")
        self.is_preposted = "NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS=1" in words
        self.adapters = 2 if "--merge" in words else 1
        self.lines = nib_log.read(folder)
        self.pids = []
        for rank in "01":
            with open(os.path.join(folder, "log." + rank), encoding="ascii") as log:
                self.pids.append(int(re.search(r" process (\d+)$", log.readline())[1]))
        self.begin = min(line.tried for line in self.lines)
        self.end = max(max(line.done, line.flushed) for line in self.lines)

    def expect(self, what, good):
        if not good:
            self.wrong[what.split(":")[0]] += 1
            if sum(self.wrong.values()) <= SHOWN:
                print(f"{self.folder}: {what}")
        return good

    def is_of_mine(self, time):
        return self.begin <= time <= self.end

    def score(self):
        logged = {connection: tuple(
            nib_log.groups(nib_log.of_end(self.lines, connection, end))
            for end in ("send", "recv")) for connection in ("0>1", "1>0")}
        self.messages = sum(len(received) for _, received in logged.values())
        pairs = [[(sent, self.trace.messages["recv"][sent[0].peer])
                  for sent in self.trace.messages["send"].values()
                  if sent[0].pid == pid and self.is_of_mine(sent[0].begin)]
                 for pid in self.pids]
        # Until what was posted for the first message of each was over.  How many parts that
        # has is seen with the second one where receives are posted beforehand.
        self.named = max((link["end_ns"] - self.trace.offset for pair in pairs
                          for _, received in pair
                          for message in received[:1 + self.is_preposted]
                          for link in self.trace.links[message.id]), default=0)
        for (connection, ends), pair in zip(logged.items(), pairs):
            if self.expect(f"connections: {connection}: {len(pair)}, and not 1",
                           len(pair) == 1):
                self.score_connection(connection, ends, pair[0])
        told = sum(1 for end in self.trace.messages.values() for messages in end.values()
                   for message in messages if self.is_of_mine(message.begin))
        self.expect(f"left over: {told} ends told, and not {2 * self.messages}",
                    told == 2 * self.messages)
        self.look_at_names()

    def look_at_names(self):
        """All have one, but for those that were done before a message had fit."""
        reads = 0
        for post in self.trace.posted.values():
            if not self.is_of_mine(post.begin):
                continue
            self.unnamed += not post.role
            reads += post.opcode == "RDMA_READ"
            if not post.role and (post.end is None or post.end > self.named):
                self.expect(f"left over: {post} has no name", False)
        self.expect(f"flushes: {reads} reads for {self.flushes} flushes",
                    reads == self.flushes * self.adapters)

    def score_connection(self, connection, ends, pair):
        told = [collections.defaultdict(list) for _ in pair]
        for end, messages in zip(told, pair):
            for message in messages:
                end[message.number].append(message)
        before = None
        for number, (sent, received) in enumerate(zip(*ends), 1):
            what = f"{connection} {number}"
            send, receive = (end[number] for end in told)
            if not self.expect(f"missing: {what}", len(send) == len(receive) == 1):
                before = None
                continue
            send, receive = send[0], receive[0]
            self.right += self.look_at_times(what, sent, received, send, receive) \
                and self.look_at_link(what, sent, send, receive) \
                and self.look_at_flush(what, received, receive)
            self.look_at_wait(what, sent, received, send, before)
            before = send

    def look_at_times(self, what, sent, received, send, receive):
        if None in (send.end, receive.end):
            return self.expect(f"incomplete: {what}", False)
        good = self.expect(f"times: {what}: the post of its CTS", received[0].called
                            <= receive.begin <= received[0].accepted)
        last = max(sent, key=lambda line: line.accepted)
        good &= self.expect(f"times: {what}: the post of its data",
                            last.called <= send.begin <= last.accepted)
        good &= self.expect(f"times: {what}: done before",
                            receive.end <= min(line.done for line in received)
                            and send.end <= min(line.done for line in sent))
        return good

    def look_at_link(self, what, sent, send, receive):
        for link in self.trace.links[receive.id]:
            self.known[link["known"]] += 1
        good = True
        for fault in nccl_wire.faults(
                self.trace, send, receive, [line.size for line in sent],
                "decoded" if self.is_preposted else "exact", self.is_preposted, self.named):
            good &= self.expect(f"{fault.split(':')[0]}: {what}: {fault}", False)
        return good

    def look_at_flush(self, what, received, receive):
        wanted = self.adapters if received[0].flush else 0
        self.flushes += bool(wanted)
        known = {how: count for how in ("exact", "decoded", "inferred")
                 if (count := self.trace.flushed[receive.id, how])}
        good = self.expect(f"flush: {what}: {known}, and not {wanted}",
                           known == ({"exact": wanted} if wanted else {}))
        self.flushed += good and bool(wanted)
        return good

    def look_at_wait(self, what, sent, received, send, before):
        """The receiver was not ready before it called; nor told of before it had returned."""
        tried = min(line.tried for line in sent)
        if send.wait is None:
            self.expect(f"wait: {what}: no bound", before is None)
            return
        self.bounds += 1
        least = max(0, received[0].called - tried)
        self.held += self.expect(
            f"wait: {what}: {send.wait} ns ({send.known}), and it was {least} at least",
            send.wait >= least and (send.known != "exact" or not least))
        # With the way of the CTS, and the time until the next try.
        true = min(line.called for line in sent) - tried
        if true > FIRST_TRY_NS:
            self.waited += 1
            self.whole += send.wait >= true
            self.true += true
        self.told += send.wait
        self.sure += send.known == "exact"

    def line(self):
        flushes = f", flushes {self.flushed} of {self.flushes}" if self.flushes else ""
        known = ", ".join(f"{count} {how}" for how, count in sorted(self.known.items()))
        said = f"{self.name}: {self.right} of {self.messages} messages right, {known}{flushes}"
        if self.unnamed:
            said += f", {self.unnamed} requests before the first have no name"
        if self.bounds:
            said += f"; wait bound {self.held} of {self.bounds}, {self.sure} exactly none; " \
                f"told {self.told / 1e6:.1f} ms, {self.true / 1e6:.1f} with the CTS's way, " \
                f"enough in {self.whole} of {self.waited}"
        if self.wrong:
            said += "; WRONG: " + ", ".join(f"{what} {count}"
                                            for what, count in self.wrong.items())
        return said


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("--trace")
    parser.add_argument("--table")
    parser.add_argument("folders", nargs="+")
    asked = parser.parse_args()
    trace = nccl_wire.Trace(asked.trace) if asked.trace else None
    wrong = False
    for folder in asked.folders:
        folder = folder.rstrip("/")
        if os.path.exists(os.path.join(folder, "skipped")):
            continue
        setting = Setting(folder, trace or nccl_wire.Trace(os.path.join(folder, "trace")))
        setting.score()
        print(setting.line(), flush=True)
        wrong |= bool(setting.wrong)
        if asked.table:
            with open(asked.table, "a", encoding="utf-8") as file:
                print(setting.release, setting.name, setting.messages, setting.right,
                      "+".join(sorted(setting.known)) or "-",
                      setting.flushed, setting.flushes, setting.held, setting.bounds,
                      setting.sure, sum(setting.wrong.values()), file=file)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
