# SPDX-License-Identifier: MIT
"""What mini-NCCL told a profiler plugin, compared with its own truth.

usage: profiled.py FOLDER [--version 4|5] [--spoil HOW]

The folder has the truth (truth.PID.jsonl, see tests/doubles/nccl/README) and what
programs/profiler_log.c wrote (events.PID.jsonl), of the same run.  With --spoil what was told
is changed first, so that the comparison has to fail.
"""

import argparse
import collections
import glob
import json

SIZES = {
    "ncclInt8": 1,
    "ncclInt32": 4,
    "ncclUint32": 4,
    "ncclInt64": 8,
    "ncclUint64": 8,
    "ncclFloat16": 2,
    "ncclFloat32": 4,
    "ncclFloat64": 8,
    "ncclBfloat16": 2,
}
CALLS = {"GroupApi", "CollApi", "P2pApi", "KernelLaunch"}
# In the order of NCCL's enum; what is told more than once may be told again.
STATES = {
    "GroupApi": [[23, 24]],
    "ProxyOp": [[19]],
    "ProxyStep": [[8, 20, 9], [10, 11, 12]],
    "ProxyCtrl": [[13], [14], [15, 16], [17, 18]],
    "KernelCh": [[22]],
}
SEND_WAIT, RECV_FLUSH_WAIT, PEER_WAIT, RECV_WAIT = 9, 11, 20, 10
APPEND_END, KERNEL_STOP = 18, 22

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--version", type=int, default=5)
parser.add_argument("--spoil", choices=("bytes", "step", "parent", "state", "thread", "number"))
options = parser.parse_args()


def lines(name):
    """All records of a kind of file, in the order in which each process wrote them."""
    found = []
    for path in sorted(glob.glob(f"{options.folder}/{name}.*.jsonl")):
        with open(path, encoding="utf-8") as file:
            found += map(json.loads, file)
    return found


class Event:
    """One that was begun."""

    def __init__(self, line, number):
        self.__dict__.update(line)
        self.number = number
        self.states = []
        self.stop = None
        self.children = []


def read():
    """Contexts and events by their handles."""
    contexts, events = {}, {}
    for number, line in enumerate(lines("events")):
        call = line["call"]
        if call == "init":
            assert line["version"] == options.version, line
            contexts[line["context"]] = line
            line["is_over"] = False
        elif call == "finalize":
            assert not contexts[line["context"]]["is_over"], line
            contexts[line["context"]]["is_over"] = True
        elif call == "start":
            assert line["handle"] not in events, line
            events[line["handle"]] = Event(line, number)
        else:
            event = events[line["handle"]]
            assert event.stop is None, ("after its end", line, vars(event))
            assert event.pid == line["pid"], line
            if call == "stop":
                event.stop = line
            else:
                event.states.append(line)
    return contexts, events


def spoil(events):
    """Tells one thing otherwise than it was."""
    steps = [event for event in events.values() if event.type == "ProxyStep"]
    if options.spoil == "bytes":
        next(s for s in steps[3].states if s["state"] in (9, 11))["argument"] += 4
    elif options.spoil == "step":
        steps[5].step += 1
    elif options.spoil == "parent":
        other = next(event for event in steps if event.parent != steps[0].parent)
        steps[0].parent = other.parent
    elif options.spoil == "state":
        steps[2].states.reverse()
    elif options.spoil == "thread":
        steps[1].tid += 1
    elif options.spoil == "number":
        next(event for event in events.values() if event.type == "Coll").seq += 1


def check_states(event):
    """In their order, each once but for those that NCCL may tell again."""
    seen = [state["state"] for state in event.states]
    times = [event.ns] + [state["ns"] for state in event.states] + [event.stop["ns"]]
    assert times == sorted(times), vars(event)
    # A send that the network does not take yet is tried again.
    single = [s for i, s in enumerate(seen) if s != PEER_WAIT or seen[i - 1] != PEER_WAIT]
    assert single in STATES.get(event.type, [[]]), (seen, vars(event))


def state(event, number):
    """The first such state."""
    return next(s for s in event.states if s["state"] == number)


def check_tree(events, contexts):
    """Parents are there, of the right kind, and begun before."""
    kinds = {
        "CollApi": {"GroupApi"},
        "P2pApi": {"GroupApi"},
        "KernelLaunch": {"GroupApi"},
        "Coll": {"CollApi"} if options.version == 5 else {"Group"},
        "P2p": {"P2pApi"} if options.version == 5 else {"Group"},
        "ProxyOp": {"Coll", "P2p"},
        "ProxyStep": {"ProxyOp"},
        "KernelCh": {"Coll", "P2p"},
    }
    for event in events.values():
        assert options.version == 5 or event.type not in CALLS, vars(event)
        assert event.type in kinds.keys() | {"GroupApi", "Group", "ProxyCtrl"}, vars(event)
        assert event.stop is not None, ("no end", vars(event))
        check_states(event)
        if event.type not in kinds:
            assert event.parent == 0, vars(event)
            continue
        parent = events[event.parent]
        parent.children.append(event)
        assert parent.type in kinds[event.type], (vars(event), vars(parent))
        assert parent.ns <= event.ns, (vars(event), vars(parent))
        assert parent.context == event.context or parent.type == "GroupApi"
        if event.type in ("CollApi", "P2pApi", "ProxyStep"):
            assert event.stop["ns"] <= parent.stop["ns"], (vars(event), vars(parent))
        if event.type in ("Coll", "P2p", "ProxyOp", "ProxyStep"):
            assert event.rank == contexts[event.context]["rank"], vars(event)
        if event.type in ("Coll", "P2p"):
            group = events[event.group] if options.version == 5 else parent
            assert group.type == "Group", vars(group)
            assert group.ns <= event.ns and event.stop["ns"] <= group.stop["ns"]


def check_comms(contexts, truth):
    """A context for each communicator of each rank, all given back."""
    told = sorted((c["comm_hash"], c["rank"], c["nranks"]) for c in contexts.values())
    real = sorted(
        (line["comm_hash"], line["rank"], line["nranks"])
        for line in truth
        if line["record"] == "communicator"
    )
    assert told == real, (told, real)
    assert all(context["is_over"] for context in contexts.values()), "not finalized"


def own(context):
    """Of whom a context is."""
    return context["comm_hash"], context["rank"]


def launched(truth):
    """For each rank of a communicator what it launched: once, and by graphs each time."""
    found = collections.defaultdict(list)
    for line in truth:
        if line["record"] != "launch" or line["kind"] not in ("kernel", "replay"):
            continue
        found[line["comm_hash"], line["rank"]].append(line)
    for own_lines in found.values():
        own_lines.sort(key=lambda line: line["ns"])
    return found


def is_p2p(op):
    """Of the truth."""
    return op["function"] in ("Send", "Recv")


def check_task(event, op):
    """An event of an operation that was launched."""
    assert event.func == op["function"], (vars(event), op)
    if event.type == "Coll":
        assert event.count * SIZES[event.datatype] == op["bytes"], (vars(event), op)
        assert event.root == op["root"], (vars(event), op)
        assert (event.algo, event.proto) == (op["algorithm"], op["protocol"]), (vars(event), op)
    else:
        assert event.count == op["count"], (vars(event), op)
        assert event.peer == op["root"], (vars(event), op)
    channels = bin(int(op["channels"], 16)).count("1")
    # One to itself has no connection, and channels for its copy.
    assert event.channels == channels or (channels == 0 and event.channels >= 1)
    event.op = op


def check_tasks(events, contexts, truth):
    """Each operation of each launch is a Coll or a P2p, in order."""
    told = collections.defaultdict(list)
    for event in sorted(events.values(), key=lambda event: (event.ns, event.number)):
        if event.type in ("Coll", "P2p"):
            told[own(contexts[event.context])].append(event)
    real = launched(truth)
    counted = collections.Counter()
    for owner in told.keys() | real.keys():
        ops = [
            (op, line)
            for line in real[owner]
            if line["kind"] == "replay" or not line["captured"]
            for op in line["ops"]
        ]
        assert len(ops) == len(told[owner]), (owner, len(ops), len(told[owner]))
        for event, (op, line) in zip(told[owner], ops):
            check_task(event, op)
            if event.type != "Coll":
                continue
            key = owner, event.func
            assert event.seq == counted[key], (vars(event), counted[key])
            # What graphs run counts only where channels are told of, as here.
            counted[key] += 1 if line["kind"] == "kernel" or counts_replays(events) else 0


def counts_replays(events):
    """Whether the plugin wanted channels."""
    return any(event.type == "KernelCh" for event in events.values())


def check_calls(events, contexts, truth):
    """Each operation was one call, or of an all-to-all and its like several."""
    calls = collections.defaultdict(list)
    for event in sorted(events.values(), key=lambda event: (event.ns, event.number)):
        if event.type in ("CollApi", "P2pApi"):
            calls[own(contexts[event.context])].append(event)
    for owner, own_lines in launched(truth).items():
        ops = [
            (op, line["captured"])
            for line in own_lines
            if line["kind"] == "kernel"
            for op in line["ops"]
        ]
        ops.sort(key=lambda entry: entry[0]["op"])
        assert len(ops) == len(calls[owner]), (owner, len(ops), len(calls[owner]))
        by_op = collections.defaultdict(list)
        for (op, captured), call in zip(ops, calls[owner]):
            by_op[op["op"]].append((op, captured, call))
        for entries in by_op.values():
            assert sorted((op["function"], op["count"]) for op, _, _ in entries) == sorted(
                (call.func, call.count) for _, _, call in entries
            ), entries
            for op, captured, call in entries:
                assert call.captured == captured, vars(call)
                assert (call.type == "P2pApi") == is_p2p(op), vars(call)
                assert any(op["op"] == child.op["op"] for child in call.children)


def check_launches(events, contexts, truth):
    """Each kernel has its launch, by the same thread and into the same stream."""
    told = collections.defaultdict(list)
    for event in sorted(events.values(), key=lambda event: (event.ns, event.number)):
        if event.type == "KernelLaunch":
            told[own(contexts[event.context])].append(event)
    for owner, own_lines in launched(truth).items():
        kernels = [line for line in own_lines if line["kind"] == "kernel"]
        assert len(kernels) == len(told[owner]), owner
        for kernel, event in zip(kernels, told[owner]):
            assert (event.tid, event.stream) == (kernel["tid"], kernel["stream"])
            assert event.stop["ns"] <= kernel["ns"], (vars(event), kernel)


def check_messages(events, contexts, truth):
    """Each message is a step, with its connection, operation, bytes and times."""
    told = collections.defaultdict(list)
    for event in sorted(events.values(), key=lambda event: (event.ns, event.number)):
        if event.type != "ProxyOp":
            continue
        steps = sorted(event.children, key=lambda step: step.number)
        assert [step.step for step in steps] == list(range(event.steps)), vars(event)
        parent = events[event.parent]
        key = own(contexts[event.context]) + (
            event.channel,
            event.peer,
            event.is_send,
            parent.type == "P2p",
        )
        told[key] += [(step, event, parent) for step in steps]
    real = collections.defaultdict(list)
    for line in truth:
        if line["record"] == "message":
            key = (
                line["comm_hash"],
                line["rank"],
                line["channel"],
                line["peer"],
                line["direction"] == "send",
                line["index"] == 1,
            )
            real[key].append(line)
    assert told.keys() == real.keys(), told.keys() ^ real.keys()
    assert real, "no message"
    posts = collections.Counter(
        (line["pid"], line["posted_ns"], tuple(line["qps"]))
        for messages in real.values()
        for line in messages
        if line["direction"] == "send"
    )
    for key, messages in real.items():
        messages.sort(key=lambda line: line["message"])
        assert len(messages) == len(told[key]), (key, len(messages), len(told[key]))
        for message, (step, event, parent) in zip(messages, told[key]):
            check_message(message, step, event, parent, posts)


def check_message(message, step, event, parent, posts):
    """One of them."""
    is_send = message["direction"] == "send"
    known = SEND_WAIT if is_send else RECV_FLUSH_WAIT
    assert step.step == message["step"], (vars(step), message)
    assert parent.op["op"] == message["op"], (parent.op, message)
    assert state(step, known)["argument"] == message["bytes"], (vars(step), message)
    # With flags a chunk of collectives takes at most twice its bytes.
    assert message["bytes"] <= 2 * event.chunk, (vars(event), message)
    # Who posts is the process of the event, and who launched is in it.
    assert event.pid == message["pid"], message
    assert event.of_pid == parent.pid, (vars(event), vars(parent))
    assert (event.of_pid == event.pid) == (message["comm"] is not None), message
    if is_send:
        assert state(step, PEER_WAIT)["ns"] <= message["posted_ns"]
        # One that goes with others' is posted when the last of them is ready.
        if posts[message["pid"], message["posted_ns"], tuple(message["qps"])] == 1:
            assert message["posted_ns"] <= state(step, SEND_WAIT)["ns"]
        assert message["done_ns"] <= step.stop["ns"]
    else:
        assert step.ns <= message["posted_ns"] <= state(step, RECV_WAIT)["ns"]
        assert message["done_ns"] <= state(step, RECV_FLUSH_WAIT)["ns"]


def check_channels(events):
    """Each channel of a kernel is told of once, with a time of the GPU."""
    by_parent = collections.Counter()
    for event in events.values():
        if event.type == "KernelCh":
            assert event.timer <= state(event, KERNEL_STOP)["argument"], vars(event)
            by_parent[event.parent, event.channel] += 1
    if not counts_replays(events):
        return
    assert max(by_parent.values()) == 1, by_parent.most_common(1)
    for event in events.values():
        if event.type in ("Coll", "P2p"):
            assert event.channels == sum(c.type == "KernelCh" for c in event.children)


def check_threads(events, truth):
    """Steps are the progress thread's, calls are none of the library's threads'."""
    threads = [line for line in truth if line["record"] == "thread"]
    roles = {(line["pid"], line["tid"]): line["role"] for line in threads}
    for event in events.values():
        role = roles.get((event.pid, event.tid))
        if event.type.startswith("Proxy") or event.type == "KernelCh":
            assert role == "progress", vars(event)
        elif event.type in ("GroupApi", "CollApi", "P2pApi"):
            assert role is None, vars(event)
        else:
            assert role in (None, "group"), vars(event)
        assert all(state["tid"] == event.tid for state in event.states), vars(event)
        assert event.stop["tid"] == event.tid, vars(event)


def check_control(events):
    """What was appended is what was begun."""
    added = collections.Counter()
    if not any(event.type == "ProxyCtrl" for event in events.values()):
        return
    for event in events.values():
        if event.type == "ProxyOp":
            added[event.pid, event.tid] += 1
        elif event.type == "ProxyCtrl" and event.states[-1]["state"] == APPEND_END:
            added[event.pid, event.tid] -= event.states[-1]["argument"] & 0xFFFFFFFF
    assert not any(added.values()), added


def main():
    """All of it."""
    truth = lines("truth")
    contexts, events = read()
    spoil(events)
    check_comms(contexts, truth)
    check_tree(events, contexts)
    check_tasks(events, contexts, truth)
    if options.version == 5:
        check_calls(events, contexts, truth)
        check_launches(events, contexts, truth)
    check_messages(events, contexts, truth)
    check_channels(events)
    check_threads(events, truth)
    check_control(events)
    kinds = collections.Counter(event.type for event in events.values())
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))


main()
