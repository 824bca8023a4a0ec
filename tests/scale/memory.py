#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The most memory, in KiB, that a command and its children took: memory.py COMMAND...
The command's output is dropped, and its exit status is not looked at.
"""
import resource
import subprocess
import sys

subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
