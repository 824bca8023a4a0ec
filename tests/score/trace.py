# SPDX-License-Identifier: MIT
"""What ccltap says of a recording (`ccltap timeline --format jsonl`), and what events say by
which that can be compared with what a program wrote: adapters, queue pairs, ports.

It hides how the two readings are made, and turns times of the day into those of the clock that
programs read."""
import collections
import json
import os
import re
import subprocess

# Of events: what objects are called outside of the process.
EVENTS = re.compile(r" (?:verbs|tap|net):(?:statedump_)?"
                    r"(context|qp|connect|accept|socket|send|recv): .*?vpid = (\d+),")
FIELD = {name: re.compile(rf"\b{name} = \"?([^,}} \"]+)") for name in (
    "vtid", "context_id", "device", "qp_id", "qp_num", "socket_id", "local", "peer", "begin_ns")}
# In the id of a work request.
QUEUE = re.compile(r"\d+\.q(\d+)\.")
# Of work requests that data goes over.
DIRECTIONS = {"data": "send", "data-imm": "send", "sizes": "send", "receive": "recv"}
LAUNCHES = re.compile(r"cuLaunchKernel.*")


class Trace:
    def __init__(self, path, ccltap):
        self.offset = offset_of(path)
        self.spans = {}  # by id: messages, kernels, launches, calls
        self.messages = []
        self.calls = collections.defaultdict(list)  # by process and comm_id
        self.launches = collections.defaultdict(list)  # by process and thread
        self.links = collections.defaultdict(list)  # by kind
        self.comms = {}  # by process and comm_id: the latest that is known of each
        self.threads = {}  # by process and thread
        self.queues = collections.defaultdict(set)  # qp_id, by process, net_id, direction
        # Work requests of a message, by process, net_id, direction and its number; those that
        # were over before this was known are linked with it, by its id.
        self.requests = collections.defaultdict(list)
        self.parts = collections.defaultdict(list)
        self.posts = {}  # work requests by id
        self.connections = {}  # by process, net_id and direction
        self.loss = {}
        self.take_events(path)
        for line in lines_of([ccltap, "timeline", "--format", "jsonl", path]):
            self.take(json.loads(line))

    # -- Events

    def take_events(self, path):
        contexts, numbers = {}, {}
        self.ports, self.headers = {}, {}
        for line in lines_of(["babeltrace2", path]):
            found = EVENTS.search(line)
            if not found:
                continue
            event, pid = found[1], int(found[2])
            if event == "context":
                contexts[pid, field(line, "context_id")] = field(line, "device")
            elif event == "qp":
                numbers[pid, int(field(line, "qp_id"))] = \
                    field(line, "context_id"), int(field(line, "qp_num"), 0)
            elif event in ("send", "recv"):
                # Two threads of a process may begin in the same nanosecond.
                thread = pid, int(field(line, "vtid"))
                self.headers[*thread, event, int(field(line, "begin_ns"))] = \
                    field(line, "socket_id")
            else:
                ends = [field(line, name).rpartition(":")[2] for name in ("local", "peer")]
                if all(end.isdigit() for end in ends):
                    self.ports[pid, field(line, "socket_id")] = tuple(map(int, ends))
        self.adapters = {(pid, queue): (contexts.get((pid, context)), number)
                         for (pid, queue), (context, number) in numbers.items()}

    def port_of(self, message):
        """Of a message over sockets, that of its header."""
        direction, begin = message["name"][4:], self.begin(message)
        socket = self.headers.get((message["pid"], message["tid"], direction, begin))
        return self.ports.get((message["pid"], socket))

    def queues_of(self, message):
        """Of a message over verbs: adapter and number of each queue pair of its end."""
        end = message["pid"], message["fields"]["net_id"], message["name"][4:]
        return {self.adapters.get((message["pid"], queue)) for queue in self.queues[end]}

    def requests_of(self, message):
        """The work requests that carry a message."""
        fields = message["fields"]
        end = message["pid"], fields["net_id"], message["name"][4:]
        found = {post["id"]: post for post in self.requests[*end, fields["request"]]}
        found |= {part: self.posts[part] for part in self.parts[message["id"]]
                  if part in self.posts}
        return found.values()

    # -- Records

    def take(self, record):
        kind = record["type"]
        if kind == "span":
            self.take_span(record)
        elif kind == "link":
            self.links[record["kind"]].append(record)
            if record["kind"] == "cts-message":
                self.take_queues(record["spans"])
        elif kind == "communicator":
            self.comms[record["pid"], record["comm_id"]] = record
        elif kind == "connection":
            direction = {"receive": "recv"}.get(record["direction"], record["direction"])
            self.connections[record["pid"], record["net_id"], direction] = record
        elif kind == "nccl_thread":
            self.threads[record["pid"], record["tid"]] = record
        elif kind == "trace" and record["loss"]:
            self.loss = record["loss"]

    def take_span(self, span):
        layer, fields = span["layer"], span["fields"]
        if layer == "verbs":
            self.posts[span["id"]] = span
            direction = DIRECTIONS.get(fields.get("net"))
            if direction:
                end = span["pid"], fields["net_id"], direction
                self.queues[end].add(fields["qp_id"])
                if fields.get("request"):
                    self.requests[*end, fields["request"]].append(span)
            return
        self.spans[span["id"]] = span
        if layer == "net":
            self.messages.append(span)
        elif layer == "nccl" and span["comm_id"]:
            self.calls[span["pid"], span["comm_id"]].append(span)
        elif layer == "cuda" and LAUNCHES.fullmatch(span["name"]):
            self.launches[span["pid"], span["tid"]].append(span)

    def take_queues(self, spans):
        """The first requests of a connection do not say of which it is; their link does."""
        cts, sent, received, *parts = spans
        self.parts[sent] += parts
        for end, requests in (sent, parts), (received, [cts]):
            end = self.spans.get(end)
            for request in requests if end else ():
                found = QUEUE.match(request)
                if found:
                    self.queues[end["pid"], end["fields"]["net_id"], end["name"][4:]].add(
                        int(found[1]))

    def begin(self, span):
        return span["begin_ns"] - self.offset

    def end(self, span):
        return None if span["end_ns"] is None else span["end_ns"] - self.offset


def field(line, name):
    found = FIELD[name].search(line, line.rindex("vtid"))
    return found[1] if found else ""


def lines_of(command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace",
                          env=plain()) as reader:
        yield from reader.stdout
    if reader.returncode:
        raise RuntimeError(f"{' '.join(command)} ends with {reader.returncode}")


def plain():
    """Without doubles in the way of a command."""
    return {name: value for name, value in os.environ.items()
            if name not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}


def offset_of(path):
    for folder, _, files in os.walk(path):
        if "metadata" in files:
            said = "\n".join(lines_of(["babeltrace2", "--output-format=ctf-metadata", folder]))
            return int(re.search(r"\n\s*offset = (\d+);", said)[1])
    raise RuntimeError(f"{path} has no trace")
