# SPDX-License-Identifier: MIT
"""Ranks of a job, each started by its own `ccltap record`, killed at random with or without
it: what is left of them, and what is recorded of those that survive.

usage: ranks.py CCLTAP RANK LIBRARY FOLDER RUNS SEED
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from recorder import Recorder

RANKS = 8
CALLS = 300
PAUSE_US = 1000


class Rank(Recorder):
    def __init__(self, how, number, trace, folder, job=None):
        self.number = number
        self.recorder_killed = self.program_killed = False
        environment = dict(os.environ, RANK=str(number), WORLD_SIZE=str(RANKS))
        environment.pop("CCLTAP_JOB", None)
        if job:
            environment["CCLTAP_JOB"] = job
        self.said = open(f"{folder}/said-{job or 'job'}-{number}", "w+")
        super().__init__([how["ccltap"], "record", "--overwrite"], trace,
                         (how["rank"], how["library"], CALLS, PAUSE_US),
                         f"{folder}/count-{job or 'job'}-{number}", self.said, env=environment)

    def program(self):
        """Its process, None when it is not there yet, or no more.  The supervisor, which
        one of the recorders has for a child, is in a session of its own."""
        try:
            with open(f"/proc/{self.recorder.pid}/task/{self.recorder.pid}/children") as children:
                for pid in children.read().split():
                    with open(f"/proc/{pid}/cmdline", "rb") as line:
                        if self.count_file.encode() in line.read() and \
                                os.getsid(int(pid)) == os.getsid(0):
                            return int(pid)
        except OSError:
            pass
        return None

    def kill_recorder(self):
        self.recorder_killed = self.recorder.poll() is None
        self.recorder.kill()

    def kill_program(self):
        pid = self.program()
        if pid and self.recorder.poll() is None:
            self.program_killed = True
            os.kill(pid, signal.SIGKILL)


def left_behind(how):
    """What is left of ccltap and LTTng in this mount namespace's folders, as text."""
    left = []
    if os.path.isdir("/var/run/lttng/ccltap"):
        left += [name for name in os.listdir("/var/run/lttng/ccltap") if ".lock" not in name
                 and name != "lock"]
    listed = subprocess.run(["lttng", "--no-sessiond", "list"], capture_output=True, text=True)
    if listed.returncode == 0:
        left += [line for line in listed.stdout.splitlines() if "ccltap-" in line]
        if how["private"]:
            left.append("a session daemon")
    return left


def wait_until_nothing_is_left(how):
    limit = time.monotonic() + 40
    while left := left_behind(how):
        if time.monotonic() > limit:
            return ", ".join(left)
        time.sleep(0.02)
    return None


def wait_for_programs(ranks):
    """Programs whose recorders were killed go on; they are nobody's children then."""
    limit = time.monotonic() + 60
    for rank in ranks:
        while time.monotonic() < limit:
            users = subprocess.run(["pgrep", "-f", rank.count_file], capture_output=True)
            if users.returncode:
                break
            time.sleep(0.02)


def recorded(how, trace):
    """Calls that returned, of each rank; the jobs that the view knows."""
    shown = subprocess.run([how["ccltap"], "timeline", "--format", "jsonl", trace],
                           capture_output=True, text=True)
    counts, jobs, processes = {}, set(), {}
    for line in shown.stdout.splitlines():
        record = json.loads(line)
        if record["type"] == "process" and record.get("job_id"):
            processes[record["process"]] = record.get("rank", -1)
            jobs.add(record.get("job_id", ""))
        elif record["type"] == "span" and record.get("end_ns") is not None:
            rank = processes.get(record["process"], -1)
            counts[rank] = counts.get(rank, 0) + 1
    return counts, jobs, shown.stderr


def judge(how, ranks, trace, others_jobs):
    """What is wrong with one run, as a list of sentences."""
    wrong = []
    counts, jobs, complaint = recorded(how, trace)
    said = ""
    for rank in ranks:
        rank.said.seek(0)
        said += rank.said.read()
        status = rank.recorder.returncode
        expected = -signal.SIGKILL if rank.program_killed else 10 + rank.number
        if not rank.recorder_killed and status != expected:
            rank.said.seek(0)
            wrong.append(f"rank {rank.number}'s recorder ended with {status}, not {expected}: "
                         f"{rank.said.read()}")
    # LTTng's buffers are the user's, and who dies in the midst of an event leaves a hole that
    # hides what others wrote after it: that must be said.
    has_hole = "was killed while it wrote an event" in said
    for rank in ranks:
        seen, made = counts.get(rank.number, 0), rank.count()
        if rank.program_killed:
            bad = seen > made + 1 or (seen < made - 1 and not has_hole)
        else:
            bad = seen > made or (seen < made and not has_hole)
        if bad:
            wrong.append(f"rank {rank.number}: {made} calls made, {seen} seen; {complaint}")
    if others_jobs & jobs:
        wrong.append(f"another job's processes are shown: {jobs}")
    return wrong, has_hole


def run_once(how, folder, chance, with_second_job):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    trace = f"{folder}/trace"
    ranks = [Rank(how, number, trace, folder) for number in range(RANKS)]
    second = [Rank(how, number, f"{folder}/second", folder, job="second")
              for number in range(2)] if with_second_job else []
    victims = chance.sample(ranks, chance.randint(1, RANKS - 1))
    moments = sorted((chance.uniform(0, 0.6), chance.random() < 0.5, victim)
                     for victim in victims)
    begin = time.monotonic()
    for moment, is_recorder, victim in moments:
        time.sleep(max(0, begin + moment - time.monotonic()))
        victim.kill_recorder() if is_recorder else victim.kill_program()
    for rank in ranks + second:
        rank.recorder.wait(60)
    wait_for_programs(ranks + second)
    wrong = []
    if left := wait_until_nothing_is_left(how):
        wrong.append(f"left behind: {left}")
    found, has_hole = judge(how, ranks, trace, {"second"})
    wrong += found
    if second:
        _, jobs, _ = recorded(how, trace)
        wrong += judge(how, second, f"{folder}/second", jobs)[0]
    kills = f"{sum(r.recorder_killed for r in ranks)} recorders, " \
            f"{sum(r.program_killed for r in ranks)} programs killed"
    return wrong, kills, has_hole


def main():
    ccltap, rank, library, folder, runs, seed = sys.argv[1:]
    how = {"ccltap": ccltap, "rank": rank, "library": library,
           "private": os.environ.get("PRIVATE") == "1"}
    chance = random.Random(int(seed))
    failed = holes = 0
    for run in range(int(runs)):
        wrong, kills, has_hole = run_once(how, f"{folder}/run", chance, run % 5 == 4)
        holes += has_hole
        for sentence in wrong:
            print(f"run {run} ({kills}): {sentence}", flush=True)
        failed += bool(wrong)
    print(f"{runs} runs, {failed} failed, {holes} with a hole that was told")
    return 1 if failed else 0


sys.exit(main())
