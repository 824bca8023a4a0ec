# SPDX-License-Identifier: MIT
"""What was recorded of HIP, as babeltrace2 shows it, beside the HIP double's own log.

usage: babeltrace2 TRACE | hip.py LOG
"""
import re
import sys

line_of = re.compile(r" (\w+):(\w+): \{.*?\}, (.*)$")
field_of = re.compile(r"(\w+) = (\"[^\"]*\"|-?\w+)")
words = {"name": {}, "capturing": False, "in_nccl": None}
recorded = []
bad = []


def launch(name, fields):
    dims = []
    for x in ("gridDim", "blockDim"):
        if x + "X" not in fields:
            x = {"gridDim": "globalWorkSize", "blockDim": "localWorkSize"}[x]
        dims.append("x".join(fields[x + axis] for axis in "XYZ"))
    stream = int(fields["hStream"], 16)
    return " ".join([name, words["name"].get(fields["f"], "?"), *dims,
                     hex(stream) if stream else "(nil)"])


for line in sys.stdin:
    found = line_of.search(line)
    if not found:
        continue
    provider, name, rest = found.groups()
    fields = {key: value.strip('"') for key, value in field_of.findall(rest)}
    if (provider, name) == ("nccl", "ncclAllReduce_entry"):
        words["in_nccl"] = fields["call_id"]
    elif (provider, name) == ("nccl", "ncclAllReduce_exit"):
        words["in_nccl"] = None
    if provider != "cuda":
        continue
    if name == "function":
        words["name"][fields["function"]] = fields["name"]
        continue
    if name.endswith("_entry"):
        words["twin"] = fields["per_thread"] == "1"
        continue
    paired = name.endswith("_exit")
    twin = words["twin"] if paired else fields["per_thread"] == "1"
    if paired:
        name = name[: -len("_exit")]
    else:
        if fields["context"] != "0xD000":
            bad.append(f"{name} in context {fields['context']}")
        if fields["parent_id"] != (words["in_nccl"] or "0"):
            bad.append(f"{name} in call {fields['parent_id']}")
        if (fields["capture"] == "1") != (words["capturing"] and name == "hipLaunchKernel"):
            bad.append(f"{name} with capture {fields['capture']}")
    if name == "hipStreamBeginCapture":
        words["capturing"] = True
    if name == "hipStreamEndCapture":
        words["capturing"] = False
    if fields["result"] != "0":
        bad.append(f"{name} = {fields['result']}")
        continue
    shown = name + ("_spt" if twin else "")
    recorded.append(launch(shown, fields) if "f" in fields else shown)

with open(sys.argv[1], encoding="utf-8") as log:
    done = [line.strip() for line in log if not line.startswith("inner ")]
# Of launches all is compared, of others that they are there.
done = [line if len(line.split()) == 5 else line.split()[0] for line in done]
if bad != ["hipLaunchKernel = 1"]:
    print("\n".join(bad[:10]))
    sys.exit("not what the program did")
for number, (expected, actual) in enumerate(zip(done, recorded)):
    if expected != actual:
        sys.exit(f"call {number}: {expected}\nrecorded:  {actual}")
if len(done) != len(recorded) or len(done) < 200:
    sys.exit(f"{len(done)} calls, {len(recorded)} recorded")
