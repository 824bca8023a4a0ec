# SPDX-License-Identifier: MIT
"""Compares samples with what the program and the doubles did.

usage: samples.py JSONL
       samples.py --proxies JSONL: of NCCL's progress threads, some of which have work
"""
import json
import sys

records = [json.loads(line) for line in open(sys.argv[-1])]
samples = [record for record in records if record["type"] == "sample"]


def of(source):
    found = [sample for sample in samples if sample["source"] == source]
    assert found, f"no sample of source {source}"
    return found


def counters(sample):
    return {counter["name"]: counter for counter in sample["counters"]}


if sys.argv[1] == "--proxies":
    threads = {(record["process"], record["tid"]) for record in records
               if record["type"] == "nccl_thread" and record["role"] == "progress"}
    proxies = of("proxy")
    # One that sleeps all the time has none.
    assert {(one["process"], one["tid"]) for one in proxies} <= threads, proxies
    # The first of each has no interval.
    ran = [counters(one) for one in proxies if one["interval_ns"]]
    assert ran and all(one.get("run_ns", one.get("yields"))["growth"] for one in ran), ran
    sys.exit()

ports = of("port")
first, last = counters(ports[0]), [counters(sample) for sample in ports[1:]]
assert ports[0]["subject"] == "soft0/1" and ports[0]["state"] == "ACTIVE", ports[0]
assert ports[0]["interval_ns"] is None, ports[0]
assert first["packet_seq_err"]["value"] == 100 and first["link_downed"]["value"] == 7, first
assert "symbol_error" not in first and "out_of_sequence" not in first, first
# Only what has grown is written again.
assert [c for c in last if "packet_seq_err" in c] == last and len(last) == 1, last
assert last[0]["packet_seq_err"]["value"] == 412, last
assert last[0]["packet_seq_err"]["growth"] == 312, last
assert "link_downed" not in last[0], last

threads = of("thread")
assert all(sample["tid"] is not None and sample["state"] for sample in threads), threads
# The call was seen once before it was old enough to be reported.
assert all(sample["interval_ns"] for sample in threads), threads

gpus = of("gpu")
first = counters(gpus[0])
assert gpus[0]["subject"] == "0000:01:00.0", gpus[0]
assert first["busy_percent"]["value"] == 97 and first["sm_clock_mhz"]["value"] == 1980, first
assert len(gpus) > 1 and counters(gpus[1]).keys() == {"power_mw"}, gpus
assert counters(gpus[1])["power_mw"]["growth"] == 1000, gpus
