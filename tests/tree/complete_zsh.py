#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints what zsh makes of a line when TAB is pressed at its end.

usage: complete_zsh.py FOLDER LINE     FOLDER has the functions of completion
"""
import os
import pty
import re
import select
import sys
import time

SETUP = r"""
PS1= PS2= ; unsetopt zle_bracketed_paste; setopt no_beep
fpath=('%s' $fpath); autoload -Uz compinit; compinit -u -D
show() { zle -I; print -r -- "<<$BUFFER>>" }
zle -N show; bindkey '^Xp' show
print re''ady
"""
LIMIT_S = 60


def read_until(terminal, pattern):
    said, end = b"", time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        said += os.read(terminal, 4096)
        found = re.search(pattern, said)
        if found:
            return found
    sys.exit(f"zsh did not answer: {said!r}")


def main(folder, line):
    child, terminal = pty.fork()
    if not child:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    os.write(terminal, (SETUP % folder).replace("\n", "\r").encode())
    read_until(terminal, rb"\nready|^ready")
    os.write(terminal, line.encode() + b"\t\x18p")
    print(read_until(terminal, rb"<<([^$][^>]*)>>")[1].decode())
    os.write(terminal, b"\x15exit\r")
    os.close(terminal)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
