#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What traced processes ask of a recorder: asked.py FOLDER COUNT COMMAND...

Runs the command with a CCLTAP_RECORDER of its own, until 4 s after it has made all of
FOLDER/at.0 to at.4 and has asked COUNT times, and prints the reasons that it gave.
"""
import glob
import os
import re
import signal
import socket
import subprocess
import sys
import time

# What a process shows a recorder that it is one of its own.
TOKEN = "0123456789abcdef"


def main():
    folder, count, *command = sys.argv[1:]
    for path in glob.glob(os.path.join(folder, "at.*")):
        os.unlink(path)
    name = f"ccltap-test-asked-{os.getpid()}"
    notes = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as box:
        box.bind("\0" + name)
        box.settimeout(0.1)
        env = dict(os.environ, CCLTAP_RECORDER=f"{os.getuid()} 0 {TOKEN} {name}")
        end = time.monotonic() + 60
        has_come = False
        with subprocess.Popen(command, env=env, start_new_session=True) as child:
            while time.monotonic() < end and child.poll() is None:
                if not has_come and len(notes) >= int(count) and \
                        len(glob.glob(os.path.join(folder, "at.*"))) == 5:
                    has_come = True
                    end = time.monotonic() + 4
                try:
                    notes.append(box.recv(4096).decode())
                except socket.timeout:
                    pass
            os.killpg(child.pid, signal.SIGKILL)
        box.setblocking(False)
        try:
            while True:
                notes.append(box.recv(4096).decode())
        except BlockingIOError:
            pass
    for note in sorted(re.sub(TOKEN + r"(.*?)process \d+: (.*?)( \(thread \d+\))?$", r"\1\2", note)
                       for note in notes):
        print(note)


main()
