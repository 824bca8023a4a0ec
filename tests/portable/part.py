# SPDX-License-Identifier: MIT
"""A program of which a part is recorded: it calls NCCL before, within and after.

usage: part.py LIBRARY     under ccltap record --paused
"""
import ctypes
import sys

import ccltap

nccl = ctypes.CDLL(sys.argv[1])
version = ctypes.c_int()


def call(times):
    for _ in range(times):
        nccl.ncclGetVersion(ctypes.byref(version))


def count(trace):
    return sum(span["name"] == "ncclGetVersion" for span in trace.records("span"))


call(3)
with ccltap.record() as recording:
    call(5)
call(7)
print("in the block:", count(recording.read()))
with ccltap.record() as recording:
    call(11)
print("in both:", count(recording.read()))
