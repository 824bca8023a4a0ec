#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Whether what the flight recorder kept of tests/live/programs/absent leads from the rank that waits to
what it waits for; or, "present", that nothing waits.

usage: absent.py absent|present <JSONL
"""
import json
import sys

lines = [json.loads(line) for line in sys.stdin]
spans = {line["id"]: line for line in lines if line["type"] == "span"}
links = [line for line in lines if line["type"] == "link"]
made = [link for link in links if link["kind"] == "api-launch"]
waiting = [line for line in lines if line["type"] == "open"]
linked = sorted(link["op_number"] for link in links if link["kind"] == "collective-ranks")
alone = lines[0]["loss"]["unmatched_operations"]


def launches(stream, process):
    """The calls by which something was put on the stream, in order, and its launches."""
    for link in sorted(made, key=lambda link: link["end_ns"]):
        call, launch = (spans[span] for span in link["spans"])
        if launch["process"] == process and launch["fields"].get("hStream") == stream:
            yield call, launch


if sys.argv[1] == "present":
    assert not waiting, waiting
    assert linked == [1, 2], linked
    assert alone == 0, alone
    sys.exit(0)

assert [line["name"] for line in waiting] == ["cuStreamSynchronize"], waiting
assert waiting[0]["rank"] == 0 and waiting[0]["min_ns"] >= 1000000000, waiting
wait = spans[waiting[0]["id"]]
assert wait["state"] == "open" and wait["end_ns"] is None, wait
call, launch = list(launches(wait["fields"]["hStream"], wait["process"]))[-1]
assert launch["end_ns"] <= wait["begin_ns"], (launch, wait)
assert launch["fields"]["kernel_kind"] == "collective", launch
assert launch["fields"]["collective"] == "AllReduce", launch
assert (call["name"], call["comm_rank"], call["op_number"]) == ("ncclAllReduce", 0, 2), call
assert call["state"] == launch["state"] == "complete", (call, launch)
assert linked == [1], linked
assert alone == 1, alone
