# SPDX-License-Identifier: MIT
# usage: python late_rank.py TRACE
import sys

import ccltap

trace = ccltap.read(sys.argv[1])
for finding in trace.findings:
    if finding["kind"] == "late":
        print(f"rank {finding['ranks']} was late: {finding['headline']}")
print(len(trace.records("span")), "spans")
