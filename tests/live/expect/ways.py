# SPDX-License-Identifier: MIT
"""Each call that tests/link/programs/ways made is recorded as going to the copy that it went to.

usage: ways.py OUTPUT JSONL [UNSEEN]

OUTPUT is what the program said: each copy of the library answers with its number.  UNSEEN
is how many of the last calls were bound past us.
"""

import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
unseen = int(sys.argv[3]) if len(sys.argv) > 3 else 0
called = []
for line in text.splitlines():
    if not line.startswith("closed"):
        called += re.findall(r"version (\d)", line) or re.findall(r" (\d)\b", line)
libraries, calls, inner = {}, [], []
with open(sys.argv[2], encoding="utf-8") as file:
    for record in map(json.loads, file):
        if record["type"] == "library":
            libraries[record["library_id"]] = record
        if record["type"] == "span" and record["layer"] == "nccl":
            (inner if record["inner"] else calls).append(record)
calls.sort(key=lambda call: call["call_id"])
went = []
for call in calls:
    library = libraries[call["fields"]["library"]]
    assert library["layer"] == "nccl", library
    went.append(re.search(r"copy(\d)\.so$", library["path"]).group(1))
assert called and went == called[:len(called) - unseen], (went, called)

# What a copy calls itself goes to no other.
went_to = {call["id"]: call["fields"]["library"] for call in calls + inner}
for call in inner:
    assert call["fields"]["library"] == went_to[call["parent"]] == call["caller_library"], call
