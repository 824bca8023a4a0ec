#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the converted times of several hosts with the truth.

usage: clocks.py JOINT HOST=ALONE,FOLDER,AHEAD_NS,PPM,BASE_NS...

JOINT is the timeline of all hosts together, ALONE that of one, both as JSON lines; FOLDER
is the host's recording.  ALONE has the times of the host's own clock, and how that runs is
known (programs/skewed.c), so the true time of each event of JOINT is known, too.  Prints a
line for the table of runs: hosts, the largest error, the median uncertainty of a message between
hosts, the largest of a host, the median one-way time.
"""
import glob
import json
import re
import statistics
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def key(record):
    """The same in both timelines: processes are numbered anew in each."""
    return record["host"], record["pid"], record["id"].split(".", 1)[1]


def read_offset(folder):
    """What LTTng adds to the host's CLOCK_MONOTONIC."""
    metadata = glob.glob(f"{folder}/**/metadata", recursive=True)
    with open(metadata[0], "rb") as file:
        text = file.read().decode("latin-1")
    return int(re.search(r"offset = (\d+)", text).group(1))


class Host:
    def __init__(self, argument):
        self.name, rest = argument.split("=", 1)
        alone, folder, ahead, ppm, base = rest.split(",")
        self.offset = read_offset(folder)
        self.ahead, self.ppm, self.base = int(ahead), float(ppm), int(base)
        self.spans = {key(r): r for r in read(alone) if r["type"] == "span"}

    def true(self, shown):
        """The true CLOCK_MONOTONIC when the host's events had this time."""
        monotonic = shown - self.offset - self.ahead
        return self.base + (monotonic - self.base) / (1 + self.ppm / 1e6)


def main():
    joint = read(sys.argv[1])
    hosts = {host.name: host for host in map(Host, sys.argv[2:])}
    clocks = {c["name"]: c for c in joint[0]["hosts"]}
    assert set(clocks) == set(hosts), clocks
    reference = hosts[next(iter(clocks.values()))["clock_of"]]
    worst, truth = {name: 0 for name in hosts}, {}
    for span in joint:
        # What a proxy does is numbered in the order in which it is found.
        if span["type"] != "span" or span["layer"] == "proxy":
            continue
        host = hosts[span["host"]]
        # NCCL's messages are found of both ends only.
        alone = host.spans.get(key(span), {})
        assert alone or span["layer"] == "net" or span["id"].split(".")[1][0] == "n", span
        for time in ("begin_ns", "end_ns"):
            if span.get(time) is None or alone.get(time) is None:
                continue
            true = host.true(alone[time])
            truth[span["id"], time] = true
            error = abs(reference.true(span[time]) - true)
            worst[host.name] = max(worst[host.name], error)
    one_way, said = [], []
    for link in joint:
        if link["type"] != "link" or link["kind"] not in ("send-receive", "cts-message"):
            continue
        assert link["end_ns"] >= link["begin_ns"], f"the effect comes first: {link}"
        between = [s.split(".")[0] for s in link["spans"][:2]]
        if link["kind"] == "send-receive" and between[0] != between[1]:
            took = truth[link["spans"][1], "end_ns"] - truth[link["spans"][0], "begin_ns"]
            one_way.append(took)
            said.append(link["uncertainty_ns"])
            shown = reference.true(link["end_ns"]) - reference.true(link["begin_ns"])
            error = abs(shown - took)
            assert error <= link["uncertainty_ns"] + 1, f"wrong by {error} ns: {link}"
    assert one_way, "no message between hosts"
    for name, clock in clocks.items():
        # A reference says nothing else than its own clock.
        assert clock["clock"] == ("reference" if name == reference.name else "messages"), clocks
        assert worst[name] <= clock["uncertainty_ns"] + 1, \
            f"host {name} is wrong by {worst[name]} ns: {clock}"
    print(f"{len(hosts)} hosts, wrong by {max(worst.values()):.0f} ns,",
          f"messages known to {statistics.median(said):.0f} ns, hosts to",
          max(clock["uncertainty_ns"] for clock in clocks.values()),
          f"ns, one way {statistics.median(one_way):.0f} ns,",
          "offset", max(abs(c["offset_ns"]) for c in clocks.values()), "ns, drift",
          max(abs(c["drift_ppb"]) for c in clocks.values()), "ppb")


main()
