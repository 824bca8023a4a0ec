# SPDX-License-Identifier: MIT
"""Runs a program, recorded or not, into a folder: what it printed, its logs, what NCCL
said, the trace as lines of JSON and what ccltap check found.  Reads such a folder, too."""
import collections
import glob
import json
import os
import re
import signal
import subprocess


class Failed(Exception):
    """A program did not do what it is to do; text says what."""


class Missing(Exception):
    """A program lacks something that it needs, and says what."""


def run(command, env, folder, name, timeout):
    """Its output, in folder/NAME.out and .err; who takes too long is ended, with all it
    started."""
    with open(f"{folder}/{name}.out", "w") as out, open(f"{folder}/{name}.err", "w") as err:
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, start_new_session=True)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            status = f"none within {timeout} s"
    said = text_of(f"{folder}/{name}.err").strip().splitlines()
    if status == 77:
        why = [line for line in said if not line.startswith("ccltap: ")]
        raise Missing(why[-1] if why else "something is missing")
    if status:
        raise Failed(f"{os.path.basename(command[0])} {name}: status {status}\n" +
                     "\n".join(said[-12:]))
    return text_of(f"{folder}/{name}.out")


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def nccl_log(folder):
    """What NCCL said, of all processes."""
    return "\n".join(text_of(path) for path in sorted(glob.glob(f"{folder}/nccl.*.log")))


def record(machine, folder, command, env, timeout, gpu="kernels"):
    """Recorded; then what the trace says."""
    os.makedirs(folder, exist_ok=True)
    options = ["--gpu=" + gpu] if machine.has_gpu_option() else []
    env = {"NCCL_DEBUG": "WARN", **env, "NCCL_DEBUG_FILE": f"{folder}/nccl.%p.log"}
    try:
        run([machine.ccltap, "record", *options, "-o", f"{folder}/trace", "--", *command],
            env, folder, "program", timeout)
    except Failed as what:
        warnings = [line for line in nccl_log(folder).splitlines() if "NCCL WARN" in line]
        raise Failed("\n".join([str(what), *warnings[-6:]])) from None
    run([machine.ccltap, "timeline", "--format", "jsonl", f"{folder}/trace"], dict(os.environ),
        folder, "timeline", timeout)
    # Its status is its verdict, which is looked at with the rest.
    with open(f"{folder}/check.out", "w") as out:
        subprocess.run([machine.ccltap, "check", "--json", f"{folder}/trace"], stdout=out,
                       stderr=subprocess.DEVNULL, check=False, timeout=timeout)
    with open(f"{folder}/events.out", "w", encoding="utf-8") as out:
        events = subprocess.Popen([f"{machine.top}/bin/babeltrace2", f"{folder}/trace"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        out.writelines(line for line in events.stdout if " gpu:" in line)
        events.wait()
    return Recording(folder)


def add_trees(machine, folder, timeout):
    """What ccltap says of each operation of all ranks, for Recording.tree."""
    run([machine.ccltap, "timeline", "--tree", "--format", "jsonl", f"{folder}/trace"],
        dict(os.environ), folder, "tree", timeout)


def lines_of(path):
    return [json.loads(line) for line in text_of(path).splitlines()]


class Recording:
    """What is in such a folder.

    gpu_events: as babeltrace2 shows them, of the provider gpu alone.  logs: of each rank the
    lines that the program wrote.  ranks: its number by its pid.  tree: nodes of all trees, and
    oracle: by pid, what the profiler plugin oracle.c wrote, if there are any."""

    def __init__(self, folder):
        self.folder = folder
        self.spans = {}
        self.links = collections.defaultdict(list)
        self.of_pid = collections.defaultdict(list)
        for line in text_of(f"{folder}/timeline.out").splitlines():
            record = json.loads(line)
            if record["type"] == "span":
                self.spans[record["id"]] = record
                self.of_pid[record["pid"]].append(record)
            elif record["type"] == "link":
                self.links[record["kind"]].append(record)
        for spans in self.of_pid.values():
            spans.sort(key=lambda span: span["begin_ns"])
        self.check = json.loads(text_of(f"{folder}/check.out") or "{}")
        self.gpu_events = [line for line in text_of(f"{folder}/events.out").splitlines()
                           if re.search(" gpu:[a-z_]+: ", line)]
        self.said = "\n".join(line for line in text_of(f"{folder}/program.err").splitlines()
                              if line.startswith("ccltap: "))
        self.tree = [record for record in lines_of(f"{folder}/tree.out")
                     if record["type"] == "node"]
        self.oracle = {int(path.rpartition(".")[2]): lines_of(path)
                       for path in glob.glob(f"{folder}/oracle.*")}
        self.logs = {}
        self.ranks = {}
        for path in glob.glob(f"{folder}/log.*"):
            lines = lines_of(path)
            self.logs[lines[0]["pid"]] = lines[1:]
            self.ranks[lines[0]["pid"]] = lines[0]["rank"]

    def layer(self, pid, layer):
        return [span for span in self.of_pid[pid] if span["layer"] == layer]

    def launches(self, pid):
        """Of kernels, that succeeded; a captured one is a node, and runs with its graph."""
        return [span for span in self.layer(pid, "cuda")
                if re.match(r"cuLaunch(Cooperative)?Kernel", span["name"]) and
                span["result"] == 0]

    def linked(self, kind):
        """To each span of that end of a link the others."""
        others = collections.defaultdict(list)
        for link in self.links[kind]:
            spans = [span for span in link["spans"] if span in self.spans]
            for span in spans:
                others[span] += [self.spans[other] for other in spans if other != span]
        return others

    def nccl_said(self):
        return nccl_log(self.folder)
