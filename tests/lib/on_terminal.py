#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""Runs a command on a terminal of its own and copies to stdout what it writes there.

    on_terminal.py [--size COLUMNSxLINES] COMMAND [ARG...]

Ends as the command ends; 128 and its number for a signal. Lines end as on a terminal, in
\\r\\n, of which the \\r is left out."""
import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    words = sys.argv[1:]
    size = (100, 24)
    if words[0] == "--size":
        size = tuple(int(number) for number in words[1].split("x"))
        words = words[2:]
    child, terminal = pty.fork()
    if not child:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        os.execvp(words[0], words)
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # the last one who had it open is gone
            break
        if not some:
            break
        sys.stdout.buffer.write(some.replace(b"\r\n", b"\n"))
        sys.stdout.buffer.flush()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(status if status >= 0 else 128 - status)


main()
