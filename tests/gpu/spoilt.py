#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each judgement of judge.py on a run that check-gpu kept, as it is and spoilt: it says
nothing of the one and something of the other.  What runs on a GPU is put into the run, as
ccltap-jsonl(5) has it, so that this can be tried without one.

usage: spoilt.py FOLDER     that check-gpu --keep FOLDER left"""
import copy
import sys

import judge
import oracle
from recording import Recording, text_of

top = sys.argv[1]


def of_rank(recording, rank):
    return next(pid for pid, number in recording.ranks.items() if number == rank)


def tried(sentence, check, good, spoil, *arguments):
    """check(good) is content, check of a spoilt copy is not."""
    wrong = check(good, *arguments)
    spoilt = copy.deepcopy(good)
    spoil(spoilt)
    found = check(spoilt, *arguments)
    result = "ok" if not wrong and found else "not ok"
    print(f"{result} - {sentence}")
    if result != "ok":
        print(f"as it is: {wrong}\nspoilt: {found}")


def without(recording, chosen):
    """Takes out the last span that is chosen, and what links it."""
    span = [span for span in recording.spans.values() if chosen(span)][-1]
    del recording.spans[span["id"]]
    recording.of_pid[span["pid"]].remove(span)


def with_field(recording, chosen, field, value):
    span = [span for span in recording.spans.values() if chosen(span)][-1]
    span["fields"][field] = value


def is_launch(span):
    return span["name"].startswith("cuLaunchKernel")


def add_gpu(recording):
    """Kernels, and what belongs to them, as the GPU might have run them; instead of those
    that a double ran, so that the same is tried with and without one."""
    for pid, spans in recording.of_pid.items():
        recording.of_pid[pid] = [span for span in spans if span["layer"] != "gpu"]
    recording.spans = {number: span for number, span in recording.spans.items()
                       if span["layer"] != "gpu"}
    recording.links["launch-kernel"].clear()
    recording.links["kernel-collective"].clear()
    number = 0
    graphs, parents = {}, {}
    for link in recording.links["api-launch"]:
        if all(span in recording.spans for span in link["spans"]):
            parents[link["spans"][1]] = recording.spans[link["spans"][0]]
    for pid in list(recording.ranks):
        for launch in list(recording.layer(pid, "cuda")):
            is_graph = launch["name"].startswith("cuGraphLaunch")
            captured = launch["fields"].get("capture_id") and not is_graph
            if captured and is_launch(launch):
                graphs.setdefault(pid, []).append(launch)
            if captured or not is_launch(launch) and not is_graph:
                continue
            for of in graphs.get(pid, ()) if is_graph else (launch,):
                number += 1
                kernel = {"id": f"g{number}", "pid": pid, "layer": "gpu", "name": "kernel",
                          "begin_ns": launch["begin_ns"] + 100, "fields": {},
                          "end_ns": launch["begin_ns"] + 100 + 1001000}
                recording.spans[kernel["id"]] = kernel
                recording.of_pid[pid].append(kernel)
                recording.links["launch-kernel"].append({"spans": [launch["id"], kernel["id"]]})
                calls = [parents[of["id"]]] if of["id"] in parents else []
                if calls and calls[0]["group_id"] is not None:
                    calls = [span for span in recording.layer(pid, "nccl")
                             if span["group_id"] == calls[0]["group_id"] and
                             span["name"] in judge.OPERATIONS]
                for call in calls:
                    recording.links["kernel-collective"].append(
                        {"spans": [kernel["id"], call["id"]]})
    return recording


def begin_before(recording):
    kernel = [span for span in recording.spans.values() if span["layer"] == "gpu"][-1]
    kernel["begin_ns"] -= 1000000


def last_too_long(recording):
    for span in recording.spans.values():
        if span["layer"] == "gpu":
            span["end_ns"] += 1000000000


calls, graphs, work, wire = (Recording(f"{top}/{name}") for name in
                             ("calls", "graphs", "work", "wire"))
forced = Recording(f"{top}/RING-SIMPLE")

tried("an operation that is not in the trace is noticed", judge.operations, calls,
      lambda run: without(run, lambda span: span["name"] == "ncclReduce"))
tried("one that is not in the log is noticed", judge.operations, calls,
      lambda run: run.logs[of_rank(run, 0)].pop())
tried("one of another size is noticed", judge.operations, calls,
      lambda run: with_field(run, lambda span: span["name"] == "ncclReduce", "count", 1))
tried("a collective that lacks a rank is noticed", judge.operations, calls,
      lambda run: run.links["collective-ranks"].pop())
tried("a send without its receive is noticed", judge.operations, calls,
      lambda run: run.links["send-recv"].pop())
tried("an operation without a launch is noticed", judge.launched, calls,
      lambda run: run.links["api-launch"].pop(0))
tried("a launch of something else is noticed", judge.launched, calls,
      lambda run: with_field(run, lambda span: is_launch(span) and
                             span["fields"].get("collective") == "Reduce",
                             "collective", "AllReduce"))
tried("another algorithm is noticed", judge.forced, forced,
      lambda run: with_field(run, is_launch, "algorithm", "TREE"), "RING", "SIMPLE")
tried("what is only named is noticed", judge.forced, forced,
      lambda run: with_field(run, is_launch, "known", "named"), "RING", "SIMPLE")
tried("a launch that was not counted is noticed", judge.counted, calls,
      lambda run: without(run, is_launch), text_of(f"{top}/calls-counted/counted"))
tried("a replay too few is noticed", judge.counted, graphs,
      lambda run: without(run, lambda span: span["name"].startswith("cuGraphLaunch")),
      text_of(f"{top}/graphs-counted/counted"))
tried("work in another order is noticed", judge.work, work,
      lambda run: run.logs[of_rank(run, 0)].reverse())
tried("a replay of other calls is noticed", judge.replayed, graphs,
      lambda run: with_field(run, lambda span: span["name"].startswith("cuGraphLaunch"),
                             "graph_kernels", 2))
tried("a message that did not arrive is noticed", judge.on_the_wire, wire,
      lambda run: without(run, lambda span: span["name"] == "net_recv"))
tried("bytes that are missing are noticed", judge.on_the_wire, wire,
      lambda run: [span["fields"].update(bytes=1) for span in run.spans.values()
                   if span["layer"] == "net"])
tried("a request that was not counted is noticed", judge.posted, wire,
      lambda run: without(run, lambda span: span["layer"] == "verbs"),
      text_of(f"{top}/wire-requests"))
tried("what record lost is noticed", judge.whole, calls,
      lambda run: setattr(run, "said", run.said.replace(" 0 discarded", " 1 discarded")))
tried("a bad verdict is noticed", judge.whole, calls,
      lambda run: run.check.update(verdict="incomplete"))



def last_node(run, event):
    return [node for node in run.tree if node["event"] == event][-1]


def other_field(run, event, field, value):
    last_node(run, event)["fields"][field] = value


def without_node(run, event):
    """And without what is below it."""
    gone = {last_node(run, event)["id"]}
    for node in run.tree:
        if node["parent"] in gone:
            gone.add(node["id"])
    run.tree = [node for node in run.tree if node["id"] not in gone]


for name in "sockets", "NETIB":
    own = Recording(f"{top}/oracle-{name}")
    tried(f"{name}: a call of another count than NCCL's is noticed", oracle.called, own,
          lambda run: other_field(run, "CollApi", "count", 1))
    tried(f"{name}: a launch that is missing is noticed", oracle.launched, own,
          lambda run: without_node(run, "KernelLaunch"))
    tried(f"{name}: another protocol than NCCL's is noticed", oracle.chosen, own,
          lambda run: [node["fields"].update(proto="none") for node in run.tree
                       if node["event"] == "Coll"])
    tried(f"{name}: a message of another size than NCCL's is noticed", oracle.claimed, own,
          lambda run: other_field(run, "ProxyStep", "transSize", 1))
    tried(f"{name}: another channel than NCCL's is noticed", oracle.claimed, own,
          lambda run: other_field(run, "ProxyOp", "channelId", 63))
    tried(f"{name}: a message that is missing is noticed", oracle.told, own,
          lambda run: without_node(run, "ProxyStep"))
    tried(f"{name}: a message that ends after NCCL's step is noticed", oracle.timed, own,
          lambda run: [node.update(end_ns=node["end_ns"] + 10**10) for node in run.tree
                       if node["event"] == "ProxyStep"])
    tried(f"{name}: a sleep that is missing is noticed", oracle.slept, own,
          lambda run: [span.update(name="") for spans in run.of_pid.values()
                       for span in spans if span["name"] == "ProxyCtrl"])

# NCCL's log, as NCCL writes it; the double writes none.
SAID = "vm:1:2 [0] NCCL INFO AllReduce: 8192 Bytes -> Algo RING proto SIMPLE " \
       "channel{Lo..Hi}={0..0}\n" * len(judge.called(forced, of_rank(forced, 0)))
forced.nccl_said = lambda: SAID
tried("what NCCL says that it chose is compared", judge.tuned, forced,
      lambda run: with_field(run, lambda span: is_launch(span) and
                             run.ranks[span["pid"]] == 0, "protocol", "LL"))

for run in calls, graphs, work:
    add_gpu(run)


def is_kernel(span):
    return span["layer"] == "gpu"


def is_kernel_of_all_reduce(span):
    return is_kernel(span) and span["id"] in of_all_reduce


KERNEL = "[1] (+1) vm gpu:kernel: {{ cpu_id = 0 }}, {{ vpid = {}, vtid = 1 }}, {{ graph = 0 }}"
LOST = '[1] (+1) vm gpu:lost: { cpu_id = 0 }, { vpid = 1 }, { what = "dropped", count = 1 }'
calls.gpu_events = [KERNEL.format(pid) for pid in calls.ranks for _ in calls.launches(pid)]
tried("a kernel that was not recorded is noticed", judge.ran, calls,
      lambda run: run.gpu_events.pop())
tried("what CUPTI dropped is noticed", judge.ran, calls,
      lambda run: run.gpu_events.append(LOST))
tried("a launch without a kernel is noticed", judge.kernels, calls,
      lambda run: without(run, is_kernel))
tried("a kernel without a launch is noticed", judge.kernels, calls,
      lambda run: run.links["launch-kernel"].pop())
tried("a kernel before its launch is noticed", judge.kernels, calls, begin_before)
tried("a replay that lacks a kernel is noticed", judge.kernels, graphs,
      lambda run: without(run, is_kernel))
tried("an operation without a kernel is noticed", judge.carried_out, calls,
      lambda run: run.links["kernel-collective"].pop(0))
tried("a replay whose kernel has no operation is noticed", judge.carried_out, graphs,
      lambda run: run.links["kernel-collective"].pop())
for pid in work.ranks:
    for line in work.logs[pid]:
        line["most_ns"] = max(line.get("most_ns", 0), 1100000)
tried("a kernel that lasts too long is noticed", judge.lasted, work, last_too_long)

# PyTorch's part, with a log as its script writes it.
torch = copy.deepcopy(calls)
of_all_reduce = {link["spans"][0] for link in torch.links["kernel-collective"]
                 if torch.spans[link["spans"][1]]["name"] == "ncclAllReduce" and
                 torch.spans[link["spans"][1]]["group_id"] is None}
for pid in torch.ranks:
    lines = [line for line in torch.logs[pid] if line.get("op") == "ncclAllReduce"]
    torch.logs[pid] = [{**line, "phase": "before"} for line in lines]
    torch.logs[pid].append({"profiled": {"a": 3}})
tried("an all-reduce of PyTorch's that is missing is noticed", judge.asked_for, torch,
      lambda run: run.logs[of_rank(run, 0)].pop(0))
tried("a profiler that sees less is noticed", lambda run: judge.profiled_alike(torch, run),
      torch, lambda run: run.logs[of_rank(run, 1)].pop())
torch.gpu_events = [
    f'[1] (+1) vm gpu:owner: {{ cpu_id = 0 }}, {{ vpid = {pid}, vtid = 1 }}, '
    f'{{ state = "{state}", holder = "" }}'
    for state in ("taken", "released", "taken") for pid in torch.ranks]
tried("CUPTI that is not taken again is noticed", judge.let_go, torch,
      lambda run: run.gpu_events.pop())
tried("a kernel that is missing after it is noticed", judge.before_and_after, torch,
      lambda run: without(run, is_kernel_of_all_reduce))
print("end")
