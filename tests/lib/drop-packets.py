#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Takes packets out of an LTTng-UST trace at random, as a network or a full disk does:
drop-packets.py TRACE SHARE SEED.  Prints how many of how many went.

A packet's header and context are as the trace's metadata declares them (LTTng 2.13):
magic, uuid, stream and instance; then begin and end, content and packet size in bits.
The indexes go, since they would still name what is gone.
"""
import os
import random
import shutil
import struct
import sys

MAGIC = 0xc1fc1fc1
SIZES = struct.Struct("<QQ")
SIZES_AT = 4 + 16 + 4 + 8 + 8 + 8


def packets(data):
    at = 0
    while at < len(data):
        magic, = struct.unpack_from("<I", data, at)
        _, bits = SIZES.unpack_from(data, at + SIZES_AT)
        if magic != MAGIC or bits == 0 or bits % 8 or at + bits // 8 > len(data):
            raise SystemExit(f"drop-packets: no packet at {at}: {magic:#x}, {bits} bits")
        yield data[at:at + bits // 8]
        at += bits // 8


def main():
    trace, share, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    dropped = total = 0
    for folder, folders, files in os.walk(trace):
        for name in [name for name in folders if name == "index"]:
            shutil.rmtree(os.path.join(folder, name))
            folders.remove(name)
        if "metadata" not in files:
            continue
        for name in sorted(files):
            if name == "metadata":
                continue
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                all_packets = list(packets(file.read()))
            kept = [packet for packet in all_packets if chance.random() >= share]
            total += len(all_packets)
            dropped += len(all_packets) - len(kept)
            with open(path, "wb") as file:
                file.write(b"".join(kept))
    print(f"{dropped} of {total}")


main()
