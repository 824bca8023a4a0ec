# SPDX-License-Identifier: MIT
"""Whether what ccltap says of NCCL's inside is what NCCL says of itself: its own events, which
tests/gpu/oracle.c wrote down as a profiler plugin, against the trees of the same run.

NCCL's Coll or P2p is one operation; a node of ours of that name is a kernel, which may carry
out several operations of a group.  So both are compared by unit: a call outside of groups, or
all calls of a group.  Each function takes a recording and returns what is wrong, a list of
sentences."""
import collections

API = ("CollApi", "P2pApi")
CALLS_SHOWN = 5


class Unit:
    """calls: in order; of each kind of event below them a list of events."""

    def __init__(self):
        self.calls = []
        self.below = collections.defaultdict(list)

    def steps(self, is_with_channel=True):
        """The steps of each channel, peer and direction, in order; of each its ProxyOp, too."""
        steps = collections.defaultdict(list)
        for operation in sorted(self.below["ProxyOp"], key=lambda one: one["begin_ns"]):
            fields = operation["fields"]
            key = (fields.get("channelId") if is_with_channel else None, fields["peer"],
                   fields["isSend"])
            steps[key] += [(operation, step) for step in
                           sorted(operation["steps"], key=lambda one: one["fields"]["step"])]
        return steps


def with_steps(events):
    """Adds to each ProxyOp its ProxySteps; an event's parent is another's id."""
    of = collections.defaultdict(list)
    for event in events:
        if event["event"] == "ProxyStep":
            of[event["parent"]].append(event)
    for event in events:
        if event["event"] == "ProxyOp":
            event["steps"] = of[event["id"]]


def units_of_nccl(events):
    """Of one process.  NCCL opens a group for a single call, too."""
    with_steps(events)
    by_id = {event["id"]: event for event in events if event["event"] != "init"}
    units = {}
    for event in sorted(events, key=lambda one: one["begin_ns"]):
        if event["event"] in API:
            unit = units.setdefault(event["parent"], Unit())
            unit.calls.append(event)
    for event in events:
        above = by_id.get(event["parent"])
        while above and above["event"] != "GroupApi":
            above = by_id.get(above["parent"])
        if above and above["id"] in units and event["event"] not in API:
            units[above["id"]].below[event["event"]].append(event)
    return sorted(units.values(), key=lambda unit: unit.calls[0]["begin_ns"])


def units_of_ours(nodes):
    """Of one rank."""
    with_steps(nodes)
    by_id = {node["id"]: node for node in nodes}
    units = collections.defaultdict(Unit)
    for node in nodes:
        above = node
        while above["parent"]:
            above = by_id[above["parent"]]
        unit = units[above["id"]]
        if node["event"] in API:
            unit.calls.append(node)
        else:
            unit.below[node["event"]].append(node)
    for unit in units.values():
        unit.calls.sort(key=lambda one: one["begin_ns"])
    return sorted((unit for unit in units.values() if unit.calls),
                  key=lambda unit: unit.calls[0]["begin_ns"])


def units(recording):
    """Of each rank that NCCL says something of, pairs of NCCL's units and ours, or what is
    wrong with them."""
    for pid, rank in sorted(recording.ranks.items(), key=lambda item: item[1]):
        theirs = units_of_nccl(recording.oracle.get(pid, []))
        ours = units_of_ours([node for node in recording.tree if node["rank"] == rank])
        yield rank, theirs, ours


def pairs(recording):
    for rank, theirs, ours in units(recording):
        for one, other in zip(theirs, ours):
            yield rank, one, other


def name_of(rank, unit):
    return f"rank {rank}, {' + '.join(call['fields']['func'] for call in unit.calls)}"


# ---- The judgements ----

def called(recording):
    """Each call that NCCL saw is a call of ours, with its arguments, and in the same group."""
    wrong = []
    for rank, theirs, ours in units(recording):
        seen = [[(call["event"], call["fields"]["func"], call["fields"]["count"],
                  call["fields"]["datatype"], call["fields"]["graphCaptured"])
                 for call in unit.calls] for unit in ours]
        said = [[(call["event"], call["fields"]["func"], call["fields"]["count"],
                  call["fields"]["datatype"], call["fields"]["graphCaptured"])
                 for call in unit.calls] for unit in theirs]
        if not said:
            wrong.append(f"rank {rank}: NCCL says nothing")
        for number, (one, other) in enumerate(zip(said, seen)):
            if one != other:
                wrong.append(f"rank {rank}, unit {number + 1}: {other}, NCCL says {one}")
        if len(said) != len(seen):
            wrong.append(f"rank {rank}: {len(seen)} calls and groups, NCCL says {len(said)}")
    return wrong[:CALLS_SHOWN]


def launched(recording):
    """As many kernels are launched for each."""
    wrong = []
    for rank, one, other in pairs(recording):
        said, seen = (len(unit.below["KernelLaunch"]) for unit in (one, other))
        if said != seen:
            wrong.append(f"{name_of(rank, other)}: {seen} launches, NCCL says {said}")
    return wrong[:CALLS_SHOWN]


def chosen(recording):
    """Where a kernel carries out one collective: its algorithm, protocol and channels."""
    wrong = []
    for rank, one, other in pairs(recording):
        said, seen = (unit.below["Coll"] for unit in (one, other))
        if len(said) != 1 or len(seen) != 1:
            continue
        said, seen = said[0]["fields"], seen[0]["fields"]
        for field in ("func", "algo", "proto", "nChannels"):
            if field in seen and seen[field] != said[field]:
                wrong.append(f"{name_of(rank, other)}: {field} {seen[field]}, NCCL says "
                             f"{said[field]}")
    return wrong[:CALLS_SHOWN]


def compared(recording):
    """Of each connection of each unit: its name, NCCL's steps and ours."""
    for rank, one, other in pairs(recording):
        has_channels = all("channelId" in operation["fields"]
                           for operation in other.below["ProxyOp"])
        said, seen = (unit.steps(has_channels) for unit in (one, other))
        for key in said.keys() | seen.keys():
            channel, peer, is_send = key
            name = f"{name_of(rank, other)}: {'to' if is_send else 'from'} {peer}" + \
                   (f", channel {channel}" if channel is not None else "")
            yield name, said.get(key, []), seen.get(key, [])


def bytes_of_nccl(step):
    """NCCL tells them when it has sent, or received."""
    told = [value for name, _, value in step["states"]
            if name in ("SendWait", "RecvFlushWait", "RecvGPUWait")]
    return told[0] if told else 0


def sizes(said, seen):
    return ([bytes_of_nccl(step) for _, step in said],
            [step["fields"]["transSize"] for _, step in seen])


def claimed(recording):
    """No message is said to be of an operation, channel or peer that NCCL does not have it in."""
    wrong = []
    for name, said, seen in compared(recording):
        theirs, ours = sizes(said, seen)
        more = collections.Counter(ours) - collections.Counter(theirs)
        if more:
            known = sorted({step["known"] for _, step in seen})
            wrong.append(f"{name}: messages of {sorted(more.elements())[:6]} bytes, which NCCL "
                         f"has not ({', '.join(known)})")
        elif len(ours) == len(theirs) and ours != theirs:
            wrong.append(f"{name}: in another order than NCCL's")
    return wrong[:CALLS_SHOWN]


def told(recording):
    """Each message of NCCL's stands below its operation."""
    wrong = []
    for name, said, seen in compared(recording):
        if len(seen) < len(said):
            wrong.append(f"{name}: {len(seen)} messages of {len(said)}")
    return wrong[:CALLS_SHOWN]


def numbers(recording):
    """How many messages, by how they are known."""
    known = collections.Counter()
    all_of_nccl = 0
    for _, said, seen in compared(recording):
        all_of_nccl += len(said)
        known.update(step["known"] for _, step in seen)
    return f"{all_of_nccl} messages: " + (", ".join(
        f"{number} {how}" for how, number in sorted(known.items())) or "none told")


def shift(theirs, ours):
    """By how much our times are ahead of NCCL's, which are of another base: the least and the
    most, since each call of ours is around NCCL's own."""
    calls = [(one, other) for unit, mine in zip(theirs, ours)
             for one, other in zip(unit.calls, mine.calls)]
    return (max((other["begin_ns"] - one["begin_ns"] for one, other in calls), default=0),
            min((other["end_ns"] - one["end_ns"] for one, other in calls), default=0))


def moment(step, name):
    return next((time_ns for state, time_ns, _ in step["states"] if state == name), None)


def is_within(said, seen, least, most):
    """A message is on its way while NCCL's step goes on: it is posted before NCCL waits for its
    completion, and has arrived before NCCL flushes it.  Sockets send when NCCL asks whether they
    have; a receive begins with the CTS or with the first byte."""
    is_posted = "SendWait_ns" in seen["fields"] and seen["fields"].get("transport") != "socket"
    done = moment(said, "RecvFlushWait") or said["end_ns"]
    begun = moment(said, "SendWait") if is_posted else done
    return said["begin_ns"] + least <= seen["begin_ns"] <= (begun or done) + most and \
        (seen["end_ns"] is None or seen["end_ns"] <= done + most)


def timed(recording):
    """Each call and each message is where NCCL's own is."""
    wrong = []
    for rank, theirs, ours in units(recording):
        least, most = shift(theirs, ours)
        if least > most:
            wrong.append(f"rank {rank}: a call begins after NCCL's, or ends before it, by "
                         f"{least - most} ns")
            continue
        for one, other in zip(theirs, ours):
            said, seen = one.steps(False), other.steps(False)
            for key in said:
                if len(said[key]) != len(seen[key]) or len(
                        {operation["fields"].get("channelId") for operation, _ in said[key]}) > 1:
                    continue
                for (_, one_step), (_, our_step) in zip(said[key], seen[key]):
                    if not is_within(one_step, our_step, least, most):
                        wrong.append(f"{name_of(rank, other)}: {our_step['id']} is not within "
                                     "NCCL's step")
    return wrong[:CALLS_SHOWN]


def slept(recording):
    """A progress thread sleeps as often as NCCL says; one that sleeps at the end may be told
    by one of both."""
    wrong = []
    for pid, rank in recording.ranks.items():
        said = sum(name == "Wakeup" for event in recording.oracle.get(pid, [])
                   for name, _, _ in event["states"])
        seen = sum(span["name"] == "ProxyCtrl" and span["fields"].get("state") == "Sleep"
                   for span in recording.of_pid[pid])
        if not said <= seen <= said + 1:
            wrong.append(f"rank {rank}: {seen} times, NCCL says {said}")
    return wrong
