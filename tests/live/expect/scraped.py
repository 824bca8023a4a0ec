#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a Prometheus that scrapes two ranks of `paced` says, against what they wrote down.

usage: scraped.py FOLDER MORE MS

Prints lines of TAP without numbers.  A Prometheus at port 9090 has the jobs "http" and "text".
Scrapes come when they come, so what is not there yet is asked for again.
"""
import bisect
import json
import os
import sys
import time
import urllib.parse
import urllib.request

FOLDER, MORE, MS = sys.argv[1], *map(int, sys.argv[2:])
BYTES = 4096
OPERATIONS = 'ccltap_nccl_communicator_operations_total{job="%s",recording="job",rank="%d",function="ncclAllReduce"}'
BUS = 'ccltap_nccl_communicator_bus_bytes_total{job="%s",recording="job",rank="%d",function="ncclAllReduce"}'
BEHIND = """max by (communicator) (sum by (rank, communicator) (ccltap_nccl_communicator_operations_total{job="%s",recording="job"}))
- on (communicator) group_right () sum by (rank, communicator) (ccltap_nccl_communicator_operations_total{job="%s",recording="job"})"""


def ok(is_right, sentence, *details):
    print(("ok - " if is_right else "not ok - ") + sentence)
    if not is_right:
        for detail in details:
            print("#", str(detail)[:800].replace("\n", " | "))
    sys.stdout.flush()


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def ask(path, **words):
    try:
        return json.loads(get(f"http://127.0.0.1:9090/api/v1/{path}?{urllib.parse.urlencode(words)}"))["data"]
    except OSError:  # it is starting
        return None


def query(expression, at=None):
    """{labels: value}; only the rank is needed of the labels."""
    data = ask("query", query=expression, **({"time": at} if at else {}))
    return {one["metric"].get("rank"): float(one["value"][1]) for one in data["result"]} if data else {}


def log(rank):
    with open(f"{FOLDER}/log.{rank}", encoding="ascii") as file:
        return [int(line.split()[0]) / 1e9 for line in file if line.endswith("\n")]


def calls_between(rank, begin, end):
    times = log(rank)
    return bisect.bisect(times, end) - bisect.bisect(times, begin)


def within(seconds, sentence, attempt):
    """Attempts return what was seen, and whether that is right."""
    until = time.monotonic() + seconds
    while True:
        is_right, seen = attempt()
        if is_right or time.monotonic() > until:
            ok(is_right, sentence, seen)
            return
        time.sleep(0.5)


def put(name, text=""):
    """Whoever waits for the file finds all of it."""
    with open(f"{FOLDER}/{name}.new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(f"{FOLDER}/{name}.new", f"{FOLDER}/{name}")


def is_near(value, expected):
    return value is not None and expected > 0 and abs(value - expected) <= 0.01 * expected


def rates_by_http():
    """rate() over 8 s in which the rank's pace was even."""
    at = time.time()
    seen = []
    for rank in range(2):
        expected = calls_between(rank, at - 8, at) / 8
        operations = query(f"rate({OPERATIONS % ('http', rank)}[8s])", at).get(str(rank))
        bus = query(f"rate({BUS % ('http', rank)}[8s])", at).get(str(rank))
        # Of two ranks the bus bandwidth is the bytes by the second.
        seen.append((operations, bus and bus / BYTES, expected))
    is_even = all(abs(expected - 1000 / MS) < 5 for _, _, expected in seen)
    return is_even and all(is_near(operations, expected) and is_near(bus, expected)
                           for operations, bus, expected in seen), seen


def rates_by_text():
    """ccltap writes the file every 5 s, and the exporter says when it was: no time is guessed."""
    operations, mtime = OPERATIONS % ("text", 0), 'node_textfile_mtime_seconds{file=~".*/job.prom"}'
    written = f'scalar({mtime} - {mtime} offset 6s)'
    at = time.time()
    value = query(f"({operations} - {operations} offset 6s) / {written}", at).get("0")
    end = list(query(mtime, at).values())
    span = list(query(f"{mtime} - {mtime} offset 6s", at).values())
    if not end or not span or span[0] <= 0:
        return False, (end, span)
    expected = calls_between(0, end[0] - span[0], end[0]) / span[0]
    return is_near(value, expected), (value, expected)


def sums(job, count):
    def attempt():
        seen = [query(OPERATIONS % (job, rank)).get(str(rank)) for rank in range(2)]
        return seen == [count + MORE, count], seen
    return attempt


def jobs(expression, expected):
    """{(recording, job_id): value} of rank 0."""
    def attempt():
        data = ask("query", query=expression) or {"result": []}
        seen = {(one["metric"].get("recording"), one["metric"].get("job_id")): float(one["value"][1])
                for one in data["result"]}
        return seen == expected, (seen, data)
    return attempt


def late(job):
    def attempt():
        seen = query(BEHIND % (job, job))
        return seen == {"0": 0, "1": MORE}, seen
    return attempt


def alert(name, **labels):
    def attempt():
        data = ask("alerts") or {"alerts": []}
        firing = [one["labels"] for one in data["alerts"] if one["state"] == "firing"]
        return any({"alertname": name, **labels}.items() <= one.items() for one in firing), data
    return attempt


def main():
    within(120, "by HTTP, operations and bus bandwidth by the second are the program's", rates_by_http)
    within(60, "by the textfile collector they are, too, over the time between two files", rates_by_text)
    # Neither rank can have called as often when it finds this.
    count = max(len(log(0)), len(log(1))) + 5000 // MS
    put("sums", f"{count}\n")
    within(60, "by HTTP, the sums are the program's", sums("http", count))
    within(30, "by the textfile collector, too", sums("text", count))
    ok([len(log(0)), len(log(1))] == [count + MORE, count], "as the ranks wrote them down", len(log(0)), count)
    for job in ("http", "text"):
        within(20, f"rank 1 is the late one, by what it called fewer: {job}", late(job))
    within(30, "the alert for a rank that is behind fires", alert("NcclRankIsBehind", rank="1"))
    within(30, "the files of two jobs are both there", jobs(
        'ccltap_processes{job="text",rank="0"}', {("job", None): 1, ("other", "12"): 1}))
    within(30, "and the exporter has nothing to say", jobs(
        'node_textfile_scrape_error', {(None, None): 0}))
    within(30, "by HTTP there is one", jobs('ccltap_processes{job="http",rank="0"}', {("job", None): 1}))
    put("hang")
    within(30, "the alert for a call that does not return fires",
           alert("NcclCallDoesNotReturn", rank="0", function="ncclCommInitRank"))
    for name, port in (("http", 9000), ("text", 9100)):
        with open(f"{FOLDER}/{name}.got", "w", encoding="utf-8") as file:
            file.write(get(f"http://127.0.0.1:{port}/metrics"))


main()
