# SPDX-License-Identifier: MIT
"""The metrics of devices in a file are what a program knows of its posts and polls.

usage: metered.py FILE TRUTH [SAMPLES]

TRUTH has lines "NAME NUMBER"; SAMPLES is how many requests are timed, if that is known.
"""

import collections
import re
import sys

LINE = re.compile(r'(ccltap_rdma_[a-z_]+)\{([^}]*)\} ([0-9.]+)\n')
EVERY = 61
COUNTERS = {"sent": ("posts", "send"), "recv_posted": ("posts", "receive"),
            "send_completed": ("completions", "send"),
            "recv_completed": ("completions", "receive"),
            "sent_bytes": ("bytes", "send"), "received_bytes": ("bytes", "receive"),
            "failed": ("failed_completions", None), "flushed": ("flushed_completions", None)}


def main():
    values, buckets = collections.Counter(), []
    for line in open(sys.argv[1], encoding="utf-8"):
        match = LINE.fullmatch(line)
        if not match:
            continue
        name, labels, value = match.groups()
        labels = dict(re.findall('([a-z_]+)="([^"]*)"', labels))
        if "device" not in labels:
            continue  # of the recording
        assert labels["device"] == "soft0", line
        if name == "ccltap_rdma_completion_seconds_bucket":
            buckets.append((float(labels["le"].replace("+Inf", "inf")), float(value)))
        else:
            values[name, labels.get("queue")] += float(value)
    truth = dict(line.split() for line in open(sys.argv[2], encoding="utf-8"))
    truth = {name: int(value) for name, value in truth.items()}
    for name, (metric, queue) in COUNTERS.items():
        seen = values[f"ccltap_rdma_{metric}_total", queue]
        assert seen == truth[name], (name, seen, truth[name])
    assert values["ccltap_rdma_requests_per_sample", None] == EVERY

    # Each bucket has those before it, and its bound is twice that of the one before.
    assert buckets == sorted(buckets) and buckets[-1][0] == float("inf"), buckets
    assert all(before[1] <= after[1] for before, after in zip(buckets, buckets[1:])), buckets
    assert all(abs(2 * before[0] - after[0]) < 1e-9
               for before, after in zip(buckets[:-1], buckets[1:-1])), buckets
    count = values["ccltap_rdma_completion_seconds_count", None]
    total = values["ccltap_rdma_completion_seconds_sum", None]
    assert count == buckets[-1][1], (count, buckets)
    if len(sys.argv) > 3:
        assert count == int(sys.argv[3]), count
    assert 0 < count <= truth["signaled"] / EVERY + truth["queues"], (count, truth)
    # Between the bounds of the buckets, as far as they are known.
    least = sum(bound / 2 * (after - before) for (_, before), (bound, after)
                in zip(buckets[:-1], buckets[1:-1]))
    most = sum(bound * (after - before) for (_, before), (bound, after)
               in zip([(0, 0)] + buckets[:-2], buckets[:-1]))
    assert least <= total, (least, total)
    assert buckets[-1][1] > buckets[-2][1] or total <= most, (total, most)


main()
