#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the NCCL double in many configurations, each with data that all ranks check.

usage: matrix.py [OPTION...] CONFIGURATION

  --pairs           each two values of two dimensions together at least once
  --all             each of protocol, algorithm, channels, ranks and transport with all others
  --random N        N configurations of which all is drawn
  --seed S          what all is drawn from (1)
  --jobs N          so many at once (2)
  --part N/M        of those, every M-th alone, from the N-th on (1/1)
  --transport T     of this transport alone
  --list            say them, one a line, instead
  --limit S         seconds after which one is said to hang (60)

CONFIGURATION is the program of that name, which does each operation in every configuration.
Prints a line of TAP without a number for each that fails, with what it said and how to repeat
it, and one for all the others."""
import argparse
import concurrent.futures
import itertools
import random
import subprocess
import sys
import time
from pathlib import Path

DIMENSIONS = {
    "ranks": range(2, 9),
    "channels": range(1, 9),
    "protocol": ("ll", "ll128", "simple"),
    "algorithm": ("ring", "tree"),
    "transport": ("verbs", "socket", "p2p", "shm", "pairs", "pxn", "windows", "copies"),
}
# What is drawn beside that; the first value stands for the program's own.
OTHERS = {
    "layout": ("processes", "threads", "single"),
    "comms": ("world", "split", "shared", "two"),
    "blocking": (1, 0),
    "jitter": (0, 0, 0, 50, 500),
    "release": (None, "2.18.3", "2.21.5", "2.24.3", "2.28.9", "2.29.7", "2.30.7", "2.32.3"),
}
ENVIRONMENT = {
    "NCCL_IB_QPS_PER_CONNECTION": (1, 1, 2, 4),
    "NCCL_IB_SPLIT_DATA_ON_QPS": (0, 1),
    "NCCL_IB_ADAPTIVE_ROUTING": (None, 0, 1),
    "NCCL_IB_USE_INLINE": (0, 1),
    "MININCCL_FLUSH": (0, 1),
    "SOFTVERBS_DEVICES": (1, 1, 2, 3),
    "SOFTVERBS_LINK": ("ethernet", "infiniband"),
    "NCCL_NET_FORCE_MERGE": (None, None, None, "soft0,soft1"),
    "NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS": (None, None, 1),
    "NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME": (None, None, 1),
    "NCCL_SOCKET_NTHREADS": (None, None, 1, 2),
    "NCCL_NSOCKS_PERTHREAD": (None, 2),
    "NCCL_BUFFSIZE": (None, None, 1 << 16, 1 << 20),
    "NCCL_LL_BUFFSIZE": (None, None, 1 << 14),
    "NCCL_ALLOC_P2P_NET_LL_BUFFERS": (None, 1),
    "NCCL_RUNTIME_CONNECT": (None, None, 0),
    "MININCCL_ORDER": (None, 1, 2),
    "MININCCL_SLICE_STEPS": (None, None, 1),
}


def product(dimensions):
    """All of it."""
    for values in itertools.product(*dimensions.values()):
        yield dict(zip(dimensions, values))


def pairs(dimensions, drawn):
    """Few that have each pair of values: each new one has as many pairs that are left as can be
    found quickly."""
    names = list(dimensions)
    left = {(a, x, b, y) for a, b in itertools.combinations(names, 2)
            for x in dimensions[a] for y in dimensions[b]}
    while left:
        best, most = None, set()
        for _ in range(40):
            a, x, b, y = drawn.choice(sorted(left, key=repr))
            case = {name: drawn.choice(list(values)) for name, values in dimensions.items()}
            case.update({a: x, b: y})
            covered = {(a, case[a], b, case[b]) for a, b in itertools.combinations(names, 2)} & left
            if len(covered) > len(most):
                best, most = case, covered
        left -= most
        yield best


def at_random(drawn, count):
    for _ in range(count):
        case = {name: drawn.choice(list(values))
                for name, values in (DIMENSIONS | OTHERS | ENVIRONMENT).items()}
        if case["NCCL_NET_FORCE_MERGE"]:
            case["SOFTVERBS_DEVICES"] = 2
        if case["transport"] == "pxn":
            case["MININCCL_RANKS_PER_NODE"] = drawn.choice((2, 3))
            case["NCCL_NET_SHARED_COMMS"] = drawn.choice((0, 1))
            case["NCCL_NET"] = drawn.choice(("IB", "IB", "Socket"))
        # Where there are several nodes, windows are there and no use.
        if case["transport"] in ("windows", "copies"):
            case["MININCCL_RANKS_PER_NODE"] = drawn.choice((0, 0, 2))
        # NCCL finds none of the receives that it posted beforehand by their slots.
        if case["NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS"]:
            case["NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME"] = 1
        # With less, channels get a share of nothing of a transfer, and NCCL hangs in it.
        if case["NCCL_ALLOC_P2P_NET_LL_BUFFERS"] and case["NCCL_LL_BUFFSIZE"]:
            case["NCCL_LL_BUFFSIZE"] = 1 << 18
        yield {name: value for name, value in case.items() if value is not None} | {
            "operation": "any", "rounds": drawn.randint(1, 4),
            "most": 1 << drawn.randint(8, 22), "seed": drawn.randrange(1 << 31)}


# Connections that are closed keep their ports for a minute, all of which would be gone after some
# hundred configurations: each has a network of its own, if that is allowed.
APART = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "matrix"]


def can_be_apart():
    try:
        return subprocess.run(APART + ["true"], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def wait_for_ports():
    """Where all have one network."""
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    while True:
        said = Path("/proc/net/sockstat").read_text().split()
        if int(said[said.index("tw") + 1]) < (high - low) // 2:
            break
        time.sleep(0.5)


class Case:
    def __init__(self, how, values):
        settings = [f"{name}={value}" for name, value in values.items()]
        self.environment = [setting for setting in settings if setting[0].isupper()]
        self.arguments = [setting for setting in settings if not setting[0].isupper()]
        self.how = how

    def command(self):
        return ["env", *self.environment, self.how.configuration, *self.arguments,
                f"limit={self.how.limit}"]

    def __str__(self):
        return " ".join(self.environment + self.arguments)

    def run(self):
        """What was wrong, or nothing."""
        if not self.how.is_apart:
            wait_for_ports()
        try:
            done = subprocess.run(APART * self.how.is_apart + self.command(),
                                  stdin=subprocess.DEVNULL, text=True,
                                  errors="replace", stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=2 * self.how.limit + 60)
        except subprocess.TimeoutExpired as late:
            return f"it does not end\n{late.stdout or ''}"
        if done.returncode == 0 and not done.stdout:
            return None
        return f"status {done.returncode}\n{done.stdout}"


def part(text):
    number, _, count = text.partition("/")
    number, count = int(number), int(count)
    if not 1 <= number <= count:
        raise ValueError
    return number, count


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", type=part, default=(1, 1))
    parser.add_argument("--transport")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("configuration")
    return parser.parse_args()


def cases_of(how):
    drawn = random.Random(how.seed)
    if how.transport:
        DIMENSIONS["transport"] = (how.transport,)
    cases = []
    if how.pairs:
        cases += pairs(DIMENSIONS, drawn)
    if how.all:
        cases += product(DIMENSIONS)
    cases = [case | {"seed": drawn.randrange(1 << 31)} for case in cases]
    cases += at_random(drawn, how.random)
    first, step = how.part
    return [Case(how, case) for case in cases[first - 1::step]]


def main():
    how = parse()
    how.is_apart = can_be_apart()
    cases = cases_of(how)
    if how.list:
        print(*(" ".join(case.command()) for case in cases), sep="\n")
        return False
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(how.jobs) as pool:
        for case, said in zip(cases, pool.map(Case.run, cases)):
            if said is None:
                continue
            wrong += 1
            print(f"not ok - {case}", f"again: {' '.join(case.command())}",
                  *said.splitlines()[:12], sep="\n", flush=True)
    what = f"{len(cases)} configurations give right data, seed {how.seed}"
    print(f"not ok - {what}\n{wrong} do not" if wrong else f"ok - {what}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
