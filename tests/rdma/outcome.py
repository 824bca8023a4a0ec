#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether what ccltap says of a program that ran in the guest is what happened.

usage: outcome.py CCLTAP CASE-DIR KIND
  KIND as tests/rdma/programs explains it; CASE-DIR as tests/rdma/guest leaves it

What happened is known from tests/verbs/programs/count.c, which sat behind ccltap, and from the
kernel's counters of each device: SENDs that completed, receives that were used up, packets.
Prints what is wrong, a line each, and a last line for the table:
  row SENT RECEIVED COMPLETED HW-SENDS HW-RECVS, then exact, inferred and outstanding of
  post-completion, then exact and inferred of send-receive."""
import glob
import json
import os
import re
import subprocess
import sys

ccltap, folder, kind = sys.argv[1:]
traces = sorted(glob.glob(folder + "/trace*"))


def wrong(text):
    print("wrong:", text)


def text_of(path):
    try:
        with open(os.path.join(folder, path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def output_of(*command, **more):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, **more)
    if done.stderr:
        wrong(f"{' '.join(command[:2])}: {done.stderr.strip()}")
    return done.stdout


for side in "server", "client":
    status = text_of(side + ".status").strip()
    if status != "0":
        wrong(f"the {side} ended with status {status or '(none)'}: " +
              " / ".join(text_of(side + ".out").strip().splitlines()[-4:]))
said = text_of("record")
if not traces or " 0 discarded" not in said or re.search(
        "problem:|could not be recorded|not complete", said):
    wrong(f"ccltap record said: {said.strip()}")

# ---- Requests, receives and completions, as many and each once ----

report = json.loads(output_of(ccltap, "check", "--json", *traces) or "{}")
counted = sorted(text_of("counted").splitlines())
events = output_of("babeltrace2", *traces)
seen = output_of(sys.executable, os.path.join(os.path.dirname(__file__),
                                              "../verbs/expect/trace.py"),
                 input=events).splitlines()
if len(counted) < 2:
    wrong(f"of two programs {len(counted)} were counted")
if counted != seen:
    wrong(f"counted {counted}, in the trace {seen}")
total = {what: sum(int(number) for line in counted
                   for number in re.findall(what + r" (\d+)", line))
         for what in ("sent", "received", "completed")}


def hardware(counter):
    def read(path):
        return sum(int(value) for value in
                   re.findall(rf"/{counter}:(\d+)$", text_of(path), re.MULTILINE))
    return read("after") - read("before")


# ---- What was matched ----

spans = {}
links = []
for line in output_of(ccltap, "timeline", "--format", "jsonl", *traces).splitlines():
    record = json.loads(line)
    if record["type"] == "span" and record["layer"] == "verbs":
        spans[record["id"]] = record
    elif record["type"] == "link" and record["kind"] == "send-receive":
        links.append(record["spans"])
# Not every program asks what became of its sends.
sends = sum(span["name"].startswith("SEND") and span["result"] in ("SUCCESS", None)
            for span in spans.values())
receives = sum(span["name"] == "RECV" and span["result"] == "SUCCESS"
               for span in spans.values())
hw_sends, hw_recvs = hardware("rdma_sends"), hardware("rdma_recvs")
# With a shared receive queue the program ends before it has read all that arrived, and before
# all that it posted has left.
unread = unsent = 0
if kind == "shared":
    unread = max(hw_recvs - receives, 0)
    unsent = min(max(sends - hw_sends, 0),
                 sum(span["name"].startswith("SEND") and span["result"] is None
                     for span in spans.values()))
# Who connects by librdmacm has the kernel send datagrams, too.
by_kernel = hw_recvs - receives - unread
if (by_kernel < 0 or hw_sends - sends + unsent != by_kernel or
        by_kernel and not glob.glob(folder + "/librdmacm")):
    wrong(f"the devices counted {hw_sends} sends and {hw_recvs} receives, "
          f"in the trace are {sends} and {receives}")

none = {"exact": 0, "decoded": 0, "inferred": 0, "unmatched": 0, "outstanding": 0, "why": {}}
matched = {each["kind"]: each for each in report.get("links", ())}
posts = matched.get("post-completion", none)
messages = matched.get("send-receive", none)
# At a disconnect receives end with an error, which may not say which queue they are of.
flushed = posts["why"].get("queue-unknown", 0) if kind == "flushed" else 0
if (report.get("verdict") not in ("ok", "doubtful") or
        kind in ("exact", "one-side") and report["verdict"] != "ok"):
    wrong(f"the verdict is {report.get('verdict')}")
# Of several receives with one wr_id the order tells, if one queue pair alone takes them.
in_order = posts["why"].get("order", 0) if kind == "shared" else 0
unknown = posts["why"].get("ambiguous", 0) if kind == "shared" else 0
if (posts["unmatched"] != unknown or not posts["exact"] or
        posts["inferred"] != flushed + in_order):
    wrong(f"of posts and completions: {posts}")
if kind != "one-side":
    if messages["unmatched"] or messages["exact"] + messages["inferred"] != receives:
        wrong(f"of {receives} messages: {messages}")
    if messages["inferred"] != in_order and kind != "lossy":
        wrong(f"of messages some are not exact: {messages}")
# Each side sends on one queue pair: where no packet was lost the n-th is the n-th.
if kind == "lossy" and hardware("sent_pkts") == hardware("rcvd_pkts"):
    for sender, receiver in links:
        numbers = [re.search(r"\d+$", span).group() for span in (sender, receiver)]
        if numbers[0] != numbers[1]:
            wrong(f"{sender} is said to have come as {receiver}")
            break

print("row", total["sent"], total["received"], total["completed"], hw_sends, hw_recvs,
      posts["exact"], posts["inferred"], posts["outstanding"], messages["exact"],
      messages["inferred"])
