#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the small programs wrote down themselves with what their trace says.

usage: log.py LOGS TIMELINE CHECK [--partial] [--inferred] [--no-links]

LOGS is a folder with a file for each process (pair.c says what a line is), TIMELINE is
`ccltap timeline --format jsonl`, CHECK is `ccltap check --json` ("-": none).
	(none)		all that was posted, completed and received is there, exactly
	--partial	the trace lacks something: nothing that is there is wrong, nothing wrong
			is called exact
	--inferred	links from sender to receiver need not be exact
	--errors	completions have errors: what failed is told at the right request
	--lost		messages did not arrive: as many as are said to be lost

A completion is known by wr_id where those of its queue pair are unique, by order
otherwise, and either way by its time.  A message is known by its token."""
import collections
import json
import os
import sys

OPCODES = ["RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM", "RDMA_READ",
           "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD", "LOCAL_INV", "BIND_MW",
           "SEND_WITH_INV"]
CONSUMING = ("RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM", "SEND_WITH_INV")
STATUSES = {0: "SUCCESS", 5: "WR_FLUSH_ERR", 9: "REM_INV_REQ_ERR", 10: "REM_ACCESS_ERR",
            12: "RETRY_EXC_ERR", 13: "RNR_RETRY_EXC_ERR", 21: "GENERAL_ERR"}

Post = collections.namedtuple("Post", "wr_id opcode bytes token signaled addr rkey begin end")
Done = collections.namedtuple("Done", "wr_id status token bytes begin end")

arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
options = [a for a in sys.argv[1:] if a.startswith("--")]
is_partial = "--partial" in options
problems = []


def bad(text):
    problems.append(text)


class Process:
    def __init__(self, path):
        self.sends = collections.defaultdict(list)     # by qp_num
        self.receives = collections.defaultdict(list)
        self.sent = collections.defaultdict(list)
        self.got = collections.defaultdict(list)
        self.regions = []
        self.queues = []
        for line in open(path):
            kind, *rest = line.split()
            n = [int(word) for word in rest]
            if kind == "mr":
                self.regions.append(n)
                continue
            queue = n[0]
            if kind == "qp":
                self.queues.append(queue)
                continue
            where, value = {
                "post": (self.sends, lambda: Post(n[2], OPCODES[n[3]], *n[4:])),
                "recv": (self.receives, lambda: n[2]),
                "sent": (self.sent, lambda: Done(n[2], n[3], 0, 0, n[4], n[5])),
                "got": (self.got, lambda: Done(*n[2:])),
            }[kind]
            where[queue].append(value())
            if n[1] != len(where[queue]):
                raise SystemExit(f"{path}: {line}")

    def pair(self):
        """(qp_num, seq) of each request to its completion."""
        self.send_done, self.receive_done = {}, {}
        for queue, posts in self.sends.items():
            ids = [post.wr_id for post in posts]
            done = self.sent[queue]
            if len(set(ids)) == len(ids):
                by_id = {id: seq for seq, id in enumerate(ids, 1)}
                told = {by_id[one.wr_id]: one for one in done}
            else:
                signaled = [seq for seq, post in enumerate(posts, 1) if post.signaled]
                told = dict(zip(signaled, done))
            last = None
            for seq in range(len(posts), 0, -1):
                last = told.get(seq, last)
                if last:
                    self.send_done[queue, seq] = last
        for queue, ids in self.receives.items():
            for seq, one in enumerate(self.got[queue], 1):
                if seq <= len(ids):
                    self.receive_done[queue, seq] = one


processes = {}
for name in os.listdir(arguments[0]):
    processes[int(name.split(".")[0])] = Process(os.path.join(arguments[0], name))
for process in processes.values():
    process.pair()

has_keys = any(post.opcode == "SEND_WITH_INV" for process in processes.values()
               for posts in process.sends.values() for post in posts)
spans, links, pids = {}, [], {}
for line in open(arguments[1]):
    record = json.loads(line)
    if record["type"] == "process":
        pids[record["process"]] = record["pid"]
    elif record["type"] == "span" and record["layer"] == "verbs":
        spans[record["id"]] = record
    elif record["type"] == "link":
        links.append(record)


def key_of(id):
    """(pid, qp_num, is a receive, seq); where its making is missing qp_num is not known."""
    span = spans[id]
    queue = processes[span["pid"]].queues[span["fields"]["qp_id"] - 1]
    if span["fields"]["qp_num"] not in (0, queue):
        bad(f"{id}: of {span['fields']['qp_num']}, not {queue}")
    return (span["pid"], queue, ".r" in id, span["fields"]["seq"])


# The trace's clock has an offset that is alike for all; each span bounds it.
low, high = -2**63, 2**63


def bound(time_ns, begin, end):
    global low, high
    low, high = max(low, time_ns - end), min(high, time_ns - begin)


known = {}
for link in links:
    if link["kind"] == "post-completion":
        known[link["spans"][0]] = link["known"]
counts = collections.Counter()
seen = set()
ends = []
for id, span in spans.items():
    if span["name"] in ("post_send", "post_recv"):
        continue
    pid, queue, is_receive, seq = key = key_of(id)
    process = processes[pid]
    fields = span["fields"]
    if key in seen:
        bad(f"{id}: twice")
    seen.add(key)
    posts = (process.receives if is_receive else process.sends)[queue]
    if not 0 < seq <= len(posts):
        bad(f"{id}: nobody posted it")
        continue
    post = posts[seq - 1]
    if int(fields["wr_id"], 0) != (post if is_receive else post.wr_id):
        bad(f"{id}: wr_id {fields['wr_id']}, not {post}")
    if not is_receive:
        if (span["name"], fields["bytes"]) != (post.opcode, post.bytes):
            bad(f"{id}: {span['name']} of {fields['bytes']}, not {post}")
        bound(span["begin_ns"], post.begin, post.end)
    done = (process.receive_done if is_receive else process.send_done).get((queue, seq))
    if span["state"] != "complete":
        counts["open"] += 1
        if done and not is_partial:
            bad(f"{id}: {span['state']}, and {done}")
        continue
    if known.get(id) != "exact":
        counts[known.get(id)] += 1
        if not is_partial and "--errors" not in options:
            bad(f"{id}: its completion is {known.get(id)}")
        continue
    counts["exact"] += 1
    if not done:
        bad(f"{id}: it did not complete")
        continue
    # What is not signalled has none of its own.
    own = is_receive or post.signaled or done.wr_id == post.wr_id and done.status
    status = STATUSES.get(done.status, str(done.status)) if own else "SUCCESS"
    if span["result"] != status:
        bad(f"{id}: {span['result']}, not {status}")
    if is_receive and not done.status:
        imm = int(fields.get("imm_data", "0"), 0).to_bytes(4, "little")
        # A key that was invalidated is not in the trace.
        if not has_keys and int.from_bytes(imm, "big") != done.token or \
                fields["byte_len"] != done.bytes:
            bad(f"{id}: {fields}, not {done}")
    # Nor a time of its own, but for the latest.
    if not own and span["end_ns"] is not None:
        bad(f"{id}: ends at {span['end_ns']}, which nobody knows")
    bound(span["end_ns"] if own else span["end_max_ns"], done.begin, done.end)
if low > high:
    bad(f"times of spans are {low - high} ns apart from those of the log")

# Each request that is missing.
if not is_partial:
    for pid, process in processes.items():
        for is_receive, queues in (False, process.sends), (True, process.receives):
            for queue, posts in queues.items():
                for seq in range(1, len(posts) + 1):
                    if (pid, queue, is_receive, seq) not in seen:
                        bad(f"{pid}: request {seq} of {queue:#x} is missing")

# Who got what.
got = {}
for pid, process in processes.items():
    for (queue, seq), done in process.receive_done.items():
        if not done.status and done.token:
            if done.token in got:
                bad(f"token {done.token} came twice")
            got[done.token] = (pid, queue, True, seq)
linked = {}
for link in links:
    if link["kind"] != "send-receive":
        continue
    sender, receiver = [key_of(id) for id in link["spans"]]
    post = processes[sender[0]].sends[sender[1]][sender[3] - 1]
    counts["link " + link["known"]] += 1
    linked[sender] = link["known"]
    if got.get(post.token) != receiver and link["known"] == "exact":
        bad(f"{link['spans']}: {sender} reached {got.get(post.token)}, not {receiver}")
    elif got.get(post.token) != receiver:
        counts["wrong"] += 1
missing = 0
for pid, process in processes.items():
    for queue, posts in process.sends.items():
        for seq, post in enumerate(posts, 1):
            if post.token in got and not is_partial:
                how = linked.get((pid, queue, False, seq))
                if how != "exact" and not (how and "--inferred" in options):
                    bad(f"message {seq} of {queue:#x} is {how}")

# Memory of the peer: the region is the one that has these bytes.
for id, span in spans.items():
    fields = span["fields"]
    if "remote_addr" not in fields or not fields["bytes"]:
        continue
    if "remote_mr_id" not in fields:
        # A window's key is none of a region.
        if not is_partial and not has_keys:
            bad(f"{id}: of no region")
        continue
    counts["region"] += 1
    peer = processes[pids[fields["remote_process"]]]
    rkey, addr, length = peer.regions[fields["remote_mr_id"] - 1]
    at, is_own = int(fields["remote_addr"], 0), len(processes[span["pid"]].queues) == 2
    if rkey != int(fields["rkey"], 0) or not addr <= at <= addr + length - fields["bytes"]:
        bad(f"{id}: {fields} is not in {addr:#x}, {length}")
    # hugectr's second queue pair is connected to itself.
    if (pids[fields["remote_process"]] == span["pid"]) != (is_own and fields["qp_id"] == 2):
        bad(f"{id}: in process {fields['remote_process']}")

if arguments[2] != "-":
    check = json.load(open(arguments[2]))
    for kind in check["links"]:
        if kind["kind"] in ("post-completion", "send-receive", "request-memory"):
            if kind["unmatched"] + kind["inferred"] != sum(kind["why"].values()):
                bad(f"not all is explained: {kind}")
    why = next(k["why"] for k in check["links"] if k["kind"] == "send-receive")
    sent = [(pid, queue, seq, post) for pid, process in processes.items()
            for queue, posts in process.sends.items()
            for seq, post in enumerate(posts, 1) if post.opcode in CONSUMING]
    failed = [process.send_done[queue, seq].status for pid, queue, seq, _ in sent
              for process in [processes[pid]] if process.send_done[queue, seq].status]
    if "--errors" in options and (why.get("flushed", 0) != failed.count(5) or
                                  why.get("failed", 0) != len(failed) - failed.count(5)):
        bad(f"{why}, and {collections.Counter(failed)}")
    # The last ones may have been sent in vain; nobody knows.
    gone = sum(1 for pid, queue, _, post in sent if post.token not in got)
    if "--lost" in options and (not why.get("lost") or
                                why["lost"] + why.get("peer-missing", 0) != gone):
        bad(f"{why}, and {gone} are gone")
    if options == [] and check["verdict"] != "ok":
        bad(f"the verdict is {check['verdict']}: {check['links']}")

print(" ".join(f"{name}: {n}" for name, n in sorted(counts.items(), key=str)))
for problem in problems[:20]:
    print(problem)
if len(problems) > 20:
    print(f"and {len(problems) - 20} more")
sys.exit(1 if problems else 0)
