# SPDX-License-Identifier: MIT
"""What ccltap tells of NCCL's messages on the wire, for tests that know what was sent."""
import collections
import json
import os
import re
import subprocess

Post = collections.namedtuple(
    "Post", "opcode role bytes begin end is_whole process queue seq request")
Message = collections.namedtuple(
    "Message", "id key pid number requests bytes parts peer begin end is_whole wait known")


class Trace:
    """What `ccltap timeline --format jsonl` tells of what goes over the wire."""

    def __init__(self, path):
        # JSON has the time of day, nib the clock that the trace counts with.
        said = subprocess.run(["babeltrace2", "--output-format=ctf-metadata",
                               os.path.dirname(self.metadata(path))],
                              check=True, capture_output=True, text=True, env=self.plain())
        self.offset = int(re.search(r"\n\s*offset = (\d+);", said.stdout)[1])
        self.messages = {"send": collections.defaultdict(list),
                         "recv": collections.defaultdict(list)}
        self.by_id = {}
        self.pids = {}  # by process
        self.posted = {}  # by process, queue and number
        self.receives = collections.Counter()  # of a receiver's message
        self.queues = collections.defaultdict(set)  # of an end, their numbers
        self.links = collections.defaultdict(list)  # of a receiver's message
        self.flushed = collections.Counter()
        with subprocess.Popen(
                [os.environ.get("CCLTAP", "ccltap"), "timeline", "--format", "jsonl", path],
                stdout=subprocess.PIPE, env=self.plain()) as reader:
            for line in reader.stdout:
                if b'"layer":"net"' in line:
                    self.add_message(json.loads(line))
                elif b'"layer":"verbs"' in line:
                    span = json.loads(line)
                    self.pids[span["process"]] = span["pid"]
                    self.add_post(span)
                elif b'-message","known"' in line:
                    self.add_link(json.loads(line))
        if reader.returncode:
            raise RuntimeError(f"{path}: the timeline ends with {reader.returncode}")

    @staticmethod
    def plain():
        """Without softverbs in the way of the command."""
        return {name: value for name, value in os.environ.items()
                if name not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

    @staticmethod
    def metadata(path):
        for folder, _, files in os.walk(path):
            if "metadata" in files:
                return os.path.join(folder, "metadata")
        raise RuntimeError(f"{path} has no trace")

    def times(self, span):
        end = span["end_ns"] if span["end_ns"] is not None else span.get("end_max_ns")
        return span["begin_ns"] - self.offset, None if end is None else end - self.offset

    def add_message(self, span):
        fields = span["fields"]
        end = span["name"][4:]
        message = Message(span["id"], (span["process"], fields["net_id"]), span["pid"],
                          fields["request"], fields["requests"], fields.get("bytes"),
                          fields.get("parts"),
                          (fields["peer_process"], fields["peer_net_id"]),
                          *self.times(span),
                          span["state"] == "complete" and span["result"] == "SUCCESS",
                          fields.get("wait_max_ns"), fields.get("wait_known"))
        self.messages[end][message.key].append(message)
        self.by_id[span["id"]] = message

    def add_post(self, span):
        fields = span["fields"]
        if "qp_id" not in fields or span["name"].startswith("post_"):
            return
        post = Post(span["name"], fields.get("net"), fields["bytes"], *self.times(span),
                    span["state"] == "complete" and span["result"] == "SUCCESS",
                    span["process"], (fields["qp_id"], fields["generation"], span["name"] == "RECV"),
                    fields["seq"], fields.get("request"))
        self.by_id[span["id"]] = post
        self.posted[post.process, post.queue, post.seq] = post
        if post.role in ("data-imm", "sizes", "receive"):
            self.queues[post.process, fields["net_id"],
                        "recv" if post.role == "receive" else "send"].add(fields["qp_num"])
        if post.role == "receive" and post.request:
            self.receives[post.process, fields["net_id"], post.request] += 1

    def add_link(self, link):
        if link["kind"] == "flush-message":
            self.flushed[link["spans"][0], link["known"]] += 1
            return
        for span in link["spans"]:
            if ".n" in span and ".r" in span:
                self.links[span].append(link)


def faults(trace, send, receive, sizes, known, is_preposted=False, named=0):
    """What is wrong with a message of requests of these sizes: a word, and more.

    What was done by the time named may have no name."""
    for message in send, receive:
        if (message.requests, message.bytes) != (len(sizes), sum(sizes)):
            yield f"size: {message}, and not of {sizes}"
        if not message.is_whole:
            yield f"incomplete: {message}"
    if not receive.begin <= send.begin <= (receive.end or send.begin):
        yield f"order: {send}, {receive}"
    links = trace.links[receive.id]
    if len(links) != 1:
        yield f"link: {len(links)} of it"
        return
    cts, *ends = links[0]["spans"]
    if links[0]["known"] != known:
        yield f"link: {links[0]['known']}, and not {known}"
    if ends[:2] != [send.id, receive.id]:
        yield f"link: of {ends[:2]}, and not {send.id} and {receive.id}"
    cts = trace.by_id.get(cts)
    if not (isinstance(cts, Post) and cts.opcode == "RDMA_WRITE"
            and cts.begin == receive.begin and cts.bytes % len(sizes) == 0
            and (cts.role, cts.request) in (("cts", receive.number), (None, None))):
        yield f"CTS: {cts}"
    # Of requests that were over before the message was known, so that they do not say of which
    # they are, each is there, and not the last of a list alone.
    parts = [part for part in (trace.by_id.get(span) for span in ends[2:])
             if not (isinstance(part, Post) and part.opcode == "RDMA_WRITE"
                     and part.role in ("data", None) and part.request is None)]
    if len(parts) != send.parts or not all(isinstance(part, Post) for part in parts):
        yield f"parts: {parts}, and not {send.parts}"
        return
    yield from faults_of_parts(trace, send, sizes, parts)
    used = trace.receives[receive.key + (receive.number,)]
    if not is_preposted and used != len(parts) and (
            used > len(parts) or receive.begin > named):
        yield f"parts: {used} receives for {len(parts)}"


def faults_of_parts(trace, send, sizes, parts):
    """Each is a list of data, with a last request that has a number."""
    told = [0] * len(sizes)
    posts = list(parts)
    for part in parts:
        # From 2.19 on the last of several has their sizes.
        role = "sizes" if len(sizes) > 1 and part.bytes else "data-imm"
        if part.role not in (role, None) or part.opcode != "RDMA_WRITE_WITH_IMM" \
                or role == "sizes" and part.bytes != 4 * len(sizes):
            yield f"parts: the last is {part}"
        if len(sizes) == 1:
            told[0] += part.bytes
        for place in range(len(sizes)):
            data = trace.posted.get((part.process, part.queue,
                                     part.seq - len(sizes) + place))
            if data and data.opcode == "RDMA_WRITE" and data.role in ("data", None):
                told[place] += data.bytes
                posts.append(data)
                # They were posted with it, and are over with it.
                if data.request != part.request:
                    yield f"parts: {data}, and not of {part.request}"
    if told != sizes:
        yield f"size: of requests {told}, and not {sizes}"
    for post in posts:
        if not post.is_whole or post.request not in (None, send.number):
            yield f"parts: {post}"
