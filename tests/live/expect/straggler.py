#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""straggler.py LOG WHY KIND RANK: whether the first finding in WHY, the JSON of `ccltap
why`, names the rank, and says by how much it was late as the program's LOG does, to within
5 %.  KIND is late or slow; for slow the log has the time of each message, which is at least
that long."""

import json
import statistics
import sys

log, why, kind, rank = sys.argv[1:]
with open(why, encoding="utf-8") as file:
    finding = json.load(file)["findings"][0]
print("#", finding["headline"])
evidence = {one["name"]: one for one in finding["evidence"]}
with open(log, encoding="utf-8") as file:
    truth = [int(line.split()[2]) for line in file if line.startswith("late ")]
assert truth, "the program says nothing"
truth = statistics.median(truth)
assert finding["kind"] == kind and finding["severity"] == "warning"
assert finding["ranks"][0] == int(rank), finding["ranks"]
if kind == "slow":
    assert evidence["message_ns"]["value"] >= truth
    assert finding["ranks"][1] != int(rank)
else:
    said = evidence["lateness_ns"]["value"]
    print(f"# it says {said} ns, the program {truth}")
    assert finding["ranks"] == [int(rank)]
    assert abs(said - truth) <= 0.05 * truth
