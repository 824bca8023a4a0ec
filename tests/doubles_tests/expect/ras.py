# SPDX-License-Identifier: MIT
"""The RAS threads of a job that runs with mini-NCCL, as another process of it would see them.

usage: ras.py FOLDER PROCESSES

Waits until the truth in the folder has what it expects, and then talks to one of them.
"""

import glob
import json
import socket
import struct
import sys
import time

MAGIC, TYPE = 0x564AB9F2FC4B9D6C, 5
CONNECT, ACCEPTED, KEEP_ALIVE = 1, 2, 3
folder, processes = sys.argv[1], int(sys.argv[2])
deadline = time.monotonic() + 30


def records():
    for path in glob.glob(folder + "/truth.*.jsonl"):
        with open(path, encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.endswith("\n"))


# Each with the next and the previous one, so of three or more as many as there are.
expected = processes if processes > 2 else processes - 1
while True:
    threads = [r for r in records() if r["record"] == "thread" and r["role"] == "ras"]
    sockets = [r for r in records() if r["record"] == "socket" and r["socket"]["role"] == "ras"]
    if len(threads) == processes and len(sockets) == 2 * expected:
        break
    assert time.monotonic() < deadline, (len(threads), len(sockets))
    time.sleep(0.05)
assert len({r["pid"] for r in threads}) == processes
ends = {(r["socket"]["port"], r["socket"]["remote_port"]): r["pid"] for r in sockets}
pairs = {frozenset((pid, ends[there, here])) for (here, there), pid in ends.items()}
assert len(pairs) == expected and all(len(pair) == 2 for pair in pairs), pairs


def receive(peer, size):
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        assert more, "the thread has closed"
        data += more
    return data


def message(peer):
    (length,) = struct.unpack("i", receive(peer, 4))
    data = receive(peer, length)
    return struct.unpack_from("i", data)[0], data


# Of both ports of a connection one is that on which a thread listens.
for port in (port for end in ends for port in end):
    peer = socket.socket()
    peer.settimeout(20)
    if peer.connect_ex(("127.0.0.1", port)) == 0:
        break
peer.sendall(struct.pack("=Qi", MAGIC, TYPE))
own = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s", peer.getsockname()[1], b"\x7f\0\0\1")
connect = struct.pack("=iii28sQQ", CONNECT, 0, 22809, own, 0, 0)
peer.sendall(struct.pack("=i", len(connect)) + connect)
kind, data = message(peer)
assert kind == ACCEPTED and len(data) == 12 and data[8:12] == bytes(4), data
for _ in range(2):
    kind, data = message(peer)
    assert kind == KEEP_ALIVE and len(data) == 56, data
print(f"# {processes} threads, {expected} connections")
