# SPDX-License-Identifier: MIT
"""Whether the first finding is the fault that a job had.  What is accepted is written here, and
nothing else is."""
import re
import statistics

FAULTS = ["missing", "missing-init", "missing-split", "half-pair", "function", "size", "type",
          "root", "order", "late-host", "late-gpu", "slow-link", "broken-qp", "killed",
          "stuck-kernel", "polling"]
KINDS = ["healthy"] + FAULTS

# Which kind of finding says it.  A rank that was killed has not come, and the communicators of
# the others fail; a queue pair in error is a failure, behind which operations are stuck.
ACCEPTED = {
    "missing": ["missing"],
    "missing-init": ["missing"],
    "missing-split": ["missing"],
    "half-pair": ["missing"],
    "function": ["mismatch"],
    "size": ["mismatch"],
    "type": ["mismatch"],
    "root": ["mismatch"],
    "order": ["mismatch"],
    "late-host": ["late"],
    "late-gpu": ["late"],
    "slow-link": ["slow"],
    "broken-qp": ["failed", "stuck"],
    "killed": ["missing", "failed", "stuck"],
    "stuck-kernel": ["stuck"],
    "polling": ["missing"],
}
# In these the finding is of no one operation.
WITHOUT_OPERATION = ("late-host", "late-gpu", "slow-link", "broken-qp")
MISMATCHES = ("function", "size", "type", "root", "order")
LATE = ("late-host", "late-gpu")
# These jobs end.
ENDING = ("healthy", "slow-link") + LATE
# A pause of the machine's own, longer than this, is lateness that is there.
PAUSE_NS = 250e6
TOLERANCE = 0.05


def fault_of(case, log):
    for record in log[case.rank]:
        if "fault" in record:
            return record
    return None


def judge_ranks(case, fault, finding):
    """None, or what is wrong with the ranks that the finding blames."""
    ranks = finding["ranks"]
    size, guilty = fault["comm_size"], fault["comm_rank"]
    if case.kind == "slow-link":
        # Between the two ends of a link nobody can tell whose it is.
        wanted = {case.rank, fault["peer"]}
        good = bool(ranks) and set(ranks) <= wanted
    elif case.kind == "broken-qp":
        # The one whose queue pair it is, and maybe the other end, a neighbour in the ring.
        wanted = {guilty}
        near = {guilty, (guilty + 1) % size, (guilty - 1) % size}
        good = guilty in ranks and set(ranks) <= near and len(ranks) <= 2
    elif case.kind in MISMATCHES and size == 2:
        # Of two that differ nobody can tell who is right.
        wanted = {0, 1}
        good = set(ranks) <= wanted
    else:
        wanted = {guilty}
        good = set(ranks) == wanted
    return None if good else f"it blames {ranks}, not {sorted(wanted)}"


def calls_of(case, fault):
    """The names under which the operation may be told."""
    if case.kind in MISMATCHES:
        return None
    return [fault["call"]]


def judge_operation(case, fault, finding):
    if case.kind in WITHOUT_OPERATION:
        return None
    calls = calls_of(case, fault)
    if calls and finding["operation"] not in calls:
        return f"it names {finding['operation']}, not {fault['call']}"
    wanted = fault["number"] or None
    if finding["op_number"] != wanted:
        return f"it names number {finding['op_number']}, not {wanted}"
    return None


def times_of(word, cuda, rank):
    """When NCCL's kernels began or ended on a rank, as the driver double wrote."""
    return [int(line.split(" ns=", 1)[1].split(" ", 1)[0]) for line in cuda(rank)
            if line.startswith(word + " ") and "ncclDevKernel" in line]


def kernels(log, cuda, word):
    """By operation of all ranks: when its kernel began (or ended) on each."""
    found = {}
    for rank, records in log.items():
        done = [record for record in records if record.get("kernels")]
        for record, when in zip(done, times_of(word, cuda, rank)):
            if record["of_all"]:
                found.setdefault(record["op"], {})[rank] = when
    return {op: ranks for op, ranks in found.items() if len(ranks) == len(log)}


def starts(log, cuda):
    return kernels(log, cuda, "begin")


def behind(case, ranks):
    """By how much the rank at fault is behind the median of the others."""
    return ranks[case.rank] - statistics.median(
        when for rank, when in ranks.items() if rank != case.rank)


def lateness(case, log, cuda, since):
    """Of the rank at fault, by operation: from the median start of the others to its own,
    without what it was late already when it came out of the operation before."""
    numbers = {record["op"]: record["number"] for record in log[case.rank]
               if record.get("of_all")}
    ends = {numbers[op]: ranks for op, ranks in kernels(log, cuda, "end").items()
            if op in numbers}
    late = []
    for op, ranks in starts(log, cuda).items():
        before = ends.get(numbers.get(op, 0) - 1)
        if op >= since:
            late.append(behind(case, ranks) - max(behind(case, before), 0) if before
                        else behind(case, ranks))
    return late


def disturbed(case, log, cuda):
    """What else was late, or None: the machine has other things to do, too.  Then the job has
    another fault than the one that it was given, and a run of it shows nothing."""
    if case.kind not in LATE + ("healthy",):
        return None
    fault = fault_of(case, log)
    limit = fault["late_ms"] * 1e6 / 2 if fault else PAUSE_NS
    # To the first operation each rank comes when it has made its connections.
    for op, ranks in sorted(starts(log, cuda).items())[1:]:
        for rank, when in ranks.items():
            others = statistics.median(ranks[other] for other in ranks
                                       if other != rank and not (fault and other == case.rank))\
                if len(ranks) > 2 or not fault else when
            if when - others > limit and not (fault and rank == case.rank):
                return f"rank {rank} was {(when - others) / 1e6:.0f} ms late to operation {op}"
    if fault and max(lateness(case, log, cuda, fault["op"])[1:], default=0) > 4 * limit:
        return f"rank {case.rank} was much later than it should have been"
    return None


def judge_lateness(case, log, cuda, fault, finding):
    """Whether "last to start N of M collectives, by X" is so in the logs of job and driver."""
    said = [evidence["value"] for evidence in finding["evidence"]
            if evidence["name"] == "lateness_ns"]
    times = re.search(r"last to start (\d+) of", finding["headline"])
    if not said or not times:
        return "it does not say how late, and how often"
    late = sorted(lateness(case, log, cuda, fault["op"]), reverse=True)
    # Where the machine held up the others, too, it was not late; two operations of a group
    # have one kernel.
    plainly = sum(one > fault["late_ms"] * 1e6 / 4 for one in late)
    if len(late) < 12 or int(times[1]) < plainly / 2:
        return f"it was late {plainly} of {len(late)} times, and not {times[1]}"
    # Which operations are among the late ones differs by a few where the machine is busy, and
    # so by a few places where the median is.
    late = late[:int(times[1])]
    places = max(1, len(late) // 8)
    middle = (len(late) - 1) // 2
    most, least = late[max(0, middle - places)], late[min(len(late) - 1, middle + places)]
    if not (1 - TOLERANCE) * least <= said[0] <= (1 + TOLERANCE) * most:
        return f"it says {said[0] / 1e6:.1f} ms, and the log {least / 1e6:.1f} to {most / 1e6:.1f} ms"
    return None


def judge(case, log, cuda, said):
    """The first finding, and what is wrong with it, or None."""
    first = said["findings"][0] if said["findings"] else None
    if case.kind == "healthy":
        bad = [finding for finding in said["findings"] if finding["severity"] != "note"]
        if not first:
            return None, "it says nothing: " + said.get("error", "")
        return (bad[0], "nothing is wrong with the job") if bad else (first, None)
    fault = fault_of(case, log)
    if not fault:
        return first, "the job came to no fault: the test is wrong"
    if not first:
        return None, "it says nothing: " + said.get("error", "")
    if first["kind"] not in ACCEPTED[case.kind]:
        return first, f"it finds {first['kind']}, not {' or '.join(ACCEPTED[case.kind])}"
    wrong = judge_ranks(case, fault, first) or \
        judge_operation(case, fault, first)
    if not wrong and case.kind in LATE:
        wrong = judge_lateness(case, log, cuda, fault, first)
    return first, wrong


def spoil(case, finding):
    """The finding with one thing wrong in it, each time another: what, and the finding."""
    if case.kind == "healthy":
        yield "severity", dict(finding, severity="warning")
        return
    yield "kind", dict(finding, kind="clear")
    yield "rank", dict(finding, ranks=[rank + case.ranks for rank in finding["ranks"]] or [99])
    if case.kind not in WITHOUT_OPERATION:
        yield "number", dict(finding, op_number=(finding["op_number"] or 0) + 1)
        if case.kind not in MISMATCHES:
            yield "operation", dict(finding, operation="ncclNothing")
    if case.kind in LATE:
        yield "lateness", dict(finding, evidence=[
            dict(evidence, value=evidence["value"] * 1.2) for evidence in finding["evidence"]])
