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
        lines += [json.loads(line) for line in file]

assert {line["rank"] for line in lines} == set(range(ranks)), "not all ranks have told"
assert {line["channel"] for line in lines} == set(range(channels)), "channels"
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
assert (grouped > 0) == (qps > 0), "receives of one group share a request"

# An all-reduce of 700001 elements: loops of a step of 512 KiB per rank and channel.
large = collections.Counter(
    line["channel"]
    for line in lines
    if (line["name"], line["rank"], line["op"], line["direction"])
    == ("AllReduce", 0, 2, "send")
)
part = -(-700001 // channels)
for channel in range(channels):
    elements = min(part, 700001 - channel * part)
    loops = -(-elements // (ranks * (1 << 17)))
    assert large[channel] == loops * 2 * (ranks - 1), large
