#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Records jobs with one fault each, asks `ccltap why`, and compares its first finding with what
the job wrote itself.

usage: faults.py [OPTION...] CCLTAP BUILD WORK

  --runs N          N runs whose fault, ranks, rank and moment are drawn (0)
  --healthy N       N runs without a fault (0)
  --each            one run of each fault
  --seed S          what all is drawn from (today's date)
  --only KIND,...   of these faults alone
  --ranks N,...     with so many ranks (2,4,8)
  --transport T     verbs, socket, p2p or shm, and of the faults those that can be there
                    (any: a network that is drawn)
  --jobs N          so many runs at once (1); on a busy machine more of them are made again
  --case K:N:R:M:S  one run: fault, ranks, rank, moment, seed; may be given again, and :T
                    at its end is the transport
  --table FILE      put the table of all runs between the marks in that file
  --keep            leave the traces in WORK

Prints a line of TAP without a number for each run; what a case is repeated with is its name.
Each judgement that a finding is right is tried on the same finding with something wrong in it.
"""
import argparse
import concurrent.futures
import datetime
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import judge  # pylint: disable=wrong-import-position
import page  # pylint: disable=wrong-import-position

SILENT_S = 2.0  # a job in which nothing happened for so long hangs
LIMIT_S = 60
ATTEMPTS = 5
NET_FAULTS = ("slow-link", "broken-qp")
# Ranks of one node.  A message is not to fit into what an unused connection takes.
ONE_NODE = {"MININCCL_RANKS_PER_NODE": "0", "NCCL_BUFFSIZE": "32768"}
TRANSPORTS = {"any": {}, "verbs": {}, "socket": {}, "p2p": ONE_NODE,
              "shm": ONE_NODE | {"NCCL_P2P_DISABLE": "1"}}


class Case:
    def __init__(self, kind, ranks, rank, moment, seed, transport):
        self.kind, self.ranks, self.rank = kind, ranks, rank
        self.moment, self.seed, self.transport = moment, seed, transport

    def __str__(self):
        return (f"{self.kind}:{self.ranks}:{self.rank}:{self.moment}:{self.seed}"
                + f":{self.transport}" * (self.transport != "any"))

    @property
    def has_verbs(self):
        if self.transport == "any":
            return self.kind in NET_FAULTS or self.seed % 3 == 0
        return self.transport == "verbs"

    def settings(self):
        """How NCCL moves the data, drawn like all else from the seed."""
        drawn = random.Random(self.seed)
        channels = str(drawn.choice((1, 1, 2, 4)))
        return TRANSPORTS[self.transport] | {
                "NCCL_IB_DISABLE": "0" if self.has_verbs else "1",
                "NCCL_MIN_NCHANNELS": channels, "NCCL_MAX_NCHANNELS": channels,
                "NCCL_PROTO": drawn.choice(("ll", "ll128", "simple", "simple")),
                "NCCL_ALGO": drawn.choice(("ring", "ring;allreduce:tree"))}


def parse_case(text):
    kind, *numbers = text.split(":")
    transport = numbers.pop() if numbers and numbers[-1] in TRANSPORTS else "any"
    if kind not in judge.KINDS or len(numbers) != 4:
        raise argparse.ArgumentTypeError("a case is KIND:RANKS:RANK:MOMENT:SEED[:TRANSPORT]")
    return Case(kind, *map(int, numbers), transport)


def draw_case(drawn, kind, ranks, transport):
    # Two ranks have one link, and nothing to compare it with.
    count = drawn.choice([count for count in ranks if kind != "slow-link" or count > 2])
    return Case(kind, count, drawn.randrange(count), drawn.randrange(100),
                drawn.randrange(1 << 31), transport)


class Job:
    """A job that is recorded."""

    def __init__(self, how, case, folder):
        self.case, self.folder, self.ccltap = case, folder, how.ccltap
        self.trace = os.path.join(folder, "trace")
        os.makedirs(folder)
        doubles = os.path.join(how.build, "tests/doubles")
        libraries = [doubles + "/cupti"] + [doubles + "/verbs"] * case.has_verbs
        environment = dict(os.environ, LD_LIBRARY_PATH=":".join(libraries),
                           SOFTVERBS_FABRIC=f"faults.{os.getpid()}.{case.seed}",
                           **case.settings())
        environment.pop("SOFTVERBS_FAULTS", None)
        inner = ["env", "LD_LIBRARY_PATH=" + environment.pop("LD_LIBRARY_PATH")]
        with open(os.path.join(folder, "recorder"), "w", encoding="utf-8") as said:
            self.recorder = subprocess.Popen(
                [how.ccltap, "record", "-o", self.trace, "--", *inner,
                 os.path.join(how.build, "tests/faults/programs/faulty"), folder, case.kind,
                 *map(str, (case.ranks, case.rank, case.moment, case.seed))],
                env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def _quiet_s(self):
        """For how long no rank has written anything."""
        times = [os.stat(path).st_mtime for path in glob.glob(self.folder + "/rank.*")]
        return time.time() - max(times) if len(times) == self.case.ranks else 0

    def hangs(self):
        """Waits until it has ended, or hangs."""
        limit = time.monotonic() + LIMIT_S
        silent = LIMIT_S if self.case.kind in judge.ENDING else SILENT_S
        while self.recorder.poll() is None:
            if time.monotonic() > limit or \
                    self._quiet_s() > silent and judge.fault_of(self.case, self.log()):
                return True
            time.sleep(0.05)
        return False

    def end(self):
        """Ends it, and the recording with it."""
        if self.recorder.poll() is None:
            self.recorder.send_signal(signal.SIGTERM)
        try:
            self.recorder.wait(30)
        except subprocess.TimeoutExpired:
            self.recorder.kill()
            self.recorder.wait()

    def why(self):
        """What the tool says, and how long it took to say it."""
        begin = time.monotonic()
        asked = subprocess.run([self.ccltap, "why", "--json", self.trace],
                               capture_output=True, text=True, timeout=60)
        took = time.monotonic() - begin
        try:
            return json.loads(asked.stdout), took
        except ValueError:
            return {"findings": [], "error": asked.stderr.strip() or "it said nothing"}, took

    def log(self):
        """What each rank wrote, by rank."""
        ranks = {}
        for rank in range(self.case.ranks):
            try:
                with open(f"{self.folder}/rank.{rank}", encoding="utf-8") as file:
                    ranks[rank] = [json.loads(line) for line in file if line.endswith("}\n")]
            except OSError:
                ranks[rank] = []
        return ranks


    def cuda(self, rank):
        """The lines of the driver's log of that rank."""
        with open(f"{self.folder}/cuda.{rank}", encoding="utf-8") as file:
            return file.read().splitlines()


class Outcome:
    def __init__(self, case, hung, first, complaint, took, disturbance):
        self.case, self.hung, self.complaint, self.took = case, hung, complaint, took
        self.disturbance = disturbance
        self.kind = first["kind"] if first else "-"
        self.line = first["headline"] if first else "-"


def judge_all(job, said):
    """The first finding, and what is wrong with it, or with the judgement."""
    log = job.log()
    first, complaint = judge.judge(job.case, log, job.cuda, said)
    if complaint:
        return first, complaint
    for what, spoilt in judge.spoil(job.case, first):
        if not judge.judge(job.case, log, job.cuda, {"findings": [spoilt]})[1]:
            return first, f"the judgement lets pass a finding with another {what}"
    return first, None


def run_case(how, case):
    """The outcome of a run; of one that is not right, and in which the machine made something else
    late, that of another one."""
    for _ in range(ATTEMPTS):
        outcome = run_once(how, case)
        if not outcome.complaint or not outcome.disturbance:
            return outcome
        print(f"# {case}, not counted: {outcome.disturbance}", flush=True)
    outcome.complaint += f"; the machine is too busy: {outcome.disturbance}"
    return outcome


def run_once(how, case):
    folder = os.path.join(how.work, str(case).replace(":", "-"))
    shutil.rmtree(folder, ignore_errors=True)
    job = Job(how, case, folder)
    hung, took, complaints, first = False, 0, [], None
    try:
        hung = job.hangs()
        if hung:
            said, took = job.why()
            first, complaint = judge_all(job, said)
            complaints += [f"while it hung: {complaint}"] * bool(complaint)
    finally:
        job.end()
    said, _ = job.why()
    first_at_end, complaint = judge_all(job, said)
    complaints += [f"at the end: {complaint}"] * bool(complaint)
    if complaint or first is None:
        first = first_at_end
    disturbance = judge.disturbed(case, job.log(), job.cuda)
    if not how.keep and not complaints:
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(case, hung, first, "; ".join(complaints), took, disturbance)


def report(outcome):
    case = outcome.case
    print(f"{'not ' * bool(outcome.complaint)}ok - {case}"
          f"{', which hung' * outcome.hung}: {outcome.kind}", flush=True)
    if outcome.complaint:
        print(f"# {outcome.complaint}\n# first line: {outcome.line}\n"
              f"# again: tests/faults/faults.py --keep --case {case} CCLTAP BUILD WORK", flush=True)
    elif outcome.hung:
        print(f"# answered within {outcome.took:.1f} s: {outcome.line}", flush=True)


def make_table(outcomes, seed):
    """One row for each fault and number of ranks, and an example of the first line."""
    lines = [f"Drawn from seed {seed}; {len(outcomes)} runs.", "",
             "| seeded | ranks | runs | found | wrong | first line, of one run |",
             "|---|---|---|---|---|---|"]
    rows = {}
    for outcome in outcomes:
        rows.setdefault((judge.KINDS.index(outcome.case.kind), outcome.case.ranks),
                        []).append(outcome)
    for (kind, ranks), row in sorted(rows.items()):
        wrong = [outcome for outcome in row if outcome.complaint]
        example = (wrong or row)[0].line.replace("|", "\\|")
        lines.append(f"| {judge.KINDS[kind]} | {ranks} | {len(row)} | {len(row) - len(wrong)} "
                     f"| {len(wrong)} | {example} |")
    slowest = max((outcome.took for outcome in outcomes), default=0)
    lines += ["", f"`ccltap why` answered on a job that hung within {slowest:.1f} s."]
    return "\n".join(lines)


def numbers(text):
    return [int(number) for number in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--healthy", type=int, default=0)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int,
                        default=int(datetime.datetime.now(datetime.timezone.utc)
                                    .strftime("%Y%m%d")))
    parser.add_argument("--only", type=lambda text: text.split(","), default=judge.FAULTS)
    parser.add_argument("--ranks", type=numbers, default=[2, 4, 8])
    parser.add_argument("--transport", choices=TRANSPORTS, default="any")
    parser.add_argument("--case", type=parse_case, action="append", default=[])
    parser.add_argument("--table")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("ccltap")
    parser.add_argument("build")
    parser.add_argument("work")
    return parser.parse_args()


def cases_of(how):
    drawn = random.Random(how.seed)
    faults = [kind for kind in how.only
              if how.transport in ("any", "verbs") or kind not in NET_FAULTS]
    kinds = list(faults) * how.each
    # Each fault as often as the others, and the rest by chance, in an order of its own.
    times, rest = divmod(how.runs, len(faults))
    many = list(faults) * times + random.Random(how.seed).sample(faults, rest)
    drawn.shuffle(many)
    kinds += many + ["healthy"] * how.healthy
    return how.case + [draw_case(drawn, kind, how.ranks, how.transport) for kind in kinds]


def main():
    how = parse()
    how.build = os.path.abspath(how.build)
    how.work = os.path.abspath(how.work)
    cases = cases_of(how)
    print(f"# seed {how.seed}: {len(cases)} runs", flush=True)
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(how.jobs) as pool:
        for outcome in pool.map(lambda case: run_case(how, case), cases):
            outcomes.append(outcome)
            report(outcome)
    if how.table:
        page.put(how.table, make_table(outcomes, how.seed))
    return any(outcome.complaint for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main())
