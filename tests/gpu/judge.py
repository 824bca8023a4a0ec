# SPDX-License-Identifier: MIT
"""Whether what ccltap says of a run is what happened.  What happened is known from those
who know nothing of ccltap: the program's own log, its settings, NCCL's log, the driver's
events, and a count of launches that was taken in a run without a recording.

Each function takes a recording and returns what is wrong, a list of sentences."""
import collections
import re

OPERATIONS = {"ncclAllReduce", "ncclBroadcast", "ncclReduce", "ncclAllGather",
              "ncclReduceScatter", "ncclSend", "ncclRecv"}
POINT_TO_POINT = {"ncclSend", "ncclRecv"}


def count_of(span):
    fields = span["fields"]
    return next((fields[name] for name in ("count", "sendcount", "recvcount")
                 if name in fields), None)


def differing(what, expected, actual):
    """The first place where two lists differ."""
    if expected == actual:
        return []
    for number, (one, other) in enumerate(zip(expected, actual)):
        if one != other:
            return [f"{what}: number {number + 1} is {other}, not {one}"]
    return [f"{what}: {len(actual)}, not {len(expected)}"]


def whole(recording):
    """Nothing was lost, and nothing is said to be wrong."""
    wrong = []
    if " 0 discarded" not in recording.said or "problem:" in recording.said:
        wrong.append(f"record said: {recording.said or 'nothing'}")
    if recording.check.get("verdict") not in ("ok", "doubtful"):
        wrong.append(f"check's verdict is {recording.check.get('verdict')}")
    return wrong


def numbers(recording):
    """What there was to be judged."""
    spans = recording.spans.values()
    found = {
        "operations": sum(span["name"] in OPERATIONS for span in spans),
        "launches of kernels": sum(len(recording.launches(pid)) for pid in recording.ranks),
        "of graphs": sum(span["name"].startswith("cuGraphLaunch") for span in spans),
        "kernels": sum(span["layer"] == "gpu" and span["name"] == "kernel" for span in spans),
        "messages": sum(span["name"] == "net_recv" for span in spans),
    }
    return ", ".join(f"{number} {what}" for what, number in found.items() if number)


def called(recording, rank_pid):
    return [line for line in recording.logs[rank_pid] if "op" in line]


def operations(recording):
    """Each call of the log is in the trace once, in order, and with its partners."""
    wrong = []
    collectives, sends = 0, 0
    for pid, rank in recording.ranks.items():
        calls = called(recording, pid)
        seen = [(span["name"], count_of(span))
                for span in recording.layer(pid, "nccl")
                if span["name"] in OPERATIONS and not span["inner"]]
        wrong += differing(f"operations of rank {rank}",
                           [(call["op"], call["count"]) for call in calls], seen)
        if rank == 0:
            collectives = sum(call["op"] not in POINT_TO_POINT for call in calls)
        sends += sum(call["op"] == "ncclSend" for call in calls)
    ranks = sorted(recording.ranks.values())
    if len(ranks) < 2:
        return wrong
    whole_links = [link for link in recording.links["collective-ranks"]
                   if link["known"] == "exact" and link["ranks"] == ranks]
    if len(whole_links) != collectives:
        wrong.append(f"of {collectives} collectives {len(whole_links)} are known on all ranks")
    pairs = [link for link in recording.links["send-recv"] if link["known"] == "exact"]
    if len(pairs) != sends:
        wrong.append(f"of {sends} sends {len(pairs)} have their receive")
    return wrong


def functions_of(launch):
    return launch["fields"].get("collective", "").split(",")


def launched(recording):
    """Each operation has a launch, which says what it carries out."""
    wrong = []
    by_call = recording.linked("api-launch")
    for pid, rank in recording.ranks.items():
        groups = collections.defaultdict(list)
        spans = [span for span in recording.layer(pid, "nccl") if not span["inner"]]
        for span in (span for span in spans if span["name"] in OPERATIONS):
            wanted = "SendRecv" if span["name"] in POINT_TO_POINT else span["name"][4:]
            if span["group_id"] is not None:
                groups[span["group_id"]].append(wanted)
                continue
            told = [functions_of(launch) for launch in by_call[span["id"]]
                    if launch["fields"].get("kernel_kind") == "collective"]
            if told != [[wanted]]:
                wrong.append(f"rank {rank}: {span['name']} ({span['id']}) is carried out by "
                             f"{told or 'nothing'}")
        for span in spans:
            if span["name"] != "ncclGroupEnd" or span["group_id"] not in groups:
                continue
            told = {name for launch in by_call[span["id"]] for name in functions_of(launch)}
            if told != set(groups[span["group_id"]]):
                wrong.append(f"rank {rank}: the group of {groups[span['group_id']]} is "
                             f"carried out by {sorted(told) or 'nothing'}")
    return wrong


def forced(recording, algorithm, protocol):
    """All-reduces alone, each by that algorithm and protocol, read from its arguments."""
    wrong = []
    for pid, rank in recording.ranks.items():
        launches = [launch["fields"] for launch in recording.launches(pid)
                    if launch["fields"].get("collective")]
        told = collections.Counter((fields.get("algorithm"), fields.get("protocol"),
                                    fields.get("known")) for fields in launches)
        expected = {(algorithm, protocol, "decoded"): len(called(recording, pid))}
        if told != expected:
            wrong.append(f"rank {rank}: {dict(told)}, not {expected}")
    return wrong


TUNED = re.compile(r"NCCL INFO (\w+): \d+ Bytes -> Algo (\w+) proto (\w+) "
                   r"channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}")


def tuned(recording):
    """What NCCL itself says that it chose, which is said by rank 0 (from 2.24 on); None
    where it says nothing."""
    said = [(name, algorithm, protocol, int(last) - int(first) + 1)
            for name, algorithm, protocol, first, last in TUNED.findall(recording.nccl_said())]
    if not said:
        return None
    pid = next(pid for pid, rank in recording.ranks.items() if rank == 0)
    told = [(fields["collective"], fields.get("algorithm"), fields.get("protocol"),
             fields.get("channels"))
            for fields in (launch["fields"] for launch in recording.launches(pid))
            if fields.get("collective")]
    return differing("launches", said, told)


def counted(recording, text):
    """As many launches in each process as were counted in one that nobody recorded; which
    process that was its number does not tell."""
    expected = sorted((int(kernels), int(graphs)) for kernels, graphs in
                      re.findall(r"kernels (\d+) graphs (\d+)", text))
    seen = sorted((len(recording.launches(pid)),
                   sum(span["name"].startswith("cuGraphLaunch") and span["result"] == 0
                       for span in recording.layer(pid, "cuda")))
                  for pid in recording.ranks)
    return [] if expected == seen else [f"kernels and graphs launched: {seen}, not {expected}"]


def work(recording):
    """Each thing that the log has put on a stream is in the trace, in order."""
    wrong = []
    kinds = (("kernel", r"cuLaunchKernel"), ("memcpy", r"cuMemcpy.*Async"),
             ("memset", r"cuMemset.*Async"), ("host", r"cuLaunchHostFunc"))
    for pid, rank in recording.ranks.items():
        expected = [(line["launch"], line.get("name")) for line in recording.logs[pid]]
        seen = []
        for span in recording.layer(pid, "cuda"):
            for kind, pattern in kinds:
                if re.match(pattern, span["name"]):
                    name = span["fields"].get("function") if kind == "kernel" else None
                    seen.append((kind, name))
        wrong += differing(f"work of rank {rank}", expected, seen)
    return wrong


def replayed(recording):
    """Each launch of the graph is there, and says what was captured into it; whether other
    streams took part is NCCL's affair."""
    wrong = []
    for pid, rank in recording.ranks.items():
        captured = sum(call["captured"] for call in called(recording, pid))
        times = next(line["times"] for line in recording.logs[pid] if "times" in line)
        graphs = [span["fields"] for span in recording.layer(pid, "cuda")
                  if span["name"].startswith("cuGraphLaunch")]
        told = collections.Counter(fields.get("graph_kernels") for fields in graphs
                                   if fields.get("graph_known") in ("exact", "in-part"))
        if told != {captured: times}:
            wrong.append(f"rank {rank}: graphs of so many kernels: {dict(told)}, "
                         f"not {captured}, {times} times")
    return wrong


def on_the_wire(recording):
    """Messages of NCCL's network code: each sent one was received, its CTS was found, and
    they carried what the operations need."""
    wrong = []
    bytes_of = collections.Counter()
    numbers = collections.Counter()
    for span in recording.spans.values():
        if span["layer"] == "net":
            bytes_of[span["pid"], span["name"]] += span["fields"].get("bytes") or 0
            numbers[span["name"]] += 1
    if not numbers["net_send"] or numbers["net_send"] != numbers["net_recv"]:
        wrong.append(f"messages: {dict(numbers)}")
    for pid, rank in recording.ranks.items():
        # An all-reduce, an all-gather and a send make each rank of two send its buffer.
        least = sum(4 * call["count"] for call in called(recording, pid)
                    if call["op"] in ("ncclAllReduce", "ncclAllGather", "ncclSend"))
        for name in ("net_send", "net_recv"):
            if bytes_of[pid, name] < least:
                wrong.append(f"rank {rank}: {name} of {bytes_of[pid, name]} bytes, "
                             f"its operations need {least}")
    for kind in recording.check.get("links", ()):
        if kind["kind"] in ("cts-message", "post-completion", "send-receive") and kind["unmatched"]:
            wrong.append(f"{kind['kind']}: {kind['unmatched']} unmatched, {kind['why']}")
    return wrong


def posted(recording, text):
    """As many requests and completions as were counted behind ccltap."""
    expected = [sum(int(number) for number in re.findall(rf"\b{what} (\d+)", text))
                for what in ("sent", "received")]
    seen = [0, 0]
    for span in recording.spans.values():
        if span["layer"] == "verbs":
            seen[span["name"] == "RECV"] += not span["name"].startswith("post_")
    if expected == seen and all(seen):
        return []
    return [f"sends and receives: {seen}, counted {expected}"]


# ---- PyTorch ----

def asked_for(recording):
    """Each all-reduce that the script asked for, as NCCL's call, in order."""
    wrong = []
    for pid, rank in recording.ranks.items():
        wrong += differing(f"all-reduces of rank {rank}",
                           [call["count"] for call in called(recording, pid)],
                           [count_of(span) for span in recording.layer(pid, "nccl")
                            if span["name"] == "ncclAllReduce" and not span["inner"]])
    return wrong if recording.ranks else ["the script wrote no log"]


def profiled(recording):
    """What PyTorch's profiler saw of each rank: how many kernels of each name."""
    return {rank: line["profiled"] for pid, rank in recording.ranks.items()
            for line in recording.logs[pid] if "profiled" in line}


def profiled_alike(alone, recording):
    one, other = profiled(alone), profiled(recording)
    if not one or not any(one.values()):
        return ["alone it sees nothing"]
    return [f"rank {rank}: {other.get(rank)}, alone {one[rank]}"
            for rank in one if one[rank] != other.get(rank)]


def let_go(recording):
    """CUPTI was taken, released while the profiler wanted it and taken again."""
    wrong = []
    states = collections.defaultdict(list)
    for event in events_of(recording, "owner"):
        states[int(event["vpid"])].append(event["state"])
    for pid, rank in recording.ranks.items():
        if not re.search(r"taken( \w+)* released( \w+)* taken", " ".join(states[pid])):
            wrong.append(f"rank {rank}: CUPTI was {', '.join(states[pid]) or 'not taken'}")
    return wrong


def before_and_after(recording):
    """Kernels of all-reduces before and after the profiler looked on have their launch."""
    wrong = []
    by_call = recording.linked("api-launch")
    by_launch = recording.linked("launch-kernel")
    for pid, rank in recording.ranks.items():
        calls = [span for span in recording.layer(pid, "nccl")
                 if span["name"] == "ncclAllReduce" and not span["inner"]]
        for call, line in zip(calls, called(recording, pid)):
            has = [ran for launch in by_call[call["id"]] for ran in by_launch[launch["id"]]]
            # A single rank has nothing to launch.
            if line["phase"] != "during" and by_call[call["id"]] and not has:
                wrong.append(f"rank {rank}: {call['id']}, {line['phase']} the profiler, has "
                             "no kernel")
    return wrong


# ---- What ran on the GPU ----

def events_of(recording, name):
    """The values of these events' fields and contexts, as text."""
    return [dict(re.findall(r'(\w+) = "?([^",}]*?)"?[ ,]', line))
            for line in recording.gpu_events if f" gpu:{name}: " in line]


def ran(recording):
    """As many kernels as were launched: events as they were recorded, none dropped."""
    wrong = [f"lost: {event}" for event in events_of(recording, "lost")]
    seen = collections.Counter(int(event["vpid"]) for event in events_of(recording, "kernel"))
    for pid, rank in recording.ranks.items():
        launches = recording.launches(pid)
        captured = sum("capture_id" in launch["fields"] for launch in launches)
        graphs = sum(span["fields"].get("graph_kernels", 0)
                     for span in recording.layer(pid, "cuda")
                     if span["name"].startswith("cuGraphLaunch"))
        expected = len(launches) - captured + graphs
        if seen[pid] != expected:
            wrong.append(f"rank {rank}: {seen[pid]} kernels ran, not {expected}")
    return wrong


def kernels(recording):
    """Each kernel that was launched ran once, and not before it was launched; what was
    captured runs when its graph is launched."""
    wrong = []
    by_launch = recording.linked("launch-kernel")
    for pid, rank in recording.ranks.items():
        alone = [launch for launch in recording.launches(pid)
                 if not launch["fields"].get("capture_id")]
        for launch in alone:
            ran = by_launch[launch["id"]]
            if len(ran) != 1:
                wrong.append(f"rank {rank}: {launch['name']} ({launch['id']}) has "
                             f"{len(ran)} kernels")
            elif ran[0]["begin_ns"] < launch["begin_ns"]:
                wrong.append(f"rank {rank}: the kernel of {launch['id']} begins "
                             f"{launch['begin_ns'] - ran[0]['begin_ns']} ns before it")
        for graph in (span for span in recording.layer(pid, "cuda")
                      if span["name"].startswith("cuGraphLaunch")):
            ran = sum(span["name"] == "kernel" for span in by_launch[graph["id"]])
            if ran != graph["fields"].get("graph_kernels"):
                wrong.append(f"rank {rank}: the graph {graph['id']} ran {ran} kernels, not "
                             f"{graph['fields'].get('graph_kernels')}")
        ran = sum(span["name"] == "kernel" for span in recording.layer(pid, "gpu"))
        linked = sum(span["name"] == "kernel" for span in recording.layer(pid, "gpu")
                     if by_launch[span["id"]])
        if ran != linked:
            wrong.append(f"rank {rank}: of {ran} kernels {linked} have a launch")
    return wrong[:5]


def carried_out(recording):
    """Each operation has a kernel, and each replay of one that was captured.  Those of a
    group may share one, and which is whose cannot always be told."""
    wrong = []
    by_call = recording.linked("kernel-collective")
    for pid, rank in recording.ranks.items():
        replays = next((line["times"] for line in recording.logs[pid] if "times" in line), 1)
        spans = [span for span in recording.layer(pid, "nccl")
                 if span["name"] in OPERATIONS and not span["inner"]]
        for span, call in zip(spans, called(recording, pid)):
            times = replays if call.get("captured") else 1
            ran = sum(other["layer"] == "gpu" for other in by_call[span["id"]])
            if ran > times or ran < times and span["group_id"] is None:
                wrong.append(f"rank {rank}: {span['name']} ({span['id']}) has {ran} "
                             f"kernels, not {times}")
    return wrong[:5]


def lasted(recording):
    """Kernels of a known duration lasted that long: no less than they were told to, no
    more than the driver's own events say, which have a resolution of half a microsecond."""
    wrong = []
    by_launch = recording.linked("launch-kernel")
    for pid in recording.ranks:
        expected = [line for line in recording.logs[pid] if line["launch"] == "kernel"]
        for line, launch in zip(expected, recording.launches(pid)):
            for ran in by_launch[launch["id"]] if line["min_ns"] else ():
                took = ran["end_ns"] - ran["begin_ns"]
                if not line["min_ns"] - 2000 <= took <= line["most_ns"] + 2000:
                    wrong.append(f"{line['name']} took {took} ns, not {line['min_ns']} to "
                                 f"{line['most_ns']}")
    return wrong[:5]
