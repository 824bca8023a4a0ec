# SPDX-License-Identifier: MIT
"""Says whether traces for Perfetto tell what the JSON lines of the same recordings tell, as
Perfetto's own importer reads them: each slice, on which track, each arrow, each counter.

usage: perfetto_check.py NAME...     # of each: NAME.perfetto, NAME.jsonl, and NAME.why, JSON

Writes a line of TAP without a number for each.
"""

import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import perfetto_query  # noqa: E402

OURS = "s.category not in ('finding', 'problem', 'trace', 'arrival')"
QUERIES = {
    "stats": "select name, value from stats "
             "where value > 0 and severity in ('error', 'data_loss')",
    "slices": "select s.id, s.ts, s.dur, s.category, s.name, t.name, p.name, h.name, "
              "extract_arg(s.arg_set_id, 'debug.state'), t.id from slice s "
              "join track t on s.track_id = t.id left join track p on t.parent_id = p.id "
              f"left join track h on p.parent_id = h.id where {OURS}",
    "flows": "select slice_out, slice_in from flow",
    # Where an arrow ends that no slice can show, since the importer turns it around.
    "arrivals": "select s.id, s.ts, t.name, p.name from slice s "
                "join track t on s.track_id = t.id join track p on t.parent_id = p.id "
                "where s.category = 'arrival'",
    "counters": "select c.ts, c.value, t.name, p.name from counter c "
                "join track t on c.track_id = t.id left join track p on t.parent_id = p.id "
                "order by t.id, c.ts, c.id",
    "instants": "select s.name, p.name, extract_arg(s.arg_set_id, 'debug.ranks') "
                "from slice s join track t on s.track_id = t.id "
                "join track p on t.parent_id = p.id where s.category = 'finding'",
}
PERIOD_NS = 100_000_000


def read_lines(path):
    records = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            records[record["type"]].append(record)
    return records


# ---- Spans and slices ----

def is_call(span):
    return re.fullmatch(r"\d+\.\d+", span["id"]) is not None


def row_of(span):
    """What has a row of its own, and how the name of its track begins."""
    row = span["row"]
    if span["layer"] == "gpu":
        stream = span["fields"].get("stream", 0)
        if not isinstance(stream, int) or stream < 0:
            stream = 0  # in a damaged trace
        return f"GPU {row[4:]}, stream {stream}"
    if span["layer"] == "nvtx":
        return row + " ranges"
    if span["layer"] == "proxy":
        return row + (" ctrl" if row.startswith("thread") else " ops")
    return row


def row_of_track(name):
    """The same, of the name of a track."""
    thread = re.match(r"(thread (?:\d+|\?))(?: \(NCCL \w+\))?(: ranges|: asleep or awake)?$",
                      name)
    if thread:
        return thread[1] + {None: "", ": ranges": " ranges"}.get(thread[2], " ctrl")
    net = re.match(r"(net \d+ (?:send|receive))(.*)$", name)
    if net:
        return net[1] + (" ops" if net[2].endswith(": ProxyOps") else "")
    return name


def who_of_track(name):
    """"rank 2 (pid 118) on node1" -> (118, "node1")"""
    found = re.match(r"(?:rank (\d+) \()?pid (-?\d+|\?)\)?(?: on (.*))?$", name or "")
    if not found:
        return None
    return (None if found[2] in ("?", "-1") else int(found[2])), found[3] or ""


def slice_of_span(span):
    """(begin, duration) of the slice that a span becomes.  It has no time before the epoch,
    which only a damaged trace has."""
    if span["state"] == "begin-lost":
        return span["end_ns"], 0
    end = span["end_ns"] if span["end_ns"] is not None else span.get("end_max_ns")
    if span["state"] == "end-lost":
        return span["begin_ns"], "lost"
    begin = max(0, span["begin_ns"])
    return begin, -1 if end is None else max(0, end - begin)


def span_key(span):
    name = None
    if is_call(span) and span["op_number"] and span["name"].startswith("nccl"):
        name = f"{span['name'][4:]} #{span['op_number']}"
    return (span["pid"], span["host"], row_of(span), span["layer"], *slice_of_span(span)), name


def compare(title, expected, actual, problems):
    for what, difference in (("missing", expected - actual), ("not expected",
                                                              actual - expected)):
        for key, count in list(difference.items())[:3]:
            problems.append(f"{title}: {what}, {count} times: {key}")


def check_slices(spans, rows, problems):
    """The keys of the slices by their ids."""
    expected, names = collections.Counter(), {}
    for span in spans:
        key, name = span_key(span)
        expected[key] += 1
        names.setdefault(key, set()).add(name)
    actual, keys, tracks = collections.Counter(), {}, {}
    for number, begin, duration, layer, name, track, process, host, state, track_id in rows:
        who = who_of_track(process)
        if not who or host != f"host {who[1] or '?'}":
            problems.append(f"slice {name} is on {track} of {process} of {host}")
            continue
        key = (*who, row_of_track(track), layer, begin,
               "lost" if state == "end-lost" else duration)
        actual[key] += 1
        keys[number] = key
        tracks.setdefault(track_id, []).append((begin, duration))
        wanted = names.get(key, {None})
        if None not in wanted and not any(re.match(re.escape(one) + r"( |$)", name)
                                          for one in wanted):
            problems.append(f"slice {name} is not called {wanted}")
    compare("slices", expected, actual, problems)
    return keys


# ---- Links and flows ----

def arrows(link):
    """(cause, effect): ids of spans."""
    ids = link["spans"]
    kind = link["kind"]
    if kind in ("collective-ranks", "send-recv", "post-completion", "proxy-op"):
        return []
    if kind == "cts-message":
        return [(ids[0], ids[1])] + [(ids[1], other) for other in ids[2:]]
    if kind == "kernel-collective":
        return [(other, ids[0]) for other in ids[1:]]
    if kind == "message-kernel":
        return [(ids[0], ids[1]), (ids[2], ids[3])]
    return [(ids[0], other) for other in ids[1:]]


def end_of(span):
    begin, duration = slice_of_span(span)
    return None if duration in (-1, "lost") else begin + duration


def is_drawn(cause, effect):
    """True, None where the order in the file decides, or when the arrow arrives in the
    effect, which was there before the cause; False: the times contradict it."""
    begin, at = slice_of_span(cause)[0], slice_of_span(effect)[0]
    if at >= begin:
        return True if at > begin else None
    if effect["row"].endswith("receive") and not effect["layer"] == "proxy":
        at = end_of(effect)
        return at if at is not None and at > begin else False
    if effect["layer"] == "gpu" and cause["layer"] == "net":
        at = end_of(cause)
        last = end_of(effect)
        return at if at is not None and (last is None or at <= last) else False
    return False


def check_flows(records, keys, answers, problems):
    spans = {span["id"]: span for span in records["span"]}
    expected, possible = collections.Counter(), collections.Counter()
    for link in records["link"]:
        for cause, effect in arrows(link):
            if cause not in spans or effect not in spans:
                continue
            drawn = is_drawn(spans[cause], spans[effect])
            into = span_key(spans[effect])[0]
            out = span_key(spans[cause])[0]
            if drawn is None:
                possible[out, into] += 1
                possible[out, (*into[:3], "arrival", end_of(spans[effect]))] += 1
            elif drawn is True:
                expected[out, into] += 1
            elif drawn is not False:
                expected[out, (*into[:3], "arrival", drawn)] += 1
    ends = dict(keys)
    for number, time, track, process in answers["arrivals"]:
        ends[number] = (*who_of_track(process), row_of_track(track), "arrival", time)
    actual = collections.Counter((ends.get(out), ends.get(into))
                                 for out, into in answers["flows"])
    # Of two slices that begin at one moment the file says which was first.
    compare("flows", expected, actual - (possible & (actual - expected)), problems)


# ---- Counters ----

def changes_of(spans):
    """(process, counter) -> changes (time, by) of bytes in flight"""
    counters = {"net_send": "messages sent", "net_recv": "messages received"}
    changes = collections.defaultdict(list)
    for span in spans:
        size = span["fields"].get("bytes")
        what = counters.get(span["name"]) if span["layer"] == "net" else None
        if re.search(r"\.s\d+$", span["id"]) and ".q" in span["id"]:
            what = "requests posted"
        if not what or not isinstance(size, int) or size <= 0:
            continue
        begin, duration = slice_of_span(span)
        who = span["pid"], span["host"], f"bytes in flight: {what}"
        changes[who].append((begin, size))
        if duration not in (-1, "lost"):
            changes[who].append((span["end_ns"] or span["end_max_ns"], -size))
    return changes


def steps(changes):
    """The value after each moment."""
    values, value = {}, 0
    for time, by in sorted(changes, key=lambda change: change[0]):
        value += by
        values[time] = value
    return values


def check_counters(records, rows, problems):
    shown = collections.defaultdict(dict)
    for time, value, name, parent in rows:
        shown[(*(who_of_track(parent) or (None, None)), name)][time] = int(value)
    for key, changes in changes_of(records["span"]).items():
        if steps(changes) != shown.pop(key, None):
            problems.append(f"counter {key} is wrong")
    for sample in records["sample"]:
        subject = " ".join(str(part) for part in (sample["source"], sample["subject"],
                                                  sample["tid"]) if part not in ("", None))
        for counter in sample["counters"]:
            key = sample["pid"], sample["host"], f"{subject}: {counter['name']}"
            if shown[key].pop(sample["time_ns"], None) != counter["value"]:
                problems.append(f"sample {key} is wrong")
    messages = sum(value for key, values in shown.items() if key[2].startswith("messages ")
                   for value in values.values()) // 10
    expected = sum(span["name"] == "net_send" and span["layer"] == "net" and
                   span["state"] == "complete" for span in records["span"])
    if messages != expected:
        problems.append(f"{messages} messages are counted of {expected}")
    check_waiting(records, shown, problems)
    for key, values in shown.items():
        if values and not key[2].startswith(("messages ", "waiting ")):
            problems.append(f"counter {key} has values too many: {list(values.items())[:3]}")


def check_waiting(records, shown, problems):
    """Ranks that have called a collective that another rank has not: never all of them."""
    sizes = {}
    for record in records["communicator"]:
        if record["comm_key"] and record["nranks"]:
            sizes[record["comm_key"]] = record["nranks"]
    for key, values in shown.items():
        if not key[2].startswith("waiting "):
            continue
        start = key[2].split()[-1].rstrip(".")
        most = max([size for comm, size in sizes.items() if comm.startswith(start)] or [0])
        if any(not 0 <= value < most for value in values.values()):
            problems.append(f"{key[2]}: {max(values.values())} of {most} ranks wait")


# ---- Findings ----

def check_findings(why, rows, problems):
    for finding in why["findings"]:
        ranks = ", ".join("?" if rank is None else str(rank) for rank in finding["ranks"])
        at = [row for row in rows if row[0].endswith(finding["headline"])]
        if not at or any((row[2] or "") != ranks for row in at):
            problems.append(f"finding is not shown: {finding['headline']}")
    if len({row[0] for row in rows}) != len({finding["headline"]
                                             for finding in why["findings"]}):
        problems.append("findings are shown that nobody tells")


def check(name, answers):
    records = read_lines(name + ".jsonl")
    problems = [f"stats: {stat} {value}" for stat, value in answers["stats"]]
    keys = check_slices(records["span"], answers["slices"], problems)
    check_flows(records, keys, answers, problems)
    check_counters(records, answers["counters"], problems)
    if os.path.exists(name + ".why"):
        with open(name + ".why", encoding="utf-8") as file:
            check_findings(json.load(file), answers["instants"], problems)
    return problems


def main(names):
    engine = perfetto_query.Engine()
    answers = []
    for name in names:
        engine.load(name + ".perfetto")
        answers.append({what: engine.ask(query) for what, query in QUERIES.items()})
    engine.run()
    for name, answer in zip(names, answers):
        problems = check(name, answer)
        for problem in problems[:10]:
            print(problem)
        print(f"{'not ' if problems else ''}ok - Perfetto shows what jsonl tells: "
              f"{os.path.basename(name)}, {len(answer['slices'])} slices, "
              f"{len(answer['flows'])} flows, {len(answer['counters'])} values")


if __name__ == "__main__":
    main(sys.argv[1:])
