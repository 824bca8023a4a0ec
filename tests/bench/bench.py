#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What ccltap costs, each time against the bare thing in the same run.

Hides LTTng sessions, pinning and cleaning up from the figures, each of which is a
function below.  doc/overhead.md says what is measured and what is promised.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading

STREAMS = (2, 256)
SHM = "/dev/shm"
LTTNG = "liblttng-ust.so.1"
# The traces of a full run, and what each processor has for a buffer.
SHM_BYTES = (256 << 20) + os.cpu_count() * (8 << 20)
TRIES = 3

FULL = {"bursts": 1000, "turns": 20000, "pair_bursts": 40, "pair_turns": 20000,
        "post_bursts": 20, "storm_seconds": 10, "starts": 101, "recorded_starts": 21,
        "events": 1000000, "long_rounds": 5, "rounds": 11, "storms": TRIES,
        # With fewer, what babeltrace2 maps of each stream is not full, and memory would grow
        # with it.
        "memory_events": (1000000, 4000000), "job_rounds": 300}
# All pairs fit into the buffers, so a machine that is busy with tests loses none.
QUICK = {"bursts": 100, "turns": 20000, "pair_bursts": 6, "pair_turns": 4000,
         "post_bursts": 3, "storm_seconds": 0.5,
         "starts": 11, "recorded_starts": 3, "events": 100000, "long_rounds": 1, "rounds": 2,
         "storms": 1, "memory_events": (50000, 200000), "job_rounds": 10}
# What a second of a storm of requests takes in a trace, at most.
STORM_BYTES = 512 << 20


class Failure(Exception):
    """One line that says what is wrong and how to mend it."""


class Bench:
    """The build that is measured, and how a program is run to be measured."""

    def __init__(self, build, folder, shm, sizes):
        self.build = build
        self.folder = folder
        self.shm = shm
        self.sizes = sizes
        self.ccltap = os.path.join(build, "ccltap")
        self.env = {name: value for name, value in os.environ.items()
                    if name not in ("LD_PRELOAD", "CCLTAP_JOB", "CCLTAP_DEBUG",
                                    "CCLTAP_STACKS")}
        self.env["CCLTAP_LIBDIR"] = os.path.join(build, ".libs")
        self.env["LC_ALL"] = "C"
        # The last one: interrupts and daemons tend to be on the first.
        cpus = sorted(os.sched_getaffinity(0))
        self.cpu = cpus[-1] if len(cpus) > 1 else None
        self.preload = self.ask("sh", "-c", 'eval "$("$0" env)" && echo "$LD_PRELOAD"',
                                self.ccltap).strip()

    def program(self, name):
        return os.path.join(self.build, "tests/bench/programs", name)

    def run(self, *command, preload=None, pin=False, out=None, variables=None):
        """What it wrote to stdout and stderr, and what it used; ends it when we end."""
        env = dict(self.env, **(variables or {}))
        if preload:
            env["LD_PRELOAD"] = preload

        def pinned():
            os.sched_setaffinity(0, {self.cpu})

        with open(out or os.path.join(self.folder, "out"), "w+b") as stdout, \
                open(os.path.join(self.folder, "err"), "w+b") as stderr:
            with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                  stdout=stdout, stderr=stderr,
                                  preexec_fn=pinned if pin and self.cpu is not None
                                  else None) as child:
                try:
                    _, status, usage = os.wait4(child.pid, 0)
                    child.returncode = os.waitstatus_to_exitcode(status)
                except BaseException:
                    child.terminate()
                    raise
            stdout.seek(0)
            stderr.seek(0)
            text = b"" if out else stdout.read()
            said = stderr.read().decode(errors="replace")
        if child.returncode:
            raise Failure(f"{' '.join(command)} ended with {child.returncode}: "
                          f"{said.strip() or 'it said nothing'}")
        return text.decode(errors="replace"), said, usage

    def ask(self, *command):
        return self.run(*command)[0]

    def number(self, *command, **how):
        """The one number that our measuring programs print."""
        return float(self.run(*command, **how)[0])


class Session:
    """A session of our own: its name is ours alone, and it goes however we end."""

    def __init__(self, bench, name, *events, is_flight=False, contexts=("vpid", "vtid")):
        self.is_flight = is_flight
        self.contexts = contexts
        self.bench = bench
        self.path = os.path.join(bench.shm, name)
        self.name = f"ccltap-bench-{os.getpid()}-{name}"
        self.events = events

    def lttng(self, *words):
        return self.bench.ask("lttng", "--no-sessiond", *words)

    def __enter__(self):
        try:
            self.lttng("create", self.name, "--output", self.path,
                       *(["--snapshot"] if self.is_flight else []))
            self.lttng("enable-channel", "-u", "-s", self.name, "--buffers-uid",
                       "--overwrite" if self.is_flight else "--discard", "--subbuf-size", "1M", "--num-subbuf", "8", "bench")
            for context in self.contexts:
                self.lttng("add-context", "-u", "-s", self.name, "-c", "bench",
                           "-t", context)
            self.lttng("enable-event", "-u", "-s", self.name, "-c", "bench",
                       ",".join(self.events))
            self.lttng("start", self.name)
        except BaseException:
            # It may not have come to be a session.
            with contextlib.suppress(Failure):
                self.destroy()
            raise
        return self

    def __exit__(self, *_):
        self.destroy()

    def destroy(self):
        self.lttng("destroy", self.name)
        shutil.rmtree(self.path, ignore_errors=True)

    def contents(self):
        """Stops it, and tells what is in its trace without reading every event."""
        self.lttng("stop", self.name)
        return contents(self.path)

    def count(self):
        """The events in the trace: a session that recorded nothing is cheap."""
        self.lttng("stop", self.name)
        if self.is_flight:
            self.lttng("snapshot", "record", "-s", self.name)
        text = self.bench.ask("babeltrace2", self.path, "-c", "sink.utils.counter")
        counts = re.findall(r"(\d+) Event messages", text)
        return int(counts[-1]) if counts else 0


# Of LTTng-UST's packets: what identifies a packet, then its times, its content and its
# size in bits, its number, the events that were discarded so far, the processor.
PACKET = struct.Struct("=I16sIQQQQQQQI")


def contents(folder):
    """The bytes of events in a trace, headers and contexts included, and how many events
    did not get there, as its packets say it: a trace of millions is not read for it."""
    nr_bytes = discarded = 0
    for path, _, names in os.walk(folder):
        # Beside the streams lies what describes them.
        for name in names if "metadata" in names else ():
            file_name = os.path.join(path, name)
            if name == "metadata":
                continue
            with open(file_name, "rb") as file:
                at, last = 0, 0
                while True:
                    file.seek(at)
                    head = file.read(PACKET.size)
                    if len(head) < PACKET.size:
                        break
                    fields = PACKET.unpack(head)
                    if fields[0] != 0xc1fc1fc1:
                        raise Failure(f"{file_name} is no stream of a trace")
                    nr_bytes += fields[6] // 8 - PACKET.size
                    at += fields[7] // 8
                    last = fields[9]
                discarded += last
    return nr_bytes, discarded


def row(name, unit, bare, ours, promise, promised, of_rounds=min):
    """One figure, of rounds: the least on either side, since what else a machine does only
    ever adds, if nothing else is asked for.  promised is "over" (ours less bare), "ratio" (ours by bare) or "value"."""
    bare, value = of_rounds(bare), of_rounds(ours)
    figure = {"name": name, "value": round(value, 4), "unit": unit,
              "bare": round(bare, 4), "over": round(value - bare, 4),
              "ratio": round(value / bare, 4), "promise": promise, "promise_of": promised}
    figure["holds"] = figure[promised] <= promise
    return figure


def less(costs, call):
    """What is left of them without the call itself, which is in all and costs us nothing."""
    return [min(costs) - min(call)]


def interleaved(rounds, bare, *ours):
    """The results of each over the rounds: bare, ours, bare, ours, ..."""
    results = [[] for _ in range(1 + len(ours))]
    for _ in range(rounds):
        for result, measure in zip(results, (bare, *ours)):
            result.append(measure())
    return results


def loops(bench, what, bursts, name, promise, program="calls"):
    command = (bench.program(program), what, str(bursts), str(bench.sizes["turns"]), "0")
    bare, ours = interleaved(bench.sizes["rounds"],
                             lambda: bench.number(*command, pin=True),
                             lambda: bench.number(*command, pin=True, preload=bench.preload))
    return [row(name, "ns", bare, ours, promise, "over")]


def wrapper_off(bench):
    return loops(bench, "all-reduce", bench.sizes["bursts"], "wrapper, tracing off", 2.5)


def counted(bench):
    """A call that record --metrics counts and nobody records, against one that is neither."""
    command = (bench.program("calls"), "all-reduce", str(bench.sizes["bursts"]),
               str(bench.sizes["turns"]), "0")
    metrics = os.path.join(bench.folder, "metrics.prom")
    off, ours = interleaved(
        bench.sizes["rounds"],
        lambda: bench.number(*command, pin=True, preload=bench.preload),
        lambda: bench.number(bench.ccltap, "record", "--layers", "none",
                             f"--metrics={metrics}", "--", *command, pin=True))
    return [row("NCCL call, counted", "ns", off, ours, 2, "over")]


def name_lookup(bench):
    return loops(bench, "dlsym", bench.sizes["bursts"] // 10, "dlsym", 5)


def thread_rounds(bench, how, whose, name):
    """The ns of a thread, bare and ours; recorded if the session has a name."""
    command = (bench.program("threads"), how, whose, str(max(10, bench.sizes["bursts"] // 5)),
               "20")

    def ours():
        return bench.number(*command, pin=True, preload=bench.preload)

    def recorded():
        with Session(bench, name, "tap:*"):
            return ours()

    return interleaved(bench.sizes["rounds"], lambda: bench.number(*command, pin=True),
                       recorded if name else ours)


def threads(bench):
    figures = []
    for how, whose, session, name, promise in (
            ("create", "own", None, "pthread_create, the program's", 1000),
            ("create", "nccl", None, "pthread_create, NCCL's", 1000),
            ("create", "nccl", "create", "pthread_create, NCCL's, tracing on", 1000),
            ("live", "nccl", "live", "a thread of NCCL's, tracing on", 6000)):
        bare, ours = thread_rounds(bench, how, whose, session and f"threads-{session}")
        figures.append(row(name, "ns", bare, ours, promise, "over"))
    return figures


def call_round(bench, name):
    """The ns of the call, of it with a bare pair and with ours; or None when events were
    lost."""
    bursts, turns = bench.sizes["pair_bursts"], bench.sizes["pair_turns"]
    loop = (str(bursts), str(turns), "2000")
    calls = (bench.program("calls"), "all-reduce", *loop)
    pair = (bench.program("pair"), *loop)
    with Session(bench, name, "nccl:ncclAllReduce_entry", "nccl:ncclAllReduce_exit",
                 "ccltap_bench:*") as session:
        call = bench.number(*calls, pin=True)
        bare = bench.number(*pair, pin=True)
        ours = bench.number(*calls, pin=True, preload=bench.preload)
        # The bursts that are timed and the first one; two programs; two events a call.
        if session.count() != (bursts + 1) * turns * 2 * 2:
            return None
    return call, bare, ours


def whole_rounds(bench, measure):
    """The results of enough rounds in which no event was lost: bare, ours."""
    rounds = []
    for number in range(bench.sizes["rounds"] * TRIES):
        result = measure(number)
        if result:
            rounds.append(result)
        if len(rounds) == bench.sizes["rounds"]:
            return zip(*rounds)
    raise Failure("too many events were lost to tell what one costs: is the machine "
                  f"too busy, or {SHM} too small?")


def call_on(bench):
    call, bare, ours = whole_rounds(bench,
                                    lambda number: call_round(bench, f"call-{number}"))
    return [row("NCCL call, tracing on", "ns", less(bare, call), less(ours, call), 1.25,
                "ratio")]


def flight_round(bench, name):
    """The ns of a call, of one recorded on its way to the disk, and of one that stays in
    memory."""
    bursts, turns = bench.sizes["pair_bursts"], bench.sizes["pair_turns"]
    calls = (bench.program("calls"), "all-reduce", str(bursts), str(turns), "2000")
    events = "nccl:ncclAllReduce_entry", "nccl:ncclAllReduce_exit"
    costs = []
    for is_flight in False, True:
        with Session(bench, f"{name}-{is_flight}", *events, is_flight=is_flight) as session:
            if not is_flight:
                costs.append(bench.number(*calls, pin=True))
            costs.append(bench.number(*calls, pin=True, preload=bench.preload))
            count = session.count()
        # The newest replace the oldest there, so not all are left.
        if not count or (not is_flight and count != (bursts + 1) * turns * 2):
            return None
    return costs


def flight(bench):
    call, bare, ours = whole_rounds(bench,
                                    lambda number: flight_round(bench, f"flight-{number}"))
    return [row("NCCL call, flight recorder", "ns", less(bare, call), less(ours, call), 1.05,
                "ratio")]


def stack_round(bench, name, program):
    """The ns of a call, of it recorded without its stack and with it; or None."""
    bursts, turns = bench.sizes["pair_bursts"], bench.sizes["pair_turns"]
    calls = (bench.program(program), "deep", str(bursts), str(turns), "2000")
    with Session(bench, name, "nccl:ncclAllReduce_entry", "nccl:ncclAllReduce_exit",
                 "tap:stack") as session:
        call = bench.number(*calls, pin=True)
        bare = bench.number(*calls, pin=True, preload=bench.preload)
        ours = bench.number(*calls, pin=True, preload=bench.preload,
                            variables={"CCLTAP_STACKS": "8"})
        # The first burst is begun at another line than the others: two stacks, told once.
        if session.count() != (bursts + 1) * turns * 2 * 2 + 2:
            return None
    return call, bare, ours


def stacks(bench):
    figures = []
    for program, how, promise in (("calls-framed", "frame pointers", 1.25),
                                  ("calls", "unwind tables", 2.0)):
        def measure(number, program=program):
            return stack_round(bench, f"stack-{number}", program)
        call, bare, ours = whole_rounds(bench, measure)
        figures.append(row(f"stack of depth 8, {how}", "ns", less(bare, call),
                           less(ours, call), promise, "ratio"))
    return figures


def verbs_off(bench):
    """What is counted while nobody records."""
    figures = []
    for what, name, promise in (("write", "post, tracing off", 6),
                                ("writes", "list of 16, tracing off", 35),
                                ("poll-0", "empty poll, tracing off", 2),
                                ("poll-1", "poll of 1, tracing off", 6),
                                ("poll-16", "poll of 16, tracing off", 30)):
        figures += loops(bench, what, bench.sizes["bursts"] // 5, name, promise, "verbs")
    return figures


def verbs_counted(bench):
    """Posts and polls that record --metrics counts and nobody records, against those that are
    neither; of both together one in 61 is timed."""
    metrics = os.path.join(bench.folder, "metrics.prom")
    figures = []
    for what, name, promise in (("write", "post, counted", 4),
                                ("writes", "list of 16, counted", 25),
                                ("poll-1", "poll of 1, counted", 4),
                                ("poll-16", "poll of 16, counted", 40),
                                ("both", "post and its poll, counted", 9)):
        command = (bench.program("verbs"), what, str(bench.sizes["bursts"] // 5),
                   str(bench.sizes["turns"]), "0")
        off, ours = interleaved(
            bench.sizes["rounds"],
            lambda: bench.number(*command, pin=True, preload=bench.preload),
            lambda: bench.number(bench.ccltap, "record", "--layers", "none",
                                 f"--metrics={metrics}", "--", *command, pin=True))
        figures.append(row(name, "ns", off, ours, promise, "over"))
    return figures


# A request is a write: it has most fields.
POSTS = "verbs:post_*", "verbs:poll*", "ccltap_bench_post:*"
# What is timed of our own, and how many turns of it take as much room as one post.
RECORDED = (("poll-0", 1), ("write", 1), ("writes", 5), ("poll-1", 1), ("poll-16", 5),
            ("received-16", 5))


def verbs_round(bench, name):
    """The ns of the calls, of the yardsticks and of each of ours; or None."""
    bursts, turns = bench.sizes["post_bursts"], bench.sizes["pair_turns"]

    def measure(program, what, share=1, **how):
        return bench.number(bench.program(program), what, str(bursts), str(turns // share),
                            "2000", pin=True, **how)

    with Session(bench, name, *POSTS) as session:
        costs = [measure("verbs", "write"), measure("verbs", "poll-0")]
        costs += [measure("post", what) for what in ("six", "timed", "pair")]
        for what, share in RECORDED:
            costs.append(measure("verbs", what, share, preload=bench.preload))
        nr_bytes, discarded = session.contents()
        if discarded or not nr_bytes:
            return None
    return costs


def verbs_on(bench):
    write, poll, six, timed, pair, empty, post, posts, one, many, received = whole_rounds(
        bench, lambda number: verbs_round(bench, f"verbs-{number}"))
    six, timed, pair = less(six, write), less(timed, write), less(pair, write)
    each = [less(posts, write)[0] / 16]
    return [row("empty poll, tracing on", "ns", six, less(empty, poll), 2, "value"),
            row("post, tracing on", "ns", timed, less(post, write), 1.2, "ratio"),
            row("post, against a pair", "ns", pair, less(post, write), 0.65, "ratio"),
            row("list of 16, each, tracing on", "ns", six, each, 0.14, "ratio"),
            row("poll of 1, tracing on", "ns", six, less(one, poll), 1.15, "ratio"),
            row("poll of 16, tracing on", "ns", six, less(many, poll), 1.35, "ratio"),
            row("poll of 16 received, tracing on", "ns", six, less(received, poll), 1.75,
                "ratio")]


def sockets_off(bench):
    """On a thread that is not NCCL's."""
    figures = []
    for what in "send", "recv":
        figures += loops(bench, what, bench.sizes["bursts"] // 5, f"{what}, not NCCL's thread",
                         2, "sockets")
    return figures


def sockets_round(bench, name):
    """The ns of the call, of the yardstick and of ours; or None."""
    bursts, turns = bench.sizes["post_bursts"], bench.sizes["pair_turns"]

    def measure(program, what, **how):
        return bench.number(bench.program(program), what, str(bursts), str(turns), "2000",
                            pin=True, **how)

    with Session(bench, name, "net:send", "ccltap_bench_post:*") as session:
        costs = [measure("sockets", "send"), measure("sockets-six", "send"),
                 measure("sockets", "data", preload=bench.preload)]
        nr_bytes, discarded = session.contents()
        if discarded or not nr_bytes:
            return None
    return costs


def sockets_on(bench):
    call, six, ours = whole_rounds(
        bench, lambda number: sockets_round(bench, f"sockets-{number}"))
    return [row("send of NCCL's, tracing on", "ns", less(six, call), less(ours, call), 1.2,
                "ratio")]


def launch_off(bench):
    bursts = bench.sizes["bursts"] // 5
    return loops(bench, "driver", bursts, "launch, tracing off", 2, "launch") + \
        loops(bench, "runtime", bursts, "runtime's call, tracing off", 2.5, "launch")


def launch_round(bench, name):
    """The ns of a launch, of the yardsticks and of a recorded launch; or None."""
    loop = (str(bench.sizes["post_bursts"]), str(bench.sizes["pair_turns"]), "2000")

    def measure(program, what, **how):
        return bench.number(bench.program(program), what, *loop, pin=True, **how)

    with Session(bench, name, "cuda:cuLaunchKernel", "ccltap_bench_launch:*") as session:
        costs = [measure("launch", "driver"), measure("launched", "timed"),
                 measure("launched", "pair"),
                 measure("launch", "driver", preload=bench.preload)]
        nr_bytes, discarded = session.contents()
        if discarded or not nr_bytes:
            return None
    return costs


def launch_on(bench):
    launch, timed, pair, ours = whole_rounds(
        bench, lambda number: launch_round(bench, f"launch-{number}"))
    ours = less(ours, launch)
    return [row("launch, tracing on", "ns", less(timed, launch), ours, 1.25, "ratio"),
            row("launch, against a pair", "ns", less(pair, launch), ours, 0.75, "ratio")]


def told_round(bench, name):
    """The ns of a recorded launch without CUPTI and with its telling of it, and of a record
    of a kernel that nobody wants and one that becomes an event; or None."""
    bursts, turns = str(bench.sizes["post_bursts"]), str(bench.sizes["pair_turns"])
    costs = []
    # CUPTI is taken for any kind of work.
    for what, *events in (("driver", "cuda:cuLaunchKernel"),
                          ("driver", "cuda:cuLaunchKernel", "gpu:memset"),
                          ("records", "gpu:memset", "gpu:owner"),
                          ("records", "gpu:kernel")):
        with Session(bench, f"{name}-{len(costs)}", *events) as session:
            costs.append(bench.number(bench.program("cupti"), what, bursts, turns, "2000",
                                      pin=True, preload=bench.preload))
            nr_bytes, discarded = session.contents()
            if discarded or not nr_bytes:
                return None
    return costs


def launch_told(bench):
    launch, told, unwanted, record = whole_rounds(
        bench, lambda number: told_round(bench, f"told-{number}"))
    return [row("launch, CUPTI tells its number", "ns", launch, told, 60, "over"),
            row("record of a kernel to event", "ns", unwanted, record, 150, "over")]


def launch_arguments(bench):
    """What is read of the argument buffer of a NCCL kernel; its event is another matter."""
    figures = []
    for what, name in (("alike", "arguments of a launch, 24 alike"),
                       ("mixed", "arguments of a launch, 24 of 4 kinds")):
        nothing, ours = interleaved(
            bench.sizes["rounds"],
            *(lambda word=word: bench.number(bench.program("arguments"), word,
                                             str(bench.sizes["bursts"] // 5), "20000", "0",
                                             pin=True)
              for word in ("none", what)))
        figures.append(row(name, "ns", nothing, ours, 60, "over"))
    return figures


def event_bytes(bench, program, what, nr, preload):
    """What one of nr events takes on disk, without contexts."""
    with Session(bench, f"bytes-{what}", *POSTS, contexts=()) as session:
        bench.run(bench.program(program), what, "1", str(nr), "0",
                  preload=bench.preload if preload else None)
        nr_bytes, discarded = session.contents()
    if discarded:
        raise Failure("events were lost whose bytes should be counted")
    # Two bursts.  A packet's first event has all of its time: a few bytes in a megabyte.
    return [round(nr_bytes / (2 * nr), 1)]


def verbs_bytes(bench):
    nr = 5000
    six = event_bytes(bench, "post", "six", nr, False)
    figures = []
    for what, each, name, promise in (("send", 1, "request that sends", 64),
                                      ("write", 1, "request that writes", 76),
                                      ("sends", 16, "each of 16 that send", 36),
                                      ("writes", 16, "each of 16 that write", 42),
                                      ("poll-1", 1, "completion", 64),
                                      ("poll-16", 16, "each of 16 completions", 36)):
        ours = event_bytes(bench, "verbs", what, nr, True)[0] / each
        figures.append(row(f"bytes, {name}", "bytes", six, [ours], promise, "value"))
    return figures


@contextlib.contextmanager
def warm_memory(bench, seconds):
    """Memory that a storm can have at once: a virtual machine gets what it has not used
    from its host, at some 0.5 GB/s, which is no cost of ours.  It is held in files that go
    as fast as a storm needs it, since what lies idle is given back to the host."""
    step = 64 << 20
    names = [os.path.join(bench.shm, f"warm-{i}")
             for i in range(int(seconds * STORM_BYTES) // step)]
    for name in names:
        with open(name, "wb") as file:
            for _ in range(step >> 20):
                file.write(bytes(1 << 20))
    is_over = threading.Event()

    def give():
        while names and not is_over.wait(step / STORM_BYTES):
            os.unlink(names.pop())

    giver = threading.Thread(target=give)
    giver.start()
    try:
        yield
    finally:
        is_over.set()
        giver.join()
        for name in names:
            os.unlink(name)


def storm(bench, per_second, completions):
    """How many events were written and how many did not get into what `ccltap record`
    made, and whether as many were written in a second as there should be."""
    trace = os.path.join(bench.shm, "storm")
    seconds = bench.sizes["storm_seconds"]
    free = os.statvfs(SHM)
    room = free.f_bavail * free.f_frsize / 2 / STORM_BYTES
    if room < seconds:
        print(f"bench: {SHM} has room for a storm of {room:.1f} s, not of {seconds}",
              file=sys.stderr)
        seconds = room
    with warm_memory(bench, seconds):
        text, _, _ = bench.run(bench.ccltap, "record", "--overwrite", "-o", trace, "--",
                               bench.program("verbs"), "storm", str(per_second),
                               str(seconds), str(completions))
    posted, took = text.split()
    nr_bytes, discarded = contents(trace)
    shutil.rmtree(trace)
    written = int(posted) * (1 + completions)
    is_slow = float(took) > seconds * 1.05
    if is_slow:
        print(f"bench: {posted} requests took {float(took):.2f} s and not {seconds}: their "
              "storm is not judged", file=sys.stderr)
    # An event has its header, three contexts and its ordinals, at the least.
    if nr_bytes < (written - discarded) * 40:
        raise Failure(f"a trace of {nr_bytes} bytes has not {written - discarded} events")
    return written, discarded, is_slow


def storms(bench):
    figures = []
    for per_second, completions, name in ((4000000, 0, "4 M posts/s"),
                                          (1000000, 1, "1 M posts and polls/s")):
        # One in which something was lost is repeated, as for the other figures.
        for _ in range(bench.sizes["storms"]):
            written, discarded, is_slow = storm(bench, per_second, completions)
            if not discarded and not is_slow:
                break
        figure = row(f"events of {name}", "events", [written - discarded], [written], 0,
                     "over")
        if is_slow:
            figure["holds"] = None
        figures.append(figure)
    return figures


def start(bench):
    starts = str(bench.sizes["starts"])
    recorded = bench.sizes["recorded_starts"]
    spawn = bench.program("spawn")
    none, one, many = bench.program("none"), bench.program("one"), bench.program("many")
    trace = os.path.join(bench.shm, "start")

    def traced(program):
        # As users do, with the buffers and the rules that they get.
        text, said, _ = bench.run(bench.ccltap, "record", "--overwrite", "-o", trace,
                                  "--", spawn, str(recorded), program)
        if program == one and not re.search(rf": {recorded} processes", said):
            raise Failure(f"ccltap record did not see {recorded} processes: "
                          f"{said.strip()}")
        return float(text)

    results = interleaved(bench.sizes["long_rounds"],
                          lambda: bench.number(spawn, starts, none),
                          lambda: bench.number(spawn, starts, none, preload=bench.preload),
                          lambda: bench.number(spawn, starts, one, preload=LTTNG),
                          lambda: bench.number(spawn, starts, one, preload=bench.preload),
                          lambda: traced(many), lambda: traced(one))
    shutil.rmtree(trace, ignore_errors=True)
    # What LTTng itself costs is not ours to promise (doc/decisions/0006).  On which processor
    # its threads come to run takes or saves a quarter: the middle, not the luckiest.
    return [row("start, touches nothing", "ms", results[0], results[1], 0.5, "over"),
            row("start, one call, no session", "ms", results[2], results[3], 1.75, "ratio",
                statistics.median),
            row("start, one call, all events", "ms", results[4], results[5], 1.4, "ratio",
                statistics.median)]


def make_trace(bench, streams, events):
    path = os.path.join(bench.folder, f"trace-{streams}-{events}")
    os.mkdir(path)
    bench.run(bench.program("trace"), path, str(streams), str(events))
    return path


def calls_in_report(file):
    # Those of all processes come after each one's and before each communicator's.
    for line in file:
        if line.startswith("all processes"):
            break
    for line in file:
        if line.startswith("  ncclAllReduce "):
            return int(line.split()[1])
    return 0


def calls_in_timeline(file):
    return sum(line.startswith('{"type":"span"') for line in file)


# Name, arguments, and how many calls are in what it wrote.
VIEWS = (("report", ("report", "--full"), calls_in_report),
         ("timeline", ("timeline", "--format", "jsonl"), calls_in_timeline))


def read(bench, trace, arguments, count_calls):
    """Processor seconds and peak KiB of a view; a reader has one thread."""
    out = os.path.join(bench.shm, "view")
    _, _, usage = bench.run(bench.ccltap, *arguments, "-o", out, trace, pin=True)
    with open(out, encoding="utf-8") as file:
        calls = count_calls(file)
    os.unlink(out)
    _, streams, events = os.path.basename(trace).split("-")
    # A stream begins with four events about its process, and has whole calls alone.
    expected = int(streams) * (int(events) // (2 * int(streams)) - 2)
    if calls != expected:
        raise Failure(f"ccltap {' '.join(arguments)} shows {calls} of {expected} calls: "
                      "what does not read everything cannot be timed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def read_bare(bench, trace):
    _, _, usage = bench.run("babeltrace2", "-o", "dummy", trace, pin=True)
    return usage.ru_utime + usage.ru_stime


def join(bench):
    figures = []
    for streams in STREAMS:
        trace = make_trace(bench, streams, bench.sizes["events"])
        bare, *ours = interleaved(bench.sizes["long_rounds"],
                                  lambda: read_bare(bench, trace),
                                  *(lambda view=view: read(bench, trace, *view[1:])[0]
                                    for view in VIEWS))
        for view, result in zip(VIEWS, ours):
            figures.append(row(f"join, {view[0]}, {streams} streams", "s", bare, result,
                               3.0 if streams == 2 else 1.0, "ratio"))
        shutil.rmtree(trace)
    return figures


def join_memory(bench):
    """Two streams, four times as long."""
    traces = [make_trace(bench, 2, events) for events in bench.sizes["memory_events"]]
    figures = []
    for view in VIEWS:
        short, long = interleaved(bench.sizes["long_rounds"],
                                  *(lambda trace=trace: read(bench, trace, *view[1:])[1]
                                    for trace in traces))
        figures.append(row(f"join, {view[0]}, memory", "KiB", short, long, 1.1, "ratio"))
    for trace in traces:
        shutil.rmtree(trace)
    return figures


def record_job(bench):
    """A recording of all layers: two ranks of mini-NCCL, whose messages go over verbs."""
    path = os.path.join(bench.folder, "job")
    doubles = os.path.join(bench.build, "tests/doubles")
    bench.run(bench.ccltap, "record", "-o", path, "--", "env",
              f"LD_LIBRARY_PATH={doubles}/verbs:{doubles}/cupti",
              f"SOFTVERBS_FABRIC=bench.{os.getpid()}",
              os.path.join(bench.build, "tests/doubles_tests/programs/configuration"),
              "transport=verbs", "operation=any", "manner=queued", "ranks=2", "channels=2",
              f"rounds={bench.sizes['job_rounds']}", "seed=1")
    return path


def read_job(bench, trace, arguments, mark):
    """Processor seconds of a view that has this mark for what is ascribed to kernels."""
    out = os.path.join(bench.shm, "view")
    _, _, usage = bench.run(bench.ccltap, *arguments, "-o", out, trace, pin=True)
    with open(out, encoding="utf-8") as file:
        is_there = any(mark in line for line in file)
    os.unlink(out)
    if not is_there:
        raise Failure(f"ccltap {' '.join(arguments)} shows no {mark}: what does not join all "
                      "layers cannot be timed")
    return usage.ru_utime + usage.ru_stime


def join_layers(bench):
    trace = record_job(bench)
    marks = {"report": "ncclAllReduce", "timeline": '"kind":"message-kernel"'}
    bare, *ours = interleaved(bench.sizes["long_rounds"], lambda: read_bare(bench, trace),
                              *(lambda view=view: read_job(bench, trace, view[1], marks[view[0]])
                                for view in VIEWS))
    shutil.rmtree(trace)
    return [row(f"join, {view[0]}, all layers", "s", bare, result, 3.0, "ratio")
            for view, result in zip(VIEWS, ours)]


def write_calls(bench, trace, to):
    """Processor seconds of the trace of a trace's calls."""
    shutil.rmtree(to, ignore_errors=True)
    _, _, usage = bench.run(bench.ccltap, "timeline", "--format", "ctf", "-o", to, trace,
                            pin=True)
    return usage.ru_utime + usage.ru_stime


def copy_bare(bench, trace):
    """Those of babeltrace2 for a copy, which is read and written by the same parts."""
    to = os.path.join(bench.shm, "copy")
    _, _, usage = bench.run("babeltrace2", trace, "--component", "sink.ctf.fs", "--params",
                            f'path="{to}",quiet=true', pin=True)
    shutil.rmtree(to)
    return usage.ru_utime + usage.ru_stime


def derived(bench):
    """Of fewer events: it is several times as large as what it is made of, and copied."""
    trace = make_trace(bench, 2, bench.sizes["events"] // 4)
    calls = os.path.join(bench.shm, "calls")
    write_calls(bench, trace, calls)
    text = bench.ask("babeltrace2", calls, "-c", "sink.utils.counter")
    # A begin and an end for each call.
    expected = 2 * (bench.sizes["events"] // 8 - 4)
    if int(re.findall(r"(\d+) Event messages", text)[-1]) != expected:
        raise Failure(f"the trace of the calls has not {expected} events: what is not all "
                      "there cannot be timed")
    again = os.path.join(bench.shm, "again")
    bare, ours = interleaved(bench.sizes["long_rounds"],
                             lambda: copy_bare(bench, calls),
                             lambda: write_calls(bench, trace, again))
    for path in (trace, calls, again):
        shutil.rmtree(path)
    return [row("trace of the calls, 2 streams", "s", bare, ours, 2.0, "ratio")]


def why_meaningless(build):
    """Why this build is not the one that promises are made of, or None."""
    flags = ""
    with open(os.path.join(build, "Makefile"), encoding="utf-8") as makefile:
        for line in makefile:
            if re.match(r"(SAN_|CPP)?CFLAGS = |CC = ", line):
                flags += line
    if "-fsanitize" in flags:
        return "this build has sanitizers"
    if not re.search(r"-O([123s]|fast)\b", flags):
        return "this build is not optimised"
    return None


def check_machine(bench):
    try:
        sessions = bench.ask("lttng", "--no-sessiond", "list")
    except (Failure, FileNotFoundError):
        raise Failure("no LTTng session daemon answers: scripts/daemon make bench "
                      "starts one for as long as it is needed") from None
    if "[active]" in sessions:
        print("bench: another recording is active, so what should cost nothing may cost "
              "something; stop it for figures that count", file=sys.stderr)
    if os.getloadavg()[0] > len(os.sched_getaffinity(0)) / 2:
        print("bench: this machine is busy; figures that count need a quiet one",
              file=sys.stderr)
    free = os.statvfs(SHM)
    if free.f_bavail * free.f_frsize < SHM_BYTES:
        raise Failure(f"{SHM} has less than {SHM_BYTES >> 20} MiB free, which the "
                      "buffers and traces need: make it larger")


def show_head():
    print(f"{'':38}{'bare':>12}{'ours':>12}       {'over':>12}{'ratio':>9}  promise",
          flush=True)


def show(figures):
    for f in figures:
        promise = f"{f['promise_of']} <= {f['promise']}"
        print(f"{f['name']:38}{f['bare']:12.2f}{f['value']:12.2f} {f['unit']:6}"
              f"{f['over']:12.2f}{f['ratio']:9.3f}  {promise:14} "
              f"{ {True: 'holds', False: 'BROKEN', None: '-'}[f['holds']]}", flush=True)


def measure(build, parts, quick, is_meaningless):
    """The figures of some parts, each shown as soon as it is there."""
    # Traces are read in the build's folder; what is written must not wait for a disk.
    prefix = f"ccltap-bench-{os.getpid()}."
    with tempfile.TemporaryDirectory(prefix=prefix, dir=build) as folder, \
            tempfile.TemporaryDirectory(prefix=prefix, dir=SHM) as shm:
        bench = Bench(build, folder, shm, QUICK if quick else FULL)
        check_machine(bench)
        show_head()
        figures = []
        for part in parts:
            some = part(bench)
            if is_meaningless:
                for figure in some:
                    figure["holds"] = None
            show(some)
            figures += some
        return figures


PARTS = (wrapper_off, counted, call_on, flight, stacks, verbs_off, verbs_counted, verbs_on,
         verbs_bytes, sockets_off, sockets_on, storms, launch_off, launch_on, launch_arguments, launch_told, start, threads,
         name_lookup, join, join_memory, join_layers, derived)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end(number, _):
    # A second one would leave the session there; what we run to end it inherits this.
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    parser = argparse.ArgumentParser(prog="bench",
                                     description="Measures what ccltap costs.")
    parser.add_argument("--quick", action="store_true",
                        help="report only, in less than a minute")
    parser.add_argument("--only", metavar="PART[,PART...]",
                        help="measure some parts again, of: " +
                        " ".join(part.__name__ for part in PARTS))
    parser.add_argument("--output", help="where the figures go [bench.json in the build]")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [part.__name__ for part in PARTS]
    parts = [part for part in PARTS if part.__name__ in names]
    if len(parts) != len(names):
        parser.error("no such part: " +
                     " ".join(set(names) - {part.__name__ for part in PARTS}))
    build = os.environ.get("top_builddir")
    if not build:
        print("bench: top_builddir is not set: run make bench", file=sys.stderr)
        return 2
    build = os.path.abspath(build)
    for number in SIGNALS:
        signal.signal(number, end)
    try:
        meaningless = why_meaningless(build)
        figures = measure(build, parts, options.quick, bool(meaningless))
    except (Failure, OSError) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    if meaningless:
        print(f"These figures mean nothing: {meaningless}.")
    with open(options.output or os.path.join(build, "bench.json"), "w",
              encoding="utf-8") as file:
        json.dump(figures, file, indent=1)
        file.write("\n")
    is_broken = any(figure["holds"] is False for figure in figures)
    return 1 if is_broken and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
