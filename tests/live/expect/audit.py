#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""audit.py FILE.json: each remark of an audit as a line, without what differs from run to run:
subject, grade, kind, how it is known, ranks, and the text without the offsets of call sites.
How many polls follow one another without a pause depends on the machine."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    audit = json.load(file)
ranks = {one["process"]: one["rank"] for one in audit["processes"]}
print("verdict", audit["verdict"])
for key, subject in audit["subjects"].items():
    for remark in subject["remarks"]:
        who = ",".join(sorted(str(ranks[one]) for one in remark["processes"]))
        text = re.sub(r"\+0x[0-9a-f]+", "+SITE", remark["text"])
        text = re.sub(r"0x[0-9a-f]+\.\.", "COMM", text)
        text = re.sub(r"\d+ times in a row", "MANY times in a row", text)
        print(key, remark["grade"], remark["kind"], remark["known"], who or "-", text)
