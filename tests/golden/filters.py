#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What filters let through is what a search in the unfiltered JSON lines finds.

usage: filters.py CONVERT FOLDER-OF-CASES FOLDER-TO-WORK-IN

Reads each case without filters and with many, and says for each case, in a line, 0 or 1 (all
is as it should be, or not) and a title.  Hides what each filter means for a line, which it
finds out from the lines alone.
"""
import glob
import json
import os
import re
import subprocess
import sys

# Filters with which the text is compared, too.
TEXTS = ({"rank": "0"}, {"op": "2"}, {"errors": "yes"})
HELD = {"last", "errors", "slowest"}
# The last three are no numbers: a result of another kind says nothing of failure.
FINE = {None, 0, "0", "ok", "OK", "ncclSuccess", "ncclInProgress", "SUCCESS", "success", "text",
        "odd", 1.5}


def view(convert, case, work, *params):
    """The lines of a view, or None where the filters are refused."""
    out = os.path.join(work, "out")
    words = ["events", case, "timeline", *params, "output=" + out, "overwrite=yes"]
    convert.stdin.write("\t".join(words) + "\n")
    convert.stdin.flush()
    status, _, cause = convert.stdout.readline().rstrip().partition(" ")
    if not status:
        sys.exit(f"# convert ended with {convert.wait()} at {words}")
    if status != "0":
        print("#", cause)
        return None
    with open(out, encoding="utf-8") as lines:
        return lines.read().splitlines()


class Case:
    """The lines of a trace, and what they say of each process and span."""

    def __init__(self, case, lines):
        self.lines = [json.loads(line) for line in lines]
        self.spans = [line for line in self.lines if line["type"] == "span"]
        with open(case, encoding="utf-8") as events:
            times = [int(line.split()[0]) for line in events if re.match(r"\d+ ", line)]
        self.first = min(times, default=0)
        self.last = max(times, default=0)
        self.ranks = {}    # of a process: all that were ever known of it
        largest = {}
        for line in self.lines:
            process = line.get("process")
            if line["type"] == "process":
                self.ranks.setdefault(process, []).append(line["rank"])
            elif line["type"] == "communicator" and line["rank"] is not None:
                size = line["nranks"] or -1
                known = largest.setdefault(process, (size, set()))
                if size > known[0]:
                    largest[process] = known = (size, set())
                if size == known[0]:
                    known[1].add(line["rank"])
        for process, ranks in self.ranks.items():
            if ranks == [None] * len(ranks) and process in largest:
                self.ranks[process] = [largest[process][1], None]

    def is_of_rank(self, process, wanted):
        """Whether the process has a wanted rank; None: not all the while."""
        ranks = self.ranks.get(process, [None])
        found = {bool((rank if isinstance(rank, set) else {rank}) & wanted)
                 for rank in ranks}
        return None if len(found) > 1 else found.pop()


def numbers(value):
    """The numbers of "0,2-5"."""
    found = set()
    for part in value.split(","):
        first, _, last = part.replace("..", "-").partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def operation_filter(case, filters):
    """Whether a span belongs to a wanted operation, for all spans by id."""
    wanted = {}
    groups = {}    # when the first wanted call of each began
    by_id = {span["id"]: span for span in case.spans}

    def own(span):
        if "comm" in filters and not (span["comm_key"] or "").startswith(filters["comm"]):
            return False
        return "op" not in filters or span["op_number"] in numbers(filters["op"])

    def has_own(span):
        return span["op_number"] if "op" in filters else span["comm_id"] or span["comm_key"]

    def is_wanted(identity):
        span = by_id.get(identity)
        if not span:
            return False
        if identity not in wanted:
            wanted[identity] = False
            wanted[identity] = own(span) if has_own(span) else is_part(span)
        return wanted[identity]

    def is_part(span):
        if span["layer"] in ("verbs", "net"):
            return False
        if span["layer"] == "gpu":
            return any(is_wanted(f"{span['process']}.{span['fields'][name]}")
                       for name in ("launch_call_id", "captured_call_id")
                       if name in span["fields"])
        return (is_wanted(span["parent"]) or
                groups.get((span["process"], span["group_id"]), span["begin_ns"] or 0) <
                (span["begin_ns"] or 0))

    for span in case.spans:
        if has_own(span) and own(span) and span["group_id"] and span["begin_ns"]:
            group = (span["process"], span["group_id"])
            groups[group] = min(groups.get(group, span["begin_ns"]), span["begin_ns"])
    return is_wanted


def has_failed(span):
    if span["state"] == "open":
        return not (span["layer"] == "proxy" or span["layer"] == "verbs" and
                    (span["fields"].get("signaled_seq") == 0 or ".r" in span["id"]))
    if span["name"] in ("ncclGetErrorString", "ncclGetLastError"):
        return False    # the result is a string
    return (".f" in span["id"] or span["result"] not in FINE or
            span["fields"].get("asyncError") not in FINE)


def expected(case, filters):
    """For each span whether it passes; None: the lines do not tell."""
    is_wanted = operation_filter(case, filters)
    begin = case.first + int(round(float(filters.get("begin", "-1e9")) * 1e9))
    end = case.first + int(round(float(filters.get("end", "1e9")) * 1e9))
    if "last" in filters:
        begin = case.last - int(round(float(filters["last"]) * 1e9))
    found = {}
    for span in case.spans:
        began = span["begin_ns"] if span["begin_ns"] is not None else span["end_ns"]
        ended = span["end_ns"] if span["end_ns"] is not None else span.get("end_max_ns")
        passes = [began <= end]
        if ended is not None and ended < begin and span["layer"] in ("net", "verbs"):
            passes.append(None)    # that it was over is known later
        elif ended is not None:
            passes.append(ended >= begin)
        elif began < begin:
            passes.append(None)    # open, until its process ended
        if "rank" in filters:
            passes.append(case.is_of_rank(span["process"], numbers(filters["rank"])))
        if "host" in filters:
            passes.append(span["host"] == filters["host"])
        if "layer" in filters:
            passes.append(span["layer"] in filters["layer"].split(","))
        if "call" in filters:
            pattern = re.escape(filters["call"]).replace(r"\*", ".*")
            passes.append(bool(re.fullmatch(pattern, span["name"])))
        if "op" in filters or "comm" in filters:
            passes.append(bool(is_wanted(span["id"])))
        if "errors" in filters:
            passes.append(has_failed(span))
        if False in passes:
            found[span["id"]] = False
        else:
            found[span["id"]] = None if None in passes else True
    return found


def check_slowest(case, got, count):
    """The longest, as far as lengths are known."""
    lengths = {span["id"]: span["end_ns"] - span["begin_ns"] for span in case.spans
               if span["state"] == "complete" and span["end_ns"] is not None}
    opened = {span["id"] for span in case.spans if span["state"] == "open"}
    chosen = [lengths[one] for one in got if one in lengths]
    others = [length for one, length in lengths.items() if one not in got]
    problems = []
    if set(got) - set(lengths) - opened:
        problems.append("of unknown length")
    if len(got) != min(count, len(got) + len(others)):
        problems.append("so many")
    if chosen and others and max(others) > min(chosen):
        problems.append("a longer one is left out")
    return problems


def check_links(case, shown, got, filters):
    """Those with a span that passes, unless they were known before."""
    links = [line for line in shown if line["type"] == "link"]
    wanted = [line for line in case.lines if line["type"] == "link" and
              set(line["spans"]) & set(got) and not HELD & set(filters)]
    missing = [link for link in wanted if link not in links and
               link["kind"] != "flush-message" and "begin" not in filters]
    return [f"link {link['spans']} lacks" for link in missing] + \
        [f"link {link['spans']} passes" for link in links if link not in wanted]


def check(case, lines, filters):
    """What is wrong with the filtered lines."""
    shown = [json.loads(line) for line in lines]
    got = [line["id"] for line in shown if line["type"] == "span"]
    problems = []
    if (shown[0]["spans_passed"], shown[0]["spans"]) != (len(got), len(case.spans)):
        problems.append("the counts of the first line")
    if "slowest" in filters:
        problems += check_slowest(case, got, int(filters["slowest"]))
    else:
        for identity, passes in expected(case, filters).items():
            if passes is not None and passes != (identity in got):
                problems.append(f"{identity} {'lacks' if passes else 'passes'}")
    problems += check_links(case, shown, got, filters)
    unfiltered = [line for line in case.lines if line["type"] in ("library", "process") and
                  "end" not in line]
    if unfiltered != [line for line in shown if line["type"] in ("library", "process") and
                      "end" not in line]:
        problems.append("processes or libraries")
    if {"rank", "host"} & set(filters) and not {"op", "comm", "call"} & set(filters):
        for line in shown:
            if line["type"] in ("communicator", "problem", "thread", "open") and \
                    (("host" in filters and line["host"] != filters["host"]) or
                     ("rank" in filters and case.is_of_rank(
                         line["process"], numbers(filters["rank"])) is False)):
                problems.append(f"a {line['type']} of process {line['process']}")
    return problems


def choices(case):
    """Filters that make sense for this trace."""
    hosts = sorted({span["host"] for span in case.spans})
    keys = sorted({span["comm_key"] for span in case.spans if span["comm_key"]})
    middle = (case.last - case.first) // 2
    quarter = f"{middle // 2 / 1e9:.9f}"
    half = f"{middle / 1e9:.9f}"
    yield {"rank": "0"}
    yield {"rank": "1..7"}
    for host in hosts[:2]:
        yield {"host": host}
    for key in keys[:2]:
        yield {"comm": key}
        yield {"comm": key[:-1] if len(key) > 4 else key, "op": "1"}
    yield {"op": "2"}
    yield {"op": "1-2,5", "rank": "0"}
    for layer in ("nccl", "cuda,gpu", "verbs", "net", "proxy"):
        yield {"layer": layer}
    yield {"op": "1", "layer": "gpu"}
    yield {"call": "*Reduce*"}
    # Of several hosts whose clocks are known, the file does not have the times that are shown.
    if not any("clock" in host for host in case.lines[0]["hosts"]):
        yield {"begin": half}
        yield {"end": half}
        yield {"begin": quarter, "end": half, "layer": "nccl"}
        yield {"last": half}
    yield {"errors": "yes"}
    yield {"slowest": "3"}


def examine(convert, path, work):
    lines = view(convert, path, work, "format=jsonl")
    case = Case(path, lines)
    is_right = True
    for filters in choices(case):
        params = [f"{name}={value}" for name, value in filters.items()]
        lines = view(convert, path, work, "format=jsonl", *params)
        problems = ["refused"] if lines is None else check(case, lines, filters)
        # One is enough to see that the text has the same calls.
        text = view(convert, path, work, *params) if filters in TEXTS else None
        if lines and text and not text[0].startswith(
                f"{json.loads(lines[0])['spans_passed']} call"):
            problems.append("the text shows as many: " + text[0])
        if problems:
            is_right = False
            print("#", *params, *problems[:5])
    return is_right


def main():
    program, folder, work = sys.argv[1:]
    convert = subprocess.Popen([program, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    for path in sorted(glob.glob(os.path.join(folder, "*.events"))):
        with open(path, encoding="utf-8") as case:
            # What is left out of a trace must not be left out for another reason, too.
            if "# params:" in case.read():
                continue
        name = os.path.basename(path)[:-len(".events")]
        print(0 if examine(convert, path, work) else 1, name, flush=True)
    convert.stdin.close()
    if convert.wait():
        print(1, "what the sanitizers say at the end")


main()
