# SPDX-License-Identifier: MIT
"""Compares each link of a trace with the truth: what is right, wrong or not ascribed, by how the
trace says that it knows.

Each function here judges one kind of link; doc/score.md says what right means."""
import collections
import itertools

from match import Messages

ROLES = {"service": "service", "uds": "uds", "progress": "progress", "group": "job",
         "root": "bootstrap", "ib-async": "device-events", "socket": "socket-helper", "ras": "ras"}
SHARING = ("service", "uds", "progress")  # a thread of each for a communicator
MESSAGE_LINKS = ("cts-message", "socket-message")

Run = collections.namedtuple("Run", "step replays_after")


class Score:
    def __init__(self):
        self.counts = collections.Counter()  # by link, how it is known, and outcome
        self.faults = []  # what is wrong, in words

    def add(self, link, known, is_right, why=""):
        self.counts[link, known, "right" if is_right else "wrong"] += 1
        if not is_right:
            self.faults.append(f"{link}, {known}: {why}")

    def miss(self, link, count=1):
        if count:
            self.counts[link, None, "not_ascribed"] += count

    def rows(self, config):
        keys = sorted({key[:2] for key in self.counts}, key=lambda key: (key[0], key[1] or "~"))
        return [{"config": config, "link": link, "known": known,
                 **{what: self.counts[link, known, what]
                    for what in ("right", "wrong", "not_ascribed")}} for link, known in keys]


def judge(trace, truth, names, is_whole=True):
    """The score of one run.  is_whole: what the trace lacks is missed, and not lost."""
    score = Score()
    messages = Messages(trace, truth)
    judge_messages(score, trace, truth, messages)
    judge_requests(score, trace, truth, messages)
    sent = judge_pairs(score, trace, truth, messages)
    judge_operations(score, trace, truth, names, messages, sent)
    judge_connections(score, trace, truth, names, messages)
    judge_threads(score, trace, truth, names)
    judge_kernels(score, trace, truth, names, is_whole)
    judge_ranks(score, trace, truth, names)
    if not is_whole:
        for key in [key for key in score.counts if key[2] == "not_ascribed"]:
            del score.counts[key]
    for doubt in names.unsure:
        score.add("scorer", "unsure", False, doubt)
    return score


def judge_messages(score, trace, truth, messages):
    """Each end of a message is one span, of its size and in its time, and nothing else is."""
    for spans, why in messages.wrong:
        for span in spans:
            score.add("message", span["fields"].get("message_known", "exact"), False,
                      f"{span['id']} of {span['pid']} {why}")
    for group, span in messages.span_of.items():
        score.add("message", span["fields"].get("message_known", "exact"), True)
        protocol = span["fields"].get("protocol")
        if protocol:
            score.add("message-protocol", span["fields"].get("buffer_known", "exact"),
                      protocol.upper() == group.lines[0]["protocol"].upper(),
                      f"{span['id']} is {group.lines[0]['protocol']}, not {protocol}")
    score.miss("message", sum(group not in messages.span_of
                              for connection in truth.moved() for group in connection.groups))
    if truth.lost:
        score.add("scorer", "unsure", False, f"{truth.lost[0]} has no connection")


def is_of_sizes(post, message):
    """Whether a request carries what NCCL says of the sizes of several receives: the last one of
    such a message.  What ended before the connection was known does not say what it carries."""
    what = post["fields"].get("net")
    return what == "sizes" or (not what and message["fields"]["requests"] > 1 and
                               post["name"] == "RDMA_WRITE_WITH_IMM")


def judge_requests(score, trace, truth, messages):
    """The work requests that carry a message: its bytes, posted when it was."""
    for connection in truth.moved():
        if connection.direction != "send" or not connection.queues:
            continue
        for group in connection.groups:
            span = messages.span_of.get(group)
            posts = trace.requests_of(span) if span else ()
            size = sum(post["fields"]["bytes"] for post in posts if not is_of_sizes(post, span))
            if size < group.bytes or not posts:
                score.miss("request-message")
                continue
            is_in_time = all(group.posted <= trace.begin(post) <= group.done for post in posts)
            score.add("request-message", "exact", size == group.bytes and is_in_time,
                      f"{span['id']} has {group.bytes} bytes, not {size}")


def judge_pairs(score, trace, truth, messages):
    """A message at the sender and the same at the receiver."""
    linked = set()
    for kind in MESSAGE_LINKS:
        for link in trace.links[kind]:
            ends = [trace.spans[span] for span in link["spans"]
                    if span in trace.spans and trace.spans[span]["layer"] == "net"]
            if len(ends) < 2 or ends[0]["pid"] not in truth.pids:
                continue
            sent, received = (messages.group_of.get(end["id"]) for end in ends[:2])
            is_right = bool(sent and received and sent.pairs == received.pairs)
            score.add("message-message", link["known"], is_right,
                      f"{link['spans'][:3]} are {sent and sent.pairs} and "
                      f"{received and received.pairs}")
            if sent:
                linked.add(sent)
    sent = sends_of(truth)
    score.miss("message-message", len(sent - linked))
    return sent


def sends_of(truth):
    return {group for connection in truth.moved() if connection.direction == "send"
            for group in connection.groups}


# -- Message and operation

def judge_operations(score, trace, truth, names, messages, sent):
    """The operation that a message served, on both ranks."""
    runs = runs_of(truth, names)
    linked = set()
    for link in trace.links["message-kernel"]:
        spans = [trace.spans.get(span) for span in link["spans"]]
        if not spans[1] or spans[1]["pid"] not in truth.pids:
            continue
        groups = [messages.group_of.get(span) for span in link["spans"][1:3]]
        why = fault_of(link, spans, groups, names, runs)
        score.add("message-operation", link["known"], not why,
                  f"{link['spans']} {why}, of {groups[0] and sorted(groups[0].ops)}")
        if groups[0]:
            linked.add(groups[0])
    score.miss("message-operation", len(sent - linked))


def fault_of(link, spans, groups, names, runs):
    """What is wrong with the link of a message and its kernels; empty for nothing."""
    for kernel, group in (spans[0], groups[0]), (spans[3], groups[1]):
        if not group:
            return "is of no message"
        if not kernel:
            return "is of no kernel"
        if not names.launched[launch_of(kernel)] & group.ops:
            return f"is of {kernel['id']}, and not of its kernel"
        replay = names.replays.get((*launch_of(kernel), kernel["fields"].get("launch_call_id")))
        if replay is not None and group in runs and replay != runs[group].replays_after:
            return f"is of {kernel['id']}, another replay"
    if link.get("op_number") and not has_number(link, groups[0], names):
        return f"is said to be of {link['op_key']}"
    line = groups[0].lines[0]
    if link.get("channel") not in (None, line["channel"]):
        return f"is said to be of channel {link['channel']}"
    step = link.get("step")
    if step is not None and groups[0] in runs and step != runs[groups[0]].step:
        return f"is step {runs[groups[0]].step}, not {step}"
    return ""


def has_number(link, group, names):
    """Whether one of its operations has the number that the link says."""
    return any(names.hashes.get(link["comm_key"]) == op.comm and op in names.called
               and names.called[op].op_key == link["op_key"] for op in group.ops)


def launch_of(kernel):
    """Process and call by which a kernel was launched, or captured."""
    fields = kernel["fields"]
    return kernel["pid"], fields.get("captured_call_id") or fields.get("launch_call_id")


def runs_of(truth, names):
    """Which message of its kernel on its connection a group is, and which replay of the kernel;
    nothing for operations that several kernels carry out."""
    runs = {}
    for connection in truth.moved():
        kernel, step, steps = None, 0, {}
        replays = collections.Counter()
        places = {}
        for group in connection.groups:
            kernels = {call for op in group.ops for call in names.calls.get(op, ())}
            if len(kernels) != 1:
                kernel = None
                continue
            is_again = any(steps.get((line["rank"], line["op"]), -1) >= line["step"]
                           for line in group.lines)
            if kernels != {kernel} or is_again:
                kernel, step, steps = kernels.pop(), 0, {}
                replays[kernel] += 1
            for line in group.lines:
                steps[line["rank"], line["op"]] = line["step"]
            places[group] = kernel, step, replays[kernel]
            step += 1
        for group, (kernel, step, replay) in places.items():
            runs[group] = Run(step, replays[kernel] - replay)
    return runs


# -- Connections and threads

def judge_connections(score, trace, truth, names, messages):
    """Of each end of a connection the communicator, channel, peer, index and direction."""
    seen = set()
    spans = {}
    for span in trace.messages:
        spans.setdefault((span["pid"], span["fields"]["net_id"], span["name"][4:]), span)
    for end, connection in messages.connections.items():
        span = spans[end]
        seen.add(connection)
        score.add("connection-direction", "exact", connection.direction == end[2])
        claim_connection(score, span, trace.connections.get(end), connection)
        claim_comm(score, trace, span, names, connection)
    for link in ("direction", "channel", "peer", "index", "communicator"):
        score.miss("connection-" + link, len(set(truth.moved()) - seen))


def claim_connection(score, span, claim, connection):
    fields = span["fields"]
    said, known = fields, fields.get("channel_known")
    if not known and claim and claim["known"]:
        said, known = claim, claim["known"]
    for link, name in ("channel", "channel"), ("peer", "peer_rank"), ("index", "connection_index"):
        value = said.get(name) if known else None
        true = {getattr(end, link) for end in connection.ends}
        if value is None:
            score.miss("connection-" + link)
        else:
            score.add("connection-" + link, known, value in true,
                      f"{span['id']} is {true}, not {value}")


def claim_comm(score, trace, span, names, connection):
    """By the thread that moves its messages."""
    thread = trace.threads.get((span["pid"], span["tid"]))
    if not thread or not thread["comm_key"]:
        score.miss("connection-communicator")
        return
    hashes = {end.comm for end in connection.ends}
    said = names.hashes.get(thread["comm_key"])
    score.add("connection-communicator", thread["comm_known"], said in hashes,
              f"{span['id']} is of {hashes}, not of {said}")


def judge_threads(score, trace, truth, names):
    """Of each thread of NCCL's its role, and the communicator that it works for.  A thread that
    begins when that is gone has none in the truth: it is judged for its role alone."""
    told = {(thread["pid"], thread["tid"]): thread for thread in truth.threads}
    for key, thread in told.items():
        said = trace.threads.get(key)
        if not said or said["role"] == "unknown":
            score.miss("thread-role")
        else:
            score.add("thread-role", said["known"], said["role"] == ROLES[thread["role"]],
                      f"{key} is {thread['role']}, not {said['role']}")
        if thread["role"] not in SHARING or "comm_hash" not in thread:
            continue
        if not said or not said["comm_key"]:
            score.miss("thread-communicator")
            continue
        place = names.hashes.get(said["comm_key"]), said["comm_rank"]
        score.add("thread-communicator", said["comm_known"],
                  place == (thread["comm_hash"], thread["rank"]),
                  f"{key}, {thread['role']}, is not of {place}")
    for key, said in trace.threads.items():
        if key[0] in truth.pids and key not in told and said["role"] != "unknown":
            score.add("thread-role", said["known"], False, f"{key} is none of NCCL's")


# -- Kernels and ranks

def judge_kernels(score, trace, truth, names, is_whole):
    """The calls whose operations a kernel carries out; some of them may be lost."""
    seen = set()
    for link in trace.links["kernel-collective"]:
        kernel, *calls = (trace.spans.get(span) for span in link["spans"])
        if not kernel or kernel["pid"] not in truth.pids:
            continue
        ops = names.launched.get(launch_of(kernel))
        if ops is None:
            continue  # not one of NCCL's device functions: a copy of one rank's
        seen.add(launch_of(kernel))
        said = {names.ops.get((call["pid"], call["call_id"])) for call in calls if call}
        is_right = said == ops or not is_whole and said < ops
        score.add("kernel-operation", link["known"], is_right,
                  f"{kernel['id']} of {kernel['pid']} has {sorted(ops)}, not {said}")
    score.miss("kernel-operation", len(set(names.launched) - seen))


def judge_ranks(score, trace, truth, names):
    """One operation on all of its ranks."""
    places = numbers_of(names)
    ranks = collections.Counter(places.values())
    seen = set()
    for kind in "collective-ranks", "send-recv":
        for link in trace.links[kind]:
            spans = [trace.spans.get(span) for span in link["spans"]]
            ops = [names.ops.get((span["pid"], span["call_id"])) for span in spans if span]
            if None in ops or not ops or spans[0]["pid"] not in truth.pids:
                continue
            said = {places[op] for op in ops}
            score.add("operation-ranks", link["known"],
                      len(said) == 1 and len(set(ops)) == len(ops), f"{link['spans']} are {said}")
            seen.update(said)
    score.miss("operation-ranks", sum(count > 1 and place not in seen
                                      for place, count in ranks.items()))


def numbers_of(names):
    """Each operation by what all of its ranks call it: the n-th of its communicator, or the n-th
    message of one rank to another; from the last one on, as not all ranks are recorded from the
    same one on."""
    places = {}
    for _, ops in itertools.groupby(sorted(names.called, reverse=True),
                                    key=lambda op: (op.comm, op.rank)):
        counts = collections.Counter()
        for op in ops:
            call = names.called[op]
            way = {"Send": ("Send", op.rank, call.peer), "Recv": ("Recv", call.peer, op.rank)}.get(
                call.name, ("all",))
            counts[way] += 1
            places[op] = op.comm, way[1:], counts[way]
    return places
