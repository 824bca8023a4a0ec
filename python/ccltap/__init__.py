# SPDX-License-Identifier: MIT
"""ccltap's recordings as tables, and a recording switched on for a part of a program.

    import ccltap

    trace = ccltap.read("trace")
    for finding in trace.findings:
        print(finding["headline"])
    spans = trace.table("span")  # a pyarrow.Table, a pandas.DataFrame, or a list

    with ccltap.record():  # in a program under "ccltap record --paused"
        step()

Everything here runs the program ccltap, which the wheel contains.
"""

from ccltap.program import Error, program
from ccltap.recording import Recording, record
from ccltap.trace import Trace, read

__all__ = ["Error", "Recording", "Trace", "program", "read", "record"]
