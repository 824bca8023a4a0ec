# SPDX-License-Identifier: MIT
"""What recording costs launches and all-reduces: runs without, with, and with what runs on
the GPU, one after the other and often; and runs with a bare client of CUPTI, which is
CUPTI's own share (tests/gpu/cost.c)."""
import collections
import json
import os
import shutil
import statistics
import time

import recording

# DESIGN's promise, for a collective with all layers but CUPTI: at that size and more.
PROMISED = ((8192, 1.03), (131072, 1.01))
UNTRACED, CALLS, KERNELS, CUPTI = "untraced", "calls", "calls and kernels", "CUPTI alone"


def limit_of(size):
    return [limit for least, limit in PROMISED if size >= least][-1]


def one_run(machine, folder, way, ranks, arguments, timeout):
    """The medians of a run, by (what, bytes)."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    env = machine.environment(NCCL_NET="Socket", NCCL_IB_DISABLE="1")
    command = [f"{machine.programs}/cost", "-n", str(ranks), *arguments]
    if way == CUPTI:
        command += ["-c", machine.libcupti]
    if way in (CALLS, KERNELS):
        gpu = ["--gpu=" + ("kernels" if way == KERNELS else "off")] \
            if machine.has_gpu_option() else []
        command = [machine.ccltap, "record", *gpu, "-o", f"{folder}/trace", "--", *command]
    out = recording.run(command, env, folder, "cost", timeout)
    if way in (CALLS, KERNELS):
        said = recording.text_of(f"{folder}/cost.err")
        if " 0 discarded" not in said:
            raise recording.Failed(f"record said: {said.strip()}")
    shutil.rmtree(f"{folder}/trace", ignore_errors=True)
    lines = [json.loads(line) for line in out.splitlines()]
    return {(line["what"], line["bytes"]): line["median_ns"] for line in lines
            if "median_ns" in line}


def measure(machine, folder, is_quick, seconds):
    """A row for each way, number of ranks, what and size: over all rounds the median time,
    and of the ratios to the untraced run of the same round the median and the extremes."""
    ways = [UNTRACED, CALLS]
    if machine.has_gpu_option():
        ways += [KERNELS, CUPTI]
    arguments = ["-i", "20", "-b", "131072"] if is_quick else ["-i", "200"]
    most_rounds = 1 if is_quick else 9
    end = time.monotonic() + seconds
    taken = collections.defaultdict(list)
    rounds = 0
    while rounds < most_rounds and (rounds < 2 or time.monotonic() < end):
        for ranks in (1, 2):
            # Who comes first differs, so that nobody always has the cold machine.
            turn = rounds % len(ways)
            for way in ways[turn:] + ways[:turn]:
                for what, median in one_run(machine, f"{folder}/cost", way, ranks, arguments,
                                            300).items():
                    taken[(way, ranks) + what].append(median)
        rounds += 1
    rows = []
    for (way, ranks, what, size), times in taken.items():
        bare = taken[UNTRACED, ranks, what, size]
        ratios = [time / other for time, other in zip(times, bare)]
        rows.append({"way": way, "ranks": ranks, "what": what, "bytes": size,
                     "median_ns": statistics.median(times),
                     "ratio": statistics.median(ratios), "least": min(ratios),
                     "most": max(ratios), "rounds": rounds,
                     "noise": (max(bare) - min(bare)) / statistics.median(bare)})
    return rows


def judged(rows):
    """(what is promised, True or False, or None where the untraced runs alone differ by
    more than what is too much, the numbers) for each size of two ranks."""
    found = []
    for row in rows:
        if row["way"] != CALLS or row["ranks"] != 2 or row["what"] != "collective":
            continue
        limit = limit_of(row["bytes"])
        is_kept = row["ratio"] <= limit
        if not is_kept and row["ratio"] - limit < row["noise"]:
            is_kept = None
        found.append((f"an all-reduce of {row['bytes']} bytes takes at most "
                      f"{limit - 1:.0%} longer", is_kept,
                      f"{row['ratio'] - 1:+.2%} ({row['least'] - 1:+.2%} to "
                      f"{row['most'] - 1:+.2%}); untraced runs differ by {row['noise']:.2%}"))
    return found


def table(rows):
    """In Markdown, a line for each thing that was timed and a column for each way."""
    ways = list(dict.fromkeys(row["way"] for row in rows))
    lines = ["| ranks | what | " + " | ".join(ways) + " |",
             "|--:|---|" + "--:|" * len(ways)]
    things = list(dict.fromkeys((row["ranks"], row["what"], row["bytes"]) for row in rows))
    for ranks, what, size in sorted(things):
        cells = []
        for way in ways:
            row = next((row for row in rows if (row["way"], row["ranks"], row["what"],
                                                row["bytes"]) == (way, ranks, what, size)), None)
            if not row:
                cells.append("")
            elif way == UNTRACED:
                cells.append(f"{row['median_ns'] / 1000:.2f} us")
            else:
                cells.append(f"{row['ratio'] - 1:+.1%} ({row['least'] - 1:+.1%} to "
                             f"{row['most'] - 1:+.1%})")
        name = "launch" if what == "launch" else f"all-reduce of {size} bytes"
        lines.append(f"| {ranks} | {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
