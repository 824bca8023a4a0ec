#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Asks a libnccl for an identifier, and ends once the thread that this makes waits for ranks:
bootstrap.py LIBRARY.  A thread that has not begun when its process ends is in no trace."""
import ctypes
import glob
import sys
import time

WAITS = {7, 43, 288}  # poll, accept, accept4


def is_there():
    for path in glob.glob("/proc/self/task/*/syscall"):
        try:
            with open(path, encoding="ascii") as file:
                number = (file.read().split() or [""])[0]
        except OSError: # it has ended
            continue
        if number.isdigit() and int(number) in WAITS:
            return True
    return False


def main():
    if ctypes.CDLL(sys.argv[1]).ncclGetUniqueId(ctypes.create_string_buffer(128)):
        return "ncclGetUniqueId() failed"
    for _ in range(600):
        if is_there():
            return 0
        time.sleep(0.1)
    return "no thread waits for ranks"


if __name__ == "__main__":
    sys.exit(main())
