# SPDX-License-Identifier: MIT
"""Recordings whose supervisor, recorders, session daemon and consumer are killed at random:
the programs end as ever, and the next recording, or `ccltap end`, leaves nothing of them.

To be run in namespaces of its own, for processes and for LTTng's folders: whatever is found
there is ours.

usage: kills.py --ccltap FILE --rank FILE --library FILE --folder DIR [--runs N] [--seed N]
                [--user UID] [--hung]

--hung: one recording instead, whose supervisor is killed and whose daemon answers no more.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from recorder import Recorder

CALLS = 400
PAUSE_US = 1000
NAMES = {"supervisor": "ccltap-super", "daemon": "lttng-sessiond", "consumer": "lttng-consumerd"}
LIMIT_S = 120


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("--ccltap", "--rank", "--library", "--folder"):
        parser.add_argument(name, required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--user", type=int, default=0)
    parser.add_argument("--hung", action="store_true")
    return parser.parse_args()


def processes(name):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as comm, open(f"/proc/{pid}/stat") as stat:
                if comm.read().strip() == name and stat.read().rsplit(")")[1].split()[0] != "Z":
                    found.append(int(pid))
        except OSError:
            pass
    return found


def as_user(how, environment):
    environment = {key: value for key, value in environment.items()
                   if key not in ("CCLTAP_JOB", "LTTNG_HOME", "RANK")}
    environment["HOME"] = how.folder
    options = {"env": environment}
    if how.user:
        options.update(user=how.user, group=how.user, extra_groups=[])
    return options


class Rank(Recorder):
    def __init__(self, how, number, trace):
        self.number = number
        options = as_user(how, os.environ)
        options["env"].update(RANK=str(number), CCLTAP_JOB="kills")
        self.said_file = f"{how.folder}/said-{number}"
        self.was_killed = False
        with open(self.said_file, "w") as said:
            super().__init__([how.ccltap, "record"], trace,
                             (how.rank, how.library, CALLS, PAUSE_US),
                             f"{how.folder}/count-{number}", said, **options)

    def kill(self):
        if self.recorder.poll() is None:
            self.was_killed = True
            self.recorder.kill()

    def said(self):
        with open(self.said_file) as file:
            return file.read()

    def judge(self):
        """What is wrong with how it ended, None when nothing is."""
        status = self.recorder.returncode
        if self.was_killed:
            return None if status == -signal.SIGKILL else f"killed, and ended with {status}"
        if status == 10 + self.number and self.count() == CALLS:
            return None
        if status == 1 and not self.count() and "program was not run" in self.said():
            return None
        return f"ended with {status} after {self.count()} calls: {self.said()}"


def left_behind(how):
    left = [f"{name}: process {pid}" for name in (*NAMES.values(), "lttng-runas", "rank")
            for pid in processes(name)]
    places = [f"/tmp/ccltap-{how.user}"] if how.user else ["/var/run/lttng/ccltap"]
    for place in places:
        if os.path.isdir(place):
            left += [f"{place}/{name}" for name in os.listdir(place)
                     if name not in ("lock", "daemon.lock", ".lttng")]
    left += [f"/dev/shm/{name}" for name in os.listdir("/dev/shm")
             if not name.startswith("lttng-ust-wait-")]
    return left


def within_limit(condition):
    limit = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def kill(kind, ranks, chance):
    """Kills one of that kind, if there is one now."""
    if kind == "recorder":
        chance.choice(ranks).kill()
        return
    for pid in processes(NAMES[kind]):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def follow(how, verb):
    """The next recording, or an end of what has died.  What is wrong, None when nothing is."""
    options = as_user(how, os.environ)
    if verb == "end":
        done = subprocess.run([how.ccltap, "end"], capture_output=True, text=True,
                              timeout=LIMIT_S, **options)
        return None if done.returncode in (0, 1) else f"end: {done.returncode} {done.stderr}"
    done = subprocess.run(
        [how.ccltap, "record", "-o", f"{how.folder}/next", "--", how.rank, how.library,
         f"{how.folder}/count-next", "10", "100"], capture_output=True, text=True,
        timeout=LIMIT_S, **options)
    if done.returncode == 10 and "nccl 20" in done.stderr and \
            "complete" not in done.stderr and "problem" not in done.stderr:
        return None
    return f"the next recording: {done.returncode} {done.stderr}"


def run_once(how, chance):
    shutil.rmtree(how.folder, ignore_errors=True)
    os.makedirs(how.folder)
    if how.user:
        os.chown(how.folder, how.user, how.user)
    ranks = [Rank(how, number, f"{how.folder}/trace") for number in range(chance.randint(1, 3))]
    plan = sorted((chance.uniform(0, 1.5), chance.choice([*NAMES, "recorder"]))
                  for _ in range(chance.randint(1, 3)))
    begin = time.monotonic()
    for moment, kind in plan:
        time.sleep(max(0, begin + moment - time.monotonic()))
        kill(kind, ranks, chance)
    wrong = []
    for rank in ranks:
        try:
            rank.recorder.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            wrong.append(f"rank {rank.number}'s recorder does not end")
            rank.recorder.kill()
            rank.recorder.wait()
            continue
        if found := rank.judge():
            wrong.append(f"rank {rank.number}: {found}")
    if not within_limit(lambda: not processes("rank") and not processes("ccltap-super")):
        wrong.append("programs or a supervisor go on")
    verb = chance.choice(("record", "end"))
    if found := follow(how, verb):
        wrong.append(found)
    if not within_limit(lambda: not left_behind(how)):
        wrong.append(f"left behind after {verb}: {', '.join(left_behind(how))}")
    return wrong, ", ".join(f"{kind} at {moment:.2f} s" for moment, kind in plan)


def leave_hung(how):
    shutil.rmtree(how.folder, ignore_errors=True)
    os.makedirs(how.folder)
    if how.user:
        os.chown(how.folder, how.user, how.user)
    rank = Rank(how, 0, f"{how.folder}/trace")
    if not within_limit(lambda: rank.count() > 0):
        return ["nothing is recorded"]
    for name, number in ("supervisor", signal.SIGKILL), ("daemon", signal.SIGSTOP):
        for pid in processes(NAMES[name]):
            os.kill(pid, number)
    rank.recorder.wait(LIMIT_S)
    wrong = [found for found in (rank.judge(), follow(how, "end")) if found]
    if not within_limit(lambda: not left_behind(how)):
        wrong.append(f"left behind after end: {', '.join(left_behind(how))}")
    return wrong


def main():
    how = arguments()
    if how.hung:
        wrong = leave_hung(how)
        print(*wrong, sep="\n")
        return 1 if wrong else 0
    chance = random.Random(how.seed)
    failed = 0
    for run in range(how.runs):
        wrong, plan = run_once(how, chance)
        for sentence in wrong:
            print(f"run {run} ({plan}): {sentence}", flush=True)
        failed += bool(wrong)
    print(f"{how.runs} runs, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
