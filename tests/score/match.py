# SPDX-License-Identifier: MIT
"""Which span of a trace is which line of the truth, found without what is to be judged: by
addresses, queue pairs, ports, times of one clock and the order of calls.

What cannot be told apart so is `unsure`: the scorer's own doubt, and never counted as right."""
import bisect
import collections

from truth import Op

Call = collections.namedtuple("Call", "name peer op_key")

# Calls that move data: those that mini-NCCL numbers.
MOVING = {"ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast", "ncclBcast",
          "ncclReduce", "ncclSend", "ncclRecv", "ncclAlltoAll", "ncclGather", "ncclScatter"}
FAILED = {None, "ncclSuccess", "ncclInProgress"}


class Names:
    """What numbers of a recording mean, found where nothing of it is missing: the same
    recording with packets dropped is read with them."""

    def __init__(self, trace, truth, is_late=False):
        self.unsure = []
        self.comms = {}  # hash and rank, by process and comm_id
        self.hashes = {}  # of keys
        self.ops = {}  # by process and call
        self.called = {}  # Call, by Op
        self.launched = collections.defaultdict(set)  # Ops, by process and call of the launch
        self.calls = {}  # of launches: by Op
        self.replays = {}  # of a kernel in a graph: how many there are after it
        self.name_comms(trace, truth)
        self.name_replays(trace)
        self.name_calls(trace, truth, is_late)
        self.name_launches(trace, truth)

    def name_comms(self, trace, truth):
        """Each address is of several communicators, one after the other."""
        there = collections.defaultdict(list)
        for (pid, number), comm in sorted(trace.comms.items()):
            if pid in truth.pids and comm["rank"] is not None:
                there[pid, comm["comm"]].append((number, comm))
        for place, comms in there.items():
            told = truth.comms[place]
            if len(told) != len(comms):
                # Those that ended before a recording began are not in it.
                told = told[len(told) - len(comms):]
            for (number, comm), one in zip(comms, told):
                if (comm["rank"], comm["nranks"]) != (one["rank"], one["nranks"]):
                    self.unsure.append(f"communicator {number} of {place} is not {one}")
                    continue
                self.comms[place[0], number] = one["comm_hash"], one["rank"]
                if comm["comm_key"]:
                    self.hashes.setdefault(comm["comm_key"], one["comm_hash"])

    def name_calls(self, trace, truth, is_late):
        """The n-th call of a rank on a communicator; of a recording that began late the n-th
        from the end."""
        last = collections.defaultdict(int)
        for op in truth.ops:
            last[op.comm, op.rank] = max(last[op.comm, op.rank], op.number + 1)
        for (pid, number), calls in trace.calls.items():
            if (pid, number) not in self.comms:
                continue
            comm, rank = self.comms[pid, number]
            calls = sorted((call for call in calls if call["name"] in MOVING
                            and not call["inner"] and call["result"] in FAILED),
                           key=lambda call: call["call_id"])
            first = 0
            if is_late:
                # What moves nothing is called and not launched: the last of these may be more.
                while calls and is_empty(calls[-1]["fields"]):
                    calls.pop()
                first = last[comm, rank] - len(calls)
            elif len(calls) < last[comm, rank]:
                self.unsure.append(f"{pid} made more calls than its {len(calls)} in the trace")
                continue
            for place, call in enumerate(calls, first):
                op = Op(comm, rank, place)
                told = truth.ops.get(op)
                name = call["name"][4:].replace("Bcast", "Broadcast")
                if told and told != name:
                    self.unsure.append(f"{call['name']} {call['call_id']} of {pid} is {told}")
                    break
                self.ops[pid, call["call_id"]] = op
                self.called[op] = Call(name, call["fields"].get("peer"), call["op_key"])

    def name_launches(self, trace, truth):
        """A launch was told of by its thread right after the call of the driver."""
        for launch in truth.launches:
            spans = trace.launches.get((launch["pid"], launch["tid"]), [])
            place = bisect.bisect(spans, launch["ns"], key=trace.begin) - 1
            if place < 0:
                continue
            for op in launch["ops"]:
                number = Op(launch["comm_hash"], launch["rank"], op["op"])
                call = launch["pid"], spans[place]["call_id"]
                self.launched[call].add(number)
                self.calls.setdefault(number, set()).add(call)

    def name_replays(self, trace):
        replays = collections.defaultdict(list)
        for span in trace.spans.values():
            captured = span["fields"].get("captured_call_id")
            if span["layer"] == "gpu" and captured:
                replays[span["pid"], captured].append(span)
        for kernel, spans in replays.items():
            spans.sort(key=lambda span: span["begin_ns"], reverse=True)
            for place, span in enumerate(spans):
                self.replays[*kernel, span["fields"]["launch_call_id"]] = place


def is_empty(fields):
    return "peer" not in fields and 0 in (
        fields.get(name) for name in ("count", "sendcount", "recvcount"))


class Messages:
    """Spans of messages with the groups of lines that they are."""

    def __init__(self, trace, truth):
        self.group_of = {}  # by id of the span
        self.span_of = {}  # by group
        self.wrong = []
        self.connections = {}  # by process, net_id and direction
        ends = collections.defaultdict(list)
        for span in trace.messages:
            if span["pid"] in truth.pids:
                ends[span["pid"], span["fields"]["net_id"], span["name"][4:]].append(span)
        for end, spans in ends.items():
            self.take_end(trace, truth, end, spans)

    def take_end(self, trace, truth, end, spans):
        pid = end[0]
        is_socket = spans[0]["fields"].get("transport") == "socket"
        if is_socket:
            found = {truth.of_port.get((pid, *(trace.port_of(span) or (0, 0))))
                     for span in spans}
        else:
            found = {truth.of_queue.get((pid, *(queue or ("", 0))))
                     for queue in trace.queues_of(spans[0])}
        found.discard(None)
        if len(found) != 1 or next(iter(found)).direction != end[2]:
            self.wrong.append((spans, f"{end} is not one connection of {len(found)}"))
            return
        connection = next(iter(found))
        self.connections[end] = connection
        posted = [group.posted for group in connection.groups]
        for span in spans:
            # Over sockets messages are counted always; over verbs a message is that whose
            # post began last.
            place = span["fields"]["request"] - 1 if is_socket else \
                bisect.bisect(posted, trace.begin(span)) - 1
            self.take(trace, span, connection, place)

    def take(self, trace, span, connection, place):
        if not 0 <= place < len(connection.groups):
            self.wrong.append(([span], "was not sent"))
            return
        group = connection.groups[place]
        begin, end = trace.begin(span), trace.end(span)
        size = span["fields"].get("bytes")
        if group in self.span_of:
            self.wrong.append(([span], f"is {self.span_of[group]['id']} again"))
        elif not group.posted <= begin <= group.done or (end or 0) > group.done:
            self.wrong.append(([span], f"is not from {group.posted} to {group.done}"))
        elif size not in (None, group.bytes):
            self.wrong.append(([span], f"has {group.bytes} bytes"))
        else:
            self.group_of[span["id"]] = group
            self.span_of[group] = span
