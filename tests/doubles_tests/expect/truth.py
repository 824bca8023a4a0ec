# SPDX-License-Identifier: MIT
"""The truth file of mini-NCCL, checked in itself.

usage: truth.py FOLDER RANKS CHANNELS QPS

QPS is how many queue pairs carry a message, 0 over TCP.
"""

import collections
import glob
import json
import sys

folder, ranks, channels, qps = sys.argv[1], *map(int, sys.argv[2:])
lines = []
for path in glob.glob(folder + "/truth.*.jsonl"):
    with open(path, encoding="utf-8") as file:
        lines += [line for line in map(json.loads, file) if line["record"] == "message"]

assert {line["rank"] for line in lines} == set(range(ranks)), "not all ranks have told"
# Point to point there is a power of two of them.
collective = {line["channel"] for line in lines if line["index"] == 0}
assert collective == set(range(channels)), collective
assert max(line["channel"] for line in lines) < 1 << (channels - 1).bit_length()
assert len({line["comm_hash"] for line in lines}) == 1, "communicators"

ends = collections.defaultdict(list)
for line in lines:
    is_send = line["direction"] == "send"
    pair = (line["rank"], line["peer"]) if is_send else (line["peer"], line["rank"])
    ends[(pair, line["channel"], line["index"]), is_send].append(line)
    assert line["wanted_ns"] <= line["posted_ns"] <= line["done_ns"], line
    assert len(line["qps"]) == qps, line

steps = collections.defaultdict(int)
for (connection, is_send), messages in ends.items():
    assert [message["message"] for message in messages] == list(range(len(messages)))
    for message in messages:
        key = connection, is_send, message["op"]
        assert message["step"] == steps[key], message
        steps[key] += 1

grouped = 0
for connection in {connection for connection, is_send in ends}:
    sends, receives = ends[connection, True], ends[connection, False]
    assert len(sends) == len(receives), connection
    for send, receive in zip(sends, receives):
        assert send["bytes"] == receive["bytes"], (send, receive)
        assert send["step"] == receive["step"], (send, receive)
        assert send["posted_ns"] < receive["done_ns"], (send, receive)
        if connection[2] == 0:
            assert send["op"] == receive["op"], (send, receive)
        # Nobody sends before the receiver has said where to.
        if qps:
            assert receive["posted_ns"] < send["posted_ns"], (send, receive)
        grouped += send["wr_id"] > 0xFF
    # Both ends of a connection have the same queue pairs all the time.
    for end in sends, receives:
        used = {qp for message in end for qp in message["qps"]}
        assert len(used) <= max(qps, 4), used
# Only what one proxy sends for several ranks shares a request.
assert grouped == 0, grouped

# LL has 8 bytes of flags in 16, and LL128 a warp's 128 in 2048.
for line in lines:
    unit = {"LL": 16, "LL128": 2048, "Simple": 1}[line["protocol"]]
    assert line["bytes"] % unit == 0, line

# An all-reduce of 700001 elements by a ring with SIMPLE: all ranks send each of them twice
# to all others but one, in whole loops of two messages per chunk, none of more than two steps.
large = [
    line
    for line in lines
    if (line["name"], line["op"], line["direction"]) == ("AllReduce", 2, "send")
]
if large[0]["protocol"] == "Simple":
    assert sum(line["bytes"] for line in large) == 2 * (ranks - 1) * 700001 * 4
    assert max(line["bytes"] for line in large) <= 1 << 20
    for channel in range(channels):
        own = [line for line in large if (line["rank"], line["channel"]) == (0, channel)]
        assert own and len(own) % (2 * 2 * (ranks - 1)) == 0, len(own)
