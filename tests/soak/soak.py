#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A job that is counted all the time, and recorded now and then, for a long time: what grows?

usage: soak.py BUILD SECONDS TABLE

`ccltap record --layers none --metrics` runs 4 ranks (tests/live/programs/steady.c) that make
and destroy communicators, end and are restarted, every second time after SIGKILL.  Meanwhile
`ccltap start` and `stop` record it, 200 times in 20 minutes; each tenth time `ccltap end`
completes the trace, and the next one is another.  Memory, descriptors and threads of the
supervisor, of LTTng's daemons and of the ranks are read each time, and the files.  At the end
the metrics are compared with what the ranks counted themselves.  Writes TABLE, and ends with 1
if anything grew or differs.
"""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import time

RANKS = 4
PAUSE_US = 200000
CYCLE_SECONDS = 6
CYCLES_OF_A_TRACE = 10
# A generation of ranks lasts about so long, and less in a short soak.
GENERATION_SECONDS = 60
ROWS = 12
# What is allocated once, late: buffers of a library, a cache.
SLACK_KIB = 1024
SLACK_SHARE = 0.05
OPERATION = "ncclAllReduce"
KINDS = ("supervisor", "sessiond", "consumerd", "rank")


def fail(why):
    print(f"soak: {why}", file=sys.stderr)
    sys.exit(1)


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else 0


def within(seconds, is_true, what):
    until = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > until:
            fail(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def read_status(pid):
    """State, resident KiB, threads and descriptors of a process, None when it is gone."""
    try:
        text = open(f"/proc/{pid}/status", encoding="utf-8").read()
        fds = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    fields = dict(re.findall(r"^(\w+):\s+(\S+)", text, re.MULTILINE))
    if "VmRSS" not in fields:
        return None
    return int(fields["VmRSS"]), fds, int(fields["Threads"])


def processes():
    """Name, parent and state of all."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(path, encoding="utf-8").read()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        state, parent = text[text.rindex(")") + 2:].split()[:2]
        found[int(text.split(" ", 1)[0])] = name, int(parent), state
    return found


def is_near(pid):
    """Whether a daemon may be ours: in another mount namespace another test has its own."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt")
    except OSError:
        return False


def below(pid, found):
    """All descendants of a process."""
    ours = {pid}
    while True:
        more = {child for child, (_, parent, _) in found.items() if parent in ours} - ours
        if not more:
            return ours
        ours |= more


def size_of(path):
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                pass
    return total


class Soak:
    def __init__(self, build, seconds, table):
        self.build, self.seconds, self.table = os.path.abspath(build), seconds, table
        self.work = os.path.join(self.build, "tests/soak/made")
        shutil.rmtree(self.work, ignore_errors=True)
        self.run = os.path.join(self.work, "run")
        os.makedirs(self.run)
        self.file = os.path.join(self.work, "job.prom")
        self.trace = os.path.join(self.work, "trace")
        self.samples = []
        self.cycles = max(2 * CYCLES_OF_A_TRACE, seconds // CYCLE_SECONDS)
        self.generation = min(GENERATION_SECONDS, seconds / 4)
        self.recorded = collections.Counter()
        self.recorder = None
        self.begun = time.monotonic()

    def ccltap(self, *words):
        done = subprocess.run([os.path.join(self.build, "ccltap"), *words],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            fail(f"ccltap {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        os.environ["CCLTAP_LIBDIR"] = os.path.join(self.build, ".libs")
        for name in ("LD_PRELOAD", "CCLTAP_JOB", "RANK"):
            os.environ.pop(name, None)
        # Growth is looked at, and not whether a busy machine gives LTTng its 3 s.
        os.environ.setdefault("LTTNG_UST_REGISTER_TIMEOUT", "60000")
        rounds = int(self.generation * 1e6 / PAUSE_US)
        self.errors = open(os.path.join(self.work, "err"), "w+", encoding="utf-8")
        self.recorder = subprocess.Popen(
            [os.path.join(self.build, "ccltap"), "record", "--layers", "none",
             f"--metrics={self.file}", "-o", self.trace, "--",
             os.path.join(self.build, "tests/live/programs/steady"), self.run, str(RANKS),
             str(PAUSE_US), str(rounds), "1"], stderr=self.errors)
        within(60, lambda: len(glob.glob(self.run + "/at.*")) == RANKS, "the ranks work")
        said = self.ccltap("status", self.file)
        self.supervisor = int(re.search(r"supervisor: process (\d+)", said)[1])

    def sample(self):
        found = processes()
        ours = below(os.getpid(), found)
        reads = collections.defaultdict(list)
        for pid in found:
            name, parent, _ = found[pid]
            if pid == self.supervisor:
                kind = "supervisor"
            elif name in ("lttng-sessiond", "lttng-consumerd") and is_near(pid):
                kind = name[len("lttng-"):]
            elif pid in ours and name == "steady" and found[parent][0] == "steady":
                kind = "rank"
            else:
                continue
            status = read_status(pid)
            if status:
                reads[kind].append(status)
        sample = {kind: tuple(max(values) for values in zip(*of_kind))
                  for kind, of_kind in reads.items()}
        sample["zombies"] = sum(state == "Z" and name != "steady"
                                for pid, (name, _, state) in found.items() if pid in ours)
        sample["metrics"] = os.path.getsize(self.file)
        sample["shm"] = size_of("/dev/shm")
        sample["seconds"] = time.monotonic() - self.begun
        return sample

    def cycle(self, nr):
        pause = max(0.2, self.seconds / self.cycles / 2)
        due = self.begun + (nr + 1) * self.seconds / self.cycles
        said = self.ccltap("start", self.file)
        match = re.search(r"recorded: (\d+) of (\d+) processes", said)
        self.recorded["starts"] += 1
        self.recorded["at once"] += bool(match and match[1] == match[2])
        if "cannot be" in said:
            fail(said)
        time.sleep(min(pause, 2))
        self.samples.append(self.sample())
        if nr % CYCLES_OF_A_TRACE == CYCLES_OF_A_TRACE - 1:
            self.ccltap("end", self.file)
            self.samples[-1]["trace"] = size_of(self.trace)
            self.check_trace()
        else:
            self.ccltap("stop", self.file)
        time.sleep(max(0, due - time.monotonic()))

    def check_trace(self):
        text = subprocess.run(["babeltrace2", self.trace], capture_output=True, text=True,
                              check=False)
        if text.returncode:
            fail(f"the trace cannot be read: {text.stderr[-400:]}")
        calls = text.stdout.count(f" nccl:{OPERATION}_entry: ")
        if not calls:
            fail("a trace has no calls")
        self.recorded["traces"] += 1
        self.recorded["calls"] += calls

    def compare(self):
        """The sums of the metrics with the program's own; returns rows of the table."""
        time.sleep(7)
        metrics = collections.Counter()
        for line in open(self.file, encoding="utf-8"):
            match = re.match(r'ccltap_nccl_(calls|operation_bytes)_total\{.*rank="\d+",'
                             r'function="(\w+)"\} (\d+)', line)
            if match:
                metrics[match[2], match[1]] += int(match[3])
        truth = collections.Counter()
        for path in glob.glob(self.run + "/truth.*"):
            for line in open(path, encoding="utf-8"):
                function, calls, nr_bytes = line.split()
                truth[function, "calls"] += int(calls)
                truth[function, "operation_bytes"] += int(nr_bytes)
        self.generations = len(glob.glob(self.run + "/truth.0.*"))
        rows = [(what, function, value, metrics[function, what])
                for (function, what), value in sorted(truth.items()) if value]
        self.made = truth["ncclCommInitRank", "calls"]
        return rows

    def end(self):
        touch = lambda name: open(os.path.join(self.run, name), "w", encoding="utf-8").close()
        touch("go")
        within(120, lambda: len(glob.glob(self.run + "/done.*")) == RANKS, "the ranks end")
        rows = self.compare()
        touch("end")
        status = self.recorder.wait(timeout=120)
        if status:
            self.errors.seek(0)
            fail(f"the program ended with {status}: {self.errors.read()}")
        left = [name for name in glob.glob(self.work + "/*") if name.startswith(self.file)]
        return rows, left

    def grown(self):
        """What is more in the last quarter than in the first, after a tenth for the start.

        Medians: a rank that makes a communicator, or loads LTTng, has threads and descriptors
        more for a moment.
        """
        samples = self.samples[len(self.samples) // 10:]
        quarter = max(1, len(samples) // 4)
        first, last = samples[:quarter], samples[-quarter:]
        grown = []
        for kind in KINDS:
            for i, what in enumerate(("memory", "descriptors", "threads")):
                a, b = (median(s[kind][i] for s in part if kind in s)
                        for part in (first, last))
                slack = max(SLACK_KIB, a * SLACK_SHARE) if what == "memory" else 0
                if b > a + slack:
                    grown.append(f"{kind}: {what} {a} -> {b}")
        # How much a trace has depends on how long each recording took, too.
        for what, share in (("metrics", SLACK_SHARE), ("shm", SLACK_SHARE), ("trace", 0.5)):
            a, b = (median(s[what] for s in part if what in s) for part in (first, last))
            if b > a * (1 + share) + 65536:
                grown.append(f"{what}: {a} -> {b} bytes")
        if any(s["zombies"] for s in self.samples):
            grown.append("zombies")
        return grown

    def write(self, rows, grown):
        with open(self.table, "w", encoding="utf-8") as out:
            print("| s |", " | ".join(f"{k}: KiB, fds, threads" for k in KINDS),
                  "| metrics' file | /dev/shm KiB | trace KiB | zombies |", file=out)
            print("|" + "---|" * (len(KINDS) + 5), file=out)
            step = max(1, len(self.samples) // ROWS)
            for at in range(0, len(self.samples), step):
                part = self.samples[at:at + step]
                cells = [f"{part[-1]['seconds']:.0f}"]
                for kind in KINDS:
                    most = [s[kind] for s in part if kind in s]
                    cells.append(", ".join(str(max(v)) for v in zip(*most)) or "-")
                trace = [s["trace"] for s in part if "trace" in s]
                cells += [str(max(s["metrics"] for s in part)),
                          str(max(s["shm"] for s in part) // 1024),
                          str(max(trace) // 1024) if trace else "-",
                          str(max(s["zombies"] for s in part))]
                print("| " + " | ".join(cells) + " |", file=out)
            print("\n| | function | the ranks' own | metrics |\n|---|---|---|---|", file=out)
            for what, function, own, metric in rows:
                print(f"| {what} | {function} | {own} | {metric} |", file=out)
            print(f"\n{self.samples[-1]['seconds']:.0f} s, {RANKS} ranks, {self.generations} "
                  f"generations of them (every second one ended by SIGKILL), {self.made} "
                  f"communicators made; {self.recorded['starts']} recordings started, in "
                  f"{self.recorded['at once']} of them all processes were recorded when "
                  f"`ccltap start` returned; {self.recorded['traces']} traces with "
                  f"{self.recorded['calls']} all-reduces.  Grew: "
                  f"{'; '.join(grown) if grown else 'nothing'}.", file=out)

    def leave(self):
        """However it came to its end, nothing of it stays."""
        if self.recorder and self.recorder.poll() is None:
            self.recorder.terminate()
            try:
                self.recorder.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.recorder.kill()
        shutil.rmtree(self.work, ignore_errors=True)

    def main(self):
        try:
            return self.measure()
        finally:
            self.leave()

    def measure(self):
        self.start()
        self.begun = time.monotonic()
        for nr in range(self.cycles):
            self.cycle(nr)
            if self.recorder.poll() is not None:
                fail("the program has ended")
        rows, left = self.end()
        unseen = [kind for kind in KINDS if not any(kind in s for s in self.samples)]
        if unseen:
            fail(f"in no sample: {', '.join(unseen)}")
        grown = self.grown()
        self.write(rows, grown)
        wrong = [row for row in rows if row[2] != row[3]]
        print(open(self.table, encoding="utf-8").read())
        for row in wrong:
            print(f"soak: differs: {row}", file=sys.stderr)
        for line in grown + left:
            print(f"soak: grew, or is left: {line}", file=sys.stderr)
        return bool(wrong or grown or left)


if __name__ == "__main__":
    sys.exit(Soak(sys.argv[1], int(sys.argv[2]), sys.argv[3]).main())
