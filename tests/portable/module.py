# SPDX-License-Identifier: MIT
"""What the module ccltap says of a recording; lines of TAP without numbers.

usage: module.py TRACE     a recording of examples/allreduce with the last of 2 ranks late
"""
import json
import subprocess
import sys

import ccltap


def ok(passed, sentence):
    print(("ok - " if passed else "not ok - ") + sentence, flush=True)


def same(sentence, expected, actual):
    ok(expected == actual, sentence)
    if expected != actual:
        print(f"# expected: {expected!r}\n# actual:   {actual!r}")


path = sys.argv[1]
trace = ccltap.read(path)
lines = subprocess.run(
    [ccltap.program(), "timeline", "--format=jsonl", path], stdout=subprocess.PIPE, check=True
).stdout.splitlines()
records = [json.loads(line) for line in lines if line.strip()]
same("each type is a table", sorted({r["type"] for r in records}), trace.names)
same(
    "with all records",
    {name: sum(r["type"] == name for r in records) for name in trace.names},
    {name: len(trace.records(name)) for name in trace.names},
)
same("what a trace has none of is empty", [], trace.records("nosuch"))
same("the late rank is found", ["late", [1]], [trace.findings[0]["kind"], trace.findings[0]["ranks"]])
same("nothing is missing", 0, trace.loss["discarded_events"])

spans = trace.records("span")
begins = [span["begin_ns"] for span in spans]
ok(max(begins) > 1 << 53, "times have digits that a floating-point number has not")
arrow = trace.arrow("span")
same("Arrow: all rows, all digits", begins, arrow.column("begin_ns").to_pylist())
same("Arrow: parts are JSON", spans[0]["fields"], json.loads(arrow.column("fields")[0].as_py()))
pandas = trace.pandas("span")
same("pandas: all rows, all digits", begins, [int(ns) for ns in pandas["begin_ns"]])
ok(pandas["end_ns"].isna().sum() == sum(s["end_ns"] is None for s in spans), "pandas: null is NA")
same("Arrow is preferred", "pyarrow", type(trace.table("span")).__module__.split(".")[0])
for name in trace.names:
    same(f"Arrow: {name}", len(trace.records(name)), trace.arrow(name).num_rows)
    same(f"pandas: {name}", len(trace.records(name)), len(trace.pandas(name)))

only = ccltap.read(path, options=["--layer=cuda"])
same("an option is passed on", {"cuda"}, {span["layer"] for span in only.records("span")})
try:
    ccltap.read("/nonexistent")
    ok(False, "a trace that is not there is an error")
except ccltap.Error as error:
    ok("/nonexistent" in str(error), "a trace that is not there is an error")
try:
    ccltap.record("nosuch").start()
    ok(False, "a recording that is not there is an error")
except ccltap.Error as error:
    ok("nosuch" in str(error), "a recording that is not there is an error")
