# SPDX-License-Identifier: MIT
"""Says whether traces for chrome://tracing tell what the JSON lines of the same recordings
tell: slices that nest, arrows with both ends in slices, exact times, counters and findings.

usage: trace_event_check.py NAME...     # of each: NAME.json, NAME.jsonl, and NAME.why, JSON

Writes a line of TAP without a number for each.
"""

import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import perfetto_check  # noqa: E402

NOT_SPANS = ("finding", "problem", "trace", "flow")


def time_of(event, base, problems):
    """In ns since the epoch, of digits: a float would hide what is not exact."""
    if not re.fullmatch(r"-?\d+\.\d{3}", str(event["ts"])):
        problems.append(f"time {event['ts']} is not of microseconds with three decimals")
        return 0
    return base + int(event["ts"].replace(".", ""))


class Reader:
    """The events as a viewer takes them: in order of time, and where equal, of the file.
    chrome://tracing takes slices in the order of the file, which must be that of time on each
    track."""

    def __init__(self, trace, problems):
        self.problems = problems
        self.last = {}  # by (pid, tid): when a slice began or ended
        self.names = {}  # of (pid, tid), and of (pid, None)
        self.slices = []
        self.open = collections.defaultdict(list)  # by (pid, tid): numbers of slices
        self.flows = collections.defaultdict(dict)
        self.counters, self.instants = [], []
        events = []
        for event in trace["traceEvents"]:
            self.check_members(event)
            if event["ph"] == "M":
                self.take_metadata(event)
            else:
                time = time_of(event, trace["baseTimeNanoseconds"], problems)
                events.append((time, event))
                self.check_order(event, time)
        for time, event in sorted(events, key=lambda one: one[0]):
            getattr(self, "take_" + event["ph"])(event, time, (event["pid"], event["tid"]))

    def check_members(self, event):
        """A file that is too large for a string is read by event, by those that have both of
        "ph" and "cat"; Trace Compass sorts lines by "ts", the first that is in one."""
        missing = {"ph", "cat", "pid", "ts"} - set(event)
        if event["ph"] not in "ME":
            missing |= {"tid", "name"} - set(event)
        if missing:
            self.problems.append(f"an event has no {missing}: {event}")
        for number in event["pid"], event.get("tid", 0), event["args"].get("sort_index", 0) \
                if event["ph"] == "M" else 0:
            if not isinstance(number, int) or not -2**31 <= number < 2**31:
                self.problems.append(f"{number} is no integer of 32 bits: {event}")
        if "ts" in event.get("args", {}):
            self.problems.append(f"two things are called ts: {event}")
        if event["ph"] == "i" and event.get("s") != "t":
            self.problems.append(f"an instant is not of a thread: {event}")

    def check_order(self, event, time):
        if event["ph"] not in "BE":
            return
        track = event["pid"], event["tid"]
        if time < self.last.get(track, time):
            self.problems.append(f"time goes backwards on {track}: {event}")
        self.last[track] = time

    def take_metadata(self, event):
        if event.get("ts", 0) != 0:
            self.problems.append(f"a name has a time: {event}")
        if not event["name"].endswith("_name"):
            return
        key = event["pid"], event.get("tid")
        if key in self.names:
            self.problems.append(f"{key} has two names")
        self.names[key] = event["args"]["name"]

    def take_B(self, event, time, track):
        self.open[track].append(len(self.slices))
        self.slices.append([time, -1, event, track, {}])

    def take_E(self, event, time, track):
        if not self.open[track]:
            self.problems.append(f"nothing ends at {event['ts']} on {track}")
            return
        ended = self.slices[self.open[track].pop()]
        ended[1], ended[4] = time - ended[0], event.get("args", {})
        twice = set(ended[4]) & set(ended[2].get("args", {}))
        if twice and not self.may_say_twice:
            self.problems.append(f"both ends of a slice say {twice}: {ended[2]}")

    def take_end_of_flow(self, event, time, track, which):
        if not self.open[track]:
            self.problems.append(f"flow {event['id']} has an end in no slice: {event}")
        elif which in self.flows[event["id"]]:
            self.problems.append(f"flow {event['id']} has two ends {which}")
        else:
            self.flows[event["id"]][which] = time, self.open[track][-1]

    def take_s(self, event, time, track):
        self.take_end_of_flow(event, time, track, "s")

    def take_f(self, event, time, track):
        if event.get("bp") != "e":
            self.problems.append(f"flow {event['id']} ends in the next slice")
        if "s" not in self.flows[event["id"]]:
            self.problems.append(f"flow {event['id']} ends before it begins")
        self.take_end_of_flow(event, time, track, "f")

    def take_C(self, event, time, track):
        self.counters.append((time, event["args"]["value"], event["name"],
                              self.names.get((track[0], None)), track[1]))

    def take_i(self, event, time, track):
        if event["cat"] == "finding":
            self.instants.append((event["name"], self.names.get((track[0], None)),
                                  event["args"].get("ranks")))

    def answers(self):
        """What perfetto_check.py asks the importer."""
        slices, flows, arrivals = [], [], []
        for number, (time, duration, event, track, after) in enumerate(self.slices):
            process = self.names.get((track[0], None), "")
            host = re.search(r" on (.*)$", process)
            slices.append((number, time, duration, event["cat"], event["name"],
                           self.names.get(track, ""), process,
                           "host " + (host[1] if host else "?"), after.get("state"), track))
        for flow, ends in self.flows.items():
            if set(ends) != {"s", "f"}:
                self.problems.append(f"flow {flow} has one end")
                continue
            (begin, out), (end, into) = ends["s"], ends["f"]
            if begin != self.slices[out][0] or end < begin:
                self.problems.append(f"flow {flow} begins or ends at another time")
            if end != self.slices[into][0] or self.slices[into][0] < begin:
                arrival = len(self.slices) + len(arrivals)
                track = self.slices[into][3]
                arrivals.append((arrival, end, self.names[track],
                                 self.names[track[0], None]))
                into = arrival
            flows.append((out, into))
        return {"stats": [], "slices": slices, "flows": flows, "arrivals": arrivals,
                "counters": sorted(self.counters, key=lambda one: (one[4], one[0])),
                "instants": self.instants}


def read_trace(path, problems):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # Trace Compass' events begin behind the first bracket, whatever it is in.
    if not text[:text.index("[")].rstrip().endswith('"traceEvents":'):
        problems.append("there is a bracket before those of the events")
    return json.loads(text, parse_float=str)


def check(name):
    problems = []
    # Its made-up calls have at their end what only the beginning of one has.
    Reader.may_say_twice = os.path.basename(name) == "roles"
    reader = Reader(read_trace(name + ".json", problems), problems)
    answers = reader.answers()
    answers["counters"] = [row[:4] for row in answers["counters"]]
    return problems + perfetto_check.check(name, answers), answers


def main(names):
    for name in names:
        problems, answers = check(name)
        for problem in problems[:10]:
            print(problem)
        print(f"{'not ' if problems else ''}ok - chrome://tracing shows what jsonl tells: "
              f"{os.path.basename(name)}, {len(answers['slices'])} slices, "
              f"{len(answers['flows'])} flows, {len(answers['counters'])} values")


if __name__ == "__main__":
    main(sys.argv[1:])
