# SPDX-License-Identifier: MIT
"""A recorder with its program: what kills.py and ranks.py start and kill."""
import struct
import subprocess


class Recorder:
    def __init__(self, command, trace, program, count_file, said, **options):
        """program is the path of rank, its library, and how many calls of what pause."""
        rank, library, calls, pause_us = program
        self.count_file = count_file
        self.recorder = subprocess.Popen(
            [*command, "-o", trace, "--", rank, library, count_file, str(calls),
             str(pause_us)], stderr=said, **options)

    def count(self):
        """The calls that the program says it has made."""
        try:
            with open(self.count_file, "rb") as file:
                return struct.unpack("l", file.read(8))[0]
        except (OSError, struct.error):
            return 0
