# SPDX-License-Identifier: MIT
"""What a trace might say wrongly: each judgement must notice it.

Each function finds a place in the trace of which it can say something else, and gives it as
container, key and value; none where the trace has nothing of the kind."""


def of_runs(trace, truth, kind):
    """Links of a kind, of this run, with their spans."""
    for link in trace.links[kind]:
        spans = [trace.spans.get(span) for span in link["spans"]]
        if any(span and span["pid"] in truth.pids for span in spans):
            yield link, spans


def message_size(trace, truth):
    for span in trace.messages:
        if span["pid"] in truth.pids and "bytes" in span["fields"]:
            return span["fields"], "bytes", span["fields"]["bytes"] + 1
    return None


def message_time(trace, truth):
    for span in trace.messages:
        if span["pid"] in truth.pids and span["end_ns"]:
            return span, "end_ns", span["end_ns"] + 10**10
    return None


def message_twice(trace, truth):
    found = [span for span in trace.messages if span["pid"] in truth.pids]
    return (trace, "messages", trace.messages + [dict(found[0], id="again")]) if found else None


def message_lost(trace, truth):
    found = [span for span in trace.messages if span["pid"] in truth.pids]
    return (trace, "messages", [span for span in trace.messages if span is not found[-1]]) \
        if found else None


def message_of_other(trace, truth):
    """Linked with the message after it."""
    for kind in "cts-message", "socket-message":
        links = list(of_runs(trace, truth, kind))
        for (link, _), (other, _) in zip(links, links[1:]):
            place = 2 if kind == "cts-message" else 1
            if link["spans"][place] != other["spans"][place]:
                spans = list(link["spans"])
                spans[place] = other["spans"][place]
                return link, "spans", spans
    return None


def operation(trace, truth):
    """A message of another kernel, and that for certain."""
    links = [link for link, _ in of_runs(trace, truth, "message-kernel")]
    for number, link in enumerate(links):
        for other in links:
            if other["spans"][0] != link["spans"][0]:
                spans = [other["spans"][0], *link["spans"][1:]]
                return trace.links, "message-kernel", \
                    [dict(link, spans=spans, known="decoded")] + links[:number]
    return None


def channel(trace, truth):
    for span in trace.messages:
        if span["pid"] in truth.pids and span["fields"].get("channel_known") == "decoded":
            return span["fields"], "channel", span["fields"]["channel"] + 1
    return None


def channel_lost(trace, truth):
    """A connection of which nothing is said."""
    for span in trace.messages:
        if span["pid"] in truth.pids and span["fields"].get("channel_known"):
            return span["fields"], "channel", None
    return None


def role(trace, truth):
    for (pid, _), thread in trace.threads.items():
        if pid in truth.pids and thread["role"] == "service":
            return thread, "role", "uds"
    return None


def stranger(trace, truth):
    """A thread of the program's, which is said to be NCCL's."""
    for (pid, tid), thread in trace.threads.items():
        if pid in truth.pids and thread["known"] == "exact":
            return trace, "threads", trace.threads | {(pid, tid + 10**6): thread}
    return None


def communicator(trace, truth):
    judged = {(thread["pid"], thread["tid"]) for thread in truth.threads if "comm_hash" in thread}
    for key, thread in trace.threads.items():
        if key in judged and thread["role"] == "progress" and \
                thread["comm_known"] not in (None, "inferred"):
            return thread, "comm_rank", thread["comm_rank"] + 1
    return None


def communicator_lost(trace, truth):
    """Of who moves messages."""
    for span in trace.messages:
        thread = trace.threads.get((span["pid"], span["tid"]))
        if span["pid"] in truth.pids and thread and thread["comm_key"]:
            return thread, "comm_key", None
    return None


def kernel(trace, truth):
    """A kernel that carries out another call."""
    links = [link for link, _ in of_runs(trace, truth, "kernel-collective")
             if link["known"] == "exact"]
    for link, other in zip(links, links[1:]):
        if link["spans"][0] != other["spans"][0] and link["spans"][1:] != other["spans"][1:]:
            return link, "spans", [link["spans"][0], *other["spans"][1:]]
    return None


def ranks(trace, truth):
    """A rank's call of one operation in the link of the next."""
    links = [link for link, _ in of_runs(trace, truth, "collective-ranks")]
    for link, other in zip(links, links[1:]):
        if link["comm_key"] == other["comm_key"] and len(link["spans"]) > 1:
            return link, "spans", [*link["spans"][:-1], other["spans"][-1]]
    return None


WAYS = (message_size, message_time, message_twice, message_lost, message_of_other, operation,
        channel, channel_lost, role, stranger, communicator, communicator_lost, kernel, ranks)


def unnoticed(trace, truth, has_fault):
    """Yields the name of each way, and whether the judgement noticed it."""
    for way in WAYS:
        found = way(trace, truth)
        if not found:
            continue
        place, key, value = found
        is_object = place is trace
        before = getattr(place, key) if is_object else place[key]

        def put(what, place=place, key=key, is_object=is_object):
            if is_object:
                setattr(place, key, what)
            else:
                place[key] = what
        put(value)
        noticed = has_fault()
        put(before)
        yield way.__name__.replace("_", " "), noticed
