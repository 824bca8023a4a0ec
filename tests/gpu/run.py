#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs all that make check-gpu checks on this machine and says so in TAP; what cannot be
checked here is skipped, and why is said.

usage: check-gpu [--quick] [--only PART,...] [--results FOLDER] [--keep FOLDER]
                 [--seconds N]
  --quick     fewer and smaller runs
  --only      of the parts calls, algorithms, choice, wire, oracle, work, graphs, pytorch,
              cost
  --results   write results.json and results.md there [results]
  --keep      leave traces, logs and outputs there
  --seconds   how long at most the cost is measured, after two rounds [240]

CHECK_GPU_DOUBLES=1 takes doubles of the CUDA driver and NCCL, CHECK_GPU_LIBNCCL and
CHECK_GPU_LIBCUPTI these libraries, CHECK_GPU_PYTHON the Python that has PyTorch.
The status is 1 when something is wrong, else 0."""
import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import judge
import machine as machines
import oracle
import overhead
import recording
from results import Results

# Each is a method of Run.
PARTS = ("calls", "algorithms", "choice", "wire", "oracle", "work", "graphs", "pytorch",
         "cost")
SOCKETS = {"NCCL_NET": "Socket", "NCCL_IB_DISABLE": "1"}
ALGORITHMS = [(algorithm, protocol) for algorithm in ("RING", "TREE")
              for protocol in ("LL", "LL128", "SIMPLE")]


@contextlib.contextmanager
def daemon(top, folder):
    """LTTng's, for as long as this runs; one that is there already will do."""
    def answers():
        return subprocess.run([f"{top}/bin/lttng", "--no-sessiond", "list"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                              ).returncode == 0
    if answers():
        yield
        return
    with open(f"{folder}/lttng-sessiond", "w") as log:
        process = subprocess.Popen([f"{top}/bin/lttng-sessiond", "--no-kernel"], stdout=log,
                                   stderr=log, stdin=subprocess.DEVNULL)
    try:
        for _ in range(100):
            if answers():
                break
            if process.poll() is not None:
                break
            time.sleep(0.1)
        else:
            process.kill()
        if process.poll() is not None:
            raise SystemExit("Bail out! lttng-sessiond does not start: " +
                             recording.text_of(f"{folder}/lttng-sessiond").strip())
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Run:
    """One run of all parts.  Each part is a method; what it needs that is missing, and what
    fails in it, ends it alone."""

    def __init__(self, machine, results, options, folder):
        self.machine = machine
        self.results = results
        self.is_quick = options.quick
        self.seconds = options.seconds
        self.folder = folder

    def do(self, only):
        for name in PARTS:
            if only and name not in only:
                continue
            missing = {"work": self.machine.no_gpu, "pytorch": self.machine.no_torch}.get(
                name, self.machine.no_nccl)
            try:
                if missing:
                    raise recording.Missing(missing)
                getattr(self, name)(name)
            except recording.Missing as what:
                self.results.add(name, "all of it", "skip", str(what))
            except (recording.Failed, subprocess.TimeoutExpired) as what:
                self.results.add(name, "its programs do what they are to do", "not ok",
                                 str(what))
            except Exception:  # One part's end is not the others'.
                self.results.add(name, "it can be judged", "not ok", traceback.format_exc())
            self.results.write()

    def recorded(self, name, program, *arguments, timeout=240, **settings):
        """A program that writes its log into the folder that its trace is in."""
        folder = f"{self.folder}/{name}"
        command = [f"{self.machine.programs}/{program}", *arguments, "-l", folder]
        return recording.record(self.machine, folder, command,
                                self.machine.environment(**settings), timeout)

    def counted(self, name, program, *arguments, timeout=240, **settings):
        """What is launched when nobody records."""
        folder = f"{self.folder}/{name}-counted"
        os.makedirs(folder)
        env = self.machine.environment(
            LD_PRELOAD=f"{self.machine.programs}/count_launches.so",
            COUNT_LAUNCHES=f"{folder}/counted", **settings)
        recording.run([f"{self.machine.programs}/{program}", *arguments], env, folder,
                      "counted", timeout)
        return recording.text_of(f"{folder}/counted")

    def on_gpu(self, part, trace, *checks):
        """Checks of what ran there, where CUPTI is, and of what is linked with it, where the
        reader does that: what has it would have such links."""
        knows_links = any(link["kind"] == "launch-kernel"
                          for link in trace.check.get("links", ()))
        for sentence, check in checks:
            missing = self.machine.no_cupti
            if check not in (judge.ran, judge.let_go) and not knows_links:
                missing = missing or "this ccltap's reader knows no kernels"
            if missing:
                self.results.add(part, sentence, "skip", missing)
                continue
            wrong = check(trace)
            if wrong:
                wrong += [f"who had CUPTI: {event}" for event in
                          judge.events_of(trace, "owner")]
            self.results.judge(part, sentence, wrong)

    # ---- The parts ----

    def calls(self, part):
        sizes = "8192" if self.is_quick else "8192,131072,1048576,16777216"
        arguments = ("collectives", "-s", sizes)
        trace = self.recorded(part, *arguments, **SOCKETS)
        judged = self.results.judge
        judged(part, "nothing is lost", judge.whole(trace), judge.numbers(trace))
        judged(part, "each operation is in the trace once, with its partners",
               judge.operations(trace))
        judged(part, "each operation's launch says what it carries out",
               judge.launched(trace))
        judged(part, "as many kernels are launched as in a run without a recording",
               judge.counted(trace, self.counted(part, *arguments, **SOCKETS)))
        self.on_gpu(part, trace, ("as many kernels ran as were launched", judge.ran),
                    ("each launch has its kernel, which does not begin before it",
                     judge.kernels),
                    ("each operation has its kernel", judge.carried_out))

    def algorithms(self, part):
        sizes = "8192" if self.is_quick else "8192,1048576"
        for algorithm, protocol in ALGORITHMS:
            sentence = f"all-reduces forced to {algorithm} and {protocol} are decoded as these"
            forced = {"NCCL_ALGO": algorithm, "NCCL_PROTO": protocol, **SOCKETS}
            arguments = ("collectives", "-a", "-s", sizes)
            try:
                trace = self.recorded(f"{algorithm}-{protocol}", *arguments, **forced)
            except recording.Failed as what:
                # Not every machine has each, or has it right.
                if self.fails_alone(f"{algorithm}-{protocol}", *arguments, **forced):
                    self.results.add(part, sentence, "skip", "without a recording it fails, too: "
                                     + str(what).splitlines()[-1])
                else:
                    self.results.add(part, sentence, "not ok", str(what))
                continue
            self.results.judge(part, sentence, judge.whole(trace) +
                               judge.forced(trace, algorithm, protocol))

    def fails_alone(self, name, program, *arguments, **settings):
        folder = f"{self.folder}/{name}-alone"
        os.makedirs(folder)
        try:
            recording.run([f"{self.machine.programs}/{program}", *arguments],
                          self.machine.environment(**settings), folder, "program", 240)
        except recording.Failed:
            return True
        return False

    def choice(self, part):
        sentence = "NCCL's own choice by size, as its log has it, is what is decoded"
        sizes = "8192,131072" if self.is_quick else "1024,8192,65536,524288,4194304,33554432"
        trace = self.recorded(part, "collectives", "-a", "-s", sizes, NCCL_DEBUG="INFO",
                              NCCL_DEBUG_SUBSYS="TUNING", **SOCKETS)
        wrong = judge.tuned(trace)
        if wrong is None:
            self.results.add(part, sentence, "skip", "this NCCL does not say what it chose")
        else:
            self.results.judge(part, sentence, judge.whole(trace) + wrong)

    def wire(self, part):
        """Over NET/IB: all is real but the adapter, which is softverbs."""
        sizes = "8192" if self.is_quick else "8192,1048576,16777216"
        counted = f"{self.folder}/{part}-requests"
        env = self.machine.environment(
            f"{self.machine.doubles}/verbs", NCCL_NET="IB", COUNT_TO=counted,
            SOFTVERBS_FABRIC=f"check-gpu-{os.getpid()}")
        # What counts stands in front of ccltap, so that it is asked first.
        command = ["sh", "-c", 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"',
                   f"{self.machine.programs}/count_requests.so",
                   f"{self.machine.programs}/collectives", "-s", sizes,
                   "-l", f"{self.folder}/{part}"]
        trace = recording.record(self.machine, f"{self.folder}/{part}", command, env, 240)
        judged = self.results.judge
        judged(part, "nothing is lost", judge.whole(trace), judge.numbers(trace))
        judged(part, "each operation is in the trace once, with its partners",
               judge.operations(trace))
        judged(part, "each message has its CTS and its receive, and all bytes are there",
               judge.on_the_wire(trace))
        judged(part, "the requests are those that were counted",
               judge.posted(trace, recording.text_of(counted)))
        self.on_gpu(part, trace, ("each operation has its kernel", judge.carried_out))

    def oracle(self, part):
        """Against NCCL's own events, over sockets and over NET/IB on softverbs."""
        sizes = "8192" if self.is_quick else "8192,1048576,16777216"
        for words, folders, settings in (
                ("sockets", (), SOCKETS),
                ("NET/IB", (f"{self.machine.doubles}/verbs",),
                 {"NCCL_NET": "IB", "SOFTVERBS_FABRIC": f"check-gpu-oracle-{os.getpid()}"})):
            folder = f"{self.folder}/{part}-{words.replace('/', '')}"
            env = self.machine.environment(
                *folders, ORACLE_LOG=folder,
                NCCL_PROFILER_PLUGIN=f"{self.machine.programs}/oracle.so", **settings)
            recording.record(self.machine, folder,
                             [f"{self.machine.programs}/collectives", "-s", sizes,
                              "-l", folder], env, 240)
            recording.add_trees(self.machine, folder, 240)
            self.against_nccl(part, words, recording.Recording(folder))

    def against_nccl(self, part, words, trace):
        if not trace.oracle:
            self.results.add(part, f"{words}: what NCCL says of itself", "skip",
                             "this NCCL calls no profiler plugin of version 5")
            return
        for sentence, check, numbers in (
                ("each call is one that NCCL saw, in its group", oracle.called, None),
                ("as many kernels are launched for each as NCCL says", oracle.launched, None),
                ("algorithm, protocol and channels are NCCL's", oracle.chosen, None),
                ("no message is of another operation, channel or peer than NCCL says",
                 oracle.claimed, oracle.numbers),
                ("each message of NCCL's has its operation", oracle.told, oracle.numbers),
                ("each message is on its way while NCCL's step goes on", oracle.timed, None),
                ("progress threads sleep as often as NCCL says", oracle.slept, None)):
            self.results.judge(part, f"{words}: {sentence}", judge.whole(trace) + check(trace),
                               numbers(trace) if numbers else "")

    def work(self, part):
        arguments = ("launches", "-i", "10" if self.is_quick else "100")
        trace = self.recorded(part, *arguments)
        judged = self.results.judge
        judged(part, "nothing is lost", judge.whole(trace), judge.numbers(trace))
        judged(part, "kernels, copies, sets and host functions are there in order",
               judge.work(trace))
        judged(part, "as many kernels are launched as in a run without a recording",
               judge.counted(trace, self.counted(part, *arguments)))
        self.on_gpu(part, trace, ("as many kernels ran as were launched", judge.ran),
                    ("each launch has its kernel, which does not begin before it",
                     judge.kernels),
                    ("kernels last as long as they are to, and as the driver's events say",
                     judge.lasted))

    def graphs(self, part):
        arguments = ("graphs", "-r", "50" if self.is_quick else "1000")
        trace = self.recorded(part, *arguments, **SOCKETS)
        judged = self.results.judge
        judged(part, "nothing is lost", judge.whole(trace), judge.numbers(trace))
        judged(part, "the captured operations are there", judge.operations(trace))
        judged(part, "each replay says what was captured", judge.replayed(trace))
        judged(part, "as many graphs are launched as in a run without a recording",
               judge.counted(trace, self.counted(part, *arguments, **SOCKETS)))
        self.on_gpu(part, trace, ("as many kernels ran as were launched", judge.ran),
                    ("each replay has its kernels", judge.kernels),
                    ("each replay's kernels find their operations", judge.carried_out))

    def pytorch(self, part):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "torch_allreduce.py")
        env = self.machine.environment(**SOCKETS)
        for ranks in (2,) if self.is_quick else (1, 2):
            def command(folder, *options):
                os.makedirs(folder)
                return [self.machine.python, script, str(ranks), folder, *options]
            words = f"{ranks} rank{'s' * (ranks > 1)}"
            folder = f"{self.folder}/{part}-{ranks}"
            trace = recording.record(self.machine, folder, command(folder), env, 300)
            self.results.judge(part, f"{words}: nothing is lost", judge.whole(trace),
                               judge.numbers(trace))
            self.results.judge(part, f"{words}: each all-reduce is there",
                               judge.asked_for(trace))
            self.on_gpu(part, trace,
                        (f"{words}: as many kernels ran as were launched", judge.ran),
                        (f"{words}: each launch has its kernel", judge.kernels))

            # Its own profiler, which wants CUPTI as well.
            alone = f"{folder}-alone"
            recording.run(command(alone, "--profiler"), env, alone, "program", 300)
            folder += "-profiler"
            trace = recording.record(self.machine, folder, command(folder, "--profiler"),
                                     env, 300)
            self.results.judge(part, f"{words} with its profiler: each all-reduce is there",
                               judge.whole(trace) + judge.asked_for(trace))
            self.results.judge(part, f"{words}: its profiler sees what it sees when alone",
                               judge.profiled_alike(recording.Recording(alone), trace))
            self.on_gpu(part, trace,
                        (f"{words}: ccltap lets CUPTI go for it, and takes it again",
                         judge.let_go),
                        (f"{words}: what ran before and after has its launch",
                         judge.before_and_after))

    def cost(self, part):
        rows = overhead.measure(self.machine, self.folder, self.is_quick, self.seconds)
        if self.machine.is_double:
            self.results.add(part, "launches and all-reduces are timed in all ways", "ok")
            self.results.add(part, "the promise is kept", "skip",
                             "times of doubles mean nothing")
            return
        self.results.costs = rows
        for sentence, is_kept, numbers in overhead.judged(rows):
            self.results.add(part, sentence,
                             {True: "ok", False: "not ok", None: "skip"}[is_kept], numbers)
        if self.machine.no_cupti:
            self.results.add(part, "CUPTI's own share", "skip", self.machine.no_cupti)


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--results", default="results")
    parser.add_argument("--keep")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("-h", "--help", action="store_true")
    options = parser.parse_args()
    if options.help:
        print(__doc__)
        return 0
    only = set(filter(None, options.only.split(",")))
    if only - set(PARTS):
        parser.error(f"{', '.join(only - set(PARTS))}: the parts are {', '.join(PARTS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    machine = machines.Machine(top)
    results = Results(machine.facts(), options.results)
    folder = options.keep or tempfile.mkdtemp(prefix="check-gpu.")
    os.makedirs(folder, exist_ok=True)
    folder = os.path.abspath(folder)
    try:
        if machine.is_double:
            print("# doubles of the CUDA driver and NCCL: no GPU is tested")
        for fact, value in results.facts.items():
            print(f"# {fact}: {value}")
        with contextlib.nullcontext() if machine.no_gpu else daemon(top, folder):
            Run(machine, results, options, folder).do(only)
        print(f"1..{len(results.checks)}")
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0 if results.is_good() else 1


if __name__ == "__main__":
    sys.exit(main())
