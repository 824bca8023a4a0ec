#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Scores what ccltap says of NCCL's work against what mini-NCCL wrote of it itself.

usage: score.py [OPTION...] CCLTAP BUILD WORK

  --matrix FILE     the configurations (matrix, beside this)
  --only NAME,...   of these lines of it alone, or of configurations: ib, random-17
  --share N         every N-th configuration alone (1)
  --random N        N configurations of which all is drawn that NCCL can have, instead
  --all             each of protocol, algorithm, channels, ranks and transport with all others,
                    instead: the whole matrix of the doubles, an hour and more
  --part N/M        of those, every M-th alone, from the N-th on (1/1)
  --seed S          what these are drawn from
  --mutants FILE    each configuration as it is, and once more with the settings of each line
                    of FILE, which must lower the score, or with may=stay not raise it
  --json FILE       write the score there
  --table FILE      put the table between the marks in that file
  --spoil           what the trace says is changed as well, which must be noticed
  --whole           a message, thread or connection of which the trace lacks something is an
                    error, too
  --keep            leave recordings and truths in WORK

CCLTAP_DECODE=0 scores what inference alone gives.  Prints a line for each configuration, what is
wrong, and a table; ends with 1 where a link is wrong that is called exact or decoded."""
import argparse
import collections
import json
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MUTANTS = os.path.join(HERE, "mutants")
sys.path.insert(0, os.path.join(HERE, "../doubles_tests"))
sys.path.insert(0, os.path.join(HERE, "../lib"))
import matrix  # pylint: disable=wrong-import-position
import page  # pylint: disable=wrong-import-position
import spoilt  # pylint: disable=wrong-import-position
from judge import judge  # pylint: disable=wrong-import-position
from match import Names  # pylint: disable=wrong-import-position
from runs import Config, Failed, drop_packets, recordings  # pylint: disable=wrong-import-position
from trace import Trace  # pylint: disable=wrong-import-position
from truth import Truth  # pylint: disable=wrong-import-position

SHOWN = 4  # of what is wrong with a configuration
WIDTH = 400
SURE = ("exact", "decoded", "unsure")
OUTCOMES = ("right", "wrong", "not_ascribed")
NOISE = 1.0  # percent by which two runs of the same may differ
# Of a whole recording nothing of these may be missing.
COMPLETE = ("message", "request-message", "message-message", "thread-role", "thread-communicator",
            "connection-direction", "connection-channel", "connection-peer", "connection-index",
            "connection-communicator")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--matrix", default=os.path.join(HERE, "matrix"))
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--part", type=matrix.part, default=(1, 1))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants")
    parser.add_argument("--json")
    parser.add_argument("--table")
    parser.add_argument("--spoil", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--keep", action="store_true")
    for name in "ccltap", "build", "work":
        parser.add_argument(name, type=os.path.abspath)
    return parser.parse_args()


# -- Configurations

def read_matrix(path):
    """Name and alternatives of each line."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.partition("#")[0].split()
            if words:
                yield words[0], {name: tuple(values.split("|")) for name, _, values in
                                 (word.partition("=") for word in words[1:])}


def as_nccl(case):
    """Without what makes mini-NCCL cut or order its messages as no NCCL does: the tests of the
    doubles draw that, too."""
    unlike = {setting for _, settings in read_matrix(MUTANTS) for setting in settings}
    return {name: value for name, value in case.items() if name not in unlike}


def configs_of(how):
    drawn = random.Random(how.seed)
    if how.random:
        cases = [("random", as_nccl(case)) for case in matrix.at_random(drawn, how.random)]
    elif how.all:
        cases = [("all", case | {"seed": drawn.randrange(1 << 31)})
                 for case in matrix.product(matrix.DIMENSIONS)]
    else:
        cases = []
        for name, settings in read_matrix(how.matrix):
            drawn = random.Random(name)
            if how.only and not any(f"{one}-".startswith(f"{name}-") for one in how.only):
                continue
            cases += [(name, case | {"seed": drawn.randrange(1 << 31)})
                      for case in matrix.pairs(settings, drawn)]
    first, step = how.part
    numbers = collections.Counter()
    configs = []
    for name, case in cases[::how.share]:
        numbers[name] += 1
        config = Config(f"{name}-{numbers[name]}", case)
        if not how.only or name in how.only or config.name in how.only:
            configs.append(config)
    return configs[first - 1::step]


# -- Scores

def score_recording(how, path, configs):
    """The rows of each of its runs, and what is wrong."""
    trace = Trace(path, how.ccltap)
    for config in configs:
        truth = Truth(config.folder)
        names = Names(trace, truth, config.record == "late")
        read, is_whole = trace, config.record == "whole"
        if config.record == "lossy":
            read = Trace(drop_packets(path, config.share), how.ccltap)
            # What a queue pair is called is no claim, and may be in a packet that is lost.
            read.adapters = trace.adapters
        yield config, judge(read, truth, names, is_whole)
        if how.spoil:
            spoil(how, config, trace, truth, names)


def spoil(how, config, trace, truth, names):
    """What is wrong on purpose must be noticed in any configuration."""
    def has_fault():
        rows = judge(trace, truth, names).rows(str(config))
        return any(has_failed(how, row) for row in rows)
    for name, is_noticed in spoilt.unnoticed(trace, truth, has_fault):
        how.spoilt[name, is_noticed] += 1


def has_failed(how, row):
    if row["wrong"] and row["known"] in SURE:
        return True
    return bool(how.whole and row["link"] in COMPLETE and row["not_ascribed"])


def report(how, config, score, rows):
    sums = collections.Counter()
    for row in rows:
        sums.update({name: row[name] for name in OUTCOMES})
    wrong = [row for row in rows if has_failed(how, row)]
    print(f"{'not ok' if wrong else 'ok'} - {config}: {sums['right']} right, "
          f"{sums['wrong']} wrong, {sums['not_ascribed']} not ascribed", flush=True)
    if wrong:
        print(*[f"  {row['link']}, {row['known']}: " + ", ".join(
            f"{row[name]} {name}" for name in OUTCOMES) for row in wrong],
              *["  " + fault[:WIDTH] for fault in score.faults[:SHOWN]], sep="\n", flush=True)
    return bool(wrong)


def score_all(how, configs):
    """Each with its rows, and how many failed."""
    scored, failed = [], 0
    for path, together in recordings(how, configs):
        if isinstance(path, Failed):
            failed += len(together)
            print(f"not ok - {', '.join(config.name for config in together)}: {path}", flush=True)
            continue
        for config, score in score_recording(how, path, together):
            own = score.rows(str(config))
            failed += report(how, config, score, own)
            scored.append((config, own))
            if not how.keep:
                shutil.rmtree(config.folder)
        if not how.keep:
            shutil.rmtree(path)
            shutil.rmtree(path + ".lossy", ignore_errors=True)
    return scored, failed


def table_of(rows):
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        sums[row["link"], row["known"] or "-"].update({name: row[name] for name in OUTCOMES})
    totals = collections.Counter()
    for (link, _), row in sums.items():
        totals[link] += sum(row.values())
    lines = ["| link | known | right | wrong | not ascribed | share |", "|---|---|---|---|---|---|"]
    for (link, known), row in sorted(sums.items()):
        share = 100 * sum(row.values()) / totals[link] if totals[link] else 0
        lines.append(f"| {link} | {known} | " + " | ".join(
            str(row[name]) for name in OUTCOMES) + f" | {share:.2f} % |")
    return "\n".join(lines)


def lines_table_of(scored):
    """What each line of the matrix gives, of the links that are hardest to have."""
    sums = collections.defaultdict(collections.Counter)
    for config, rows in scored:
        line = sums[config.name.rpartition("-")[0]]
        line["configurations"] += 1
        for row in rows:
            line.update({(row["link"], name): row[name] for name in OUTCOMES})
            if row["known"] in SURE:
                line["sure and wrong"] += row["wrong"]
    lines = ["| configurations | | messages | of an operation | wrong | sure and wrong, of all |",
             "|---|---|---|---|---|---|"]
    for name, line in sums.items():
        right, wrong, missed = (line["message-operation", what] for what in OUTCOMES)
        total = right + wrong + missed
        share = f"{100 * right / total:.1f} %" if total else "-"
        lines.append(f"| {name} | {line['configurations']} | {total} | {share} | {wrong} | "
                     f"{line['sure and wrong']} |")
    return "\n".join(lines)


# -- Mutants

def mutate(configs, path):
    """Each as it is, and with each mutation."""
    mutants = [(name, settings) for name, settings in read_matrix(path)]
    for config in configs:
        config.mutant = None
        yield config
        for name, settings in mutants:
            mutant = Config(f"{config.name}-{name}", config.settings | {
                one: values[0] for one, values in settings.items()})
            mutant.may_stay = mutant.settings.pop("may", "") == "stay"
            mutant.mutant = name
            yield mutant


def share_decoded(scored, mutant):
    """Of all messages those whose operation is known by more than times and counts."""
    sums = collections.Counter()
    for config, rows in scored:
        for row in rows:
            if config.mutant == mutant and row["link"] == "message-operation":
                sums[row["known"] == "decoded"] += sum(row[name] for name in OUTCOMES)
    return 100 * sums[True] / max(sum(sums.values()), 1)


def judge_mutants(scored):
    """How many of them are too good."""
    mutants = {config.mutant: config.may_stay for config, _ in scored if config.mutant}
    original = share_decoded(scored, None)
    unharmed = 0
    for mutant, may_stay in mutants.items():
        share = share_decoded(scored, mutant)
        is_harmed = share <= original + (NOISE if may_stay else -NOISE)
        unharmed += not is_harmed
        print(f"{'ok' if is_harmed else 'not ok'} - {mutant}: {share:.2f} % of the "
              f"operations of messages are decoded, {original:.2f} % without it")
    return unharmed


def main():
    how = parse()
    how.spoilt = collections.Counter()
    configs = configs_of(how)
    if how.mutants:
        configs = list(mutate(configs, how.mutants))
    print(f"# {len(configs)} configurations", flush=True)
    os.makedirs(how.work, exist_ok=True)
    scored, failed = score_all(how, configs)
    rows = [row for _, some in scored for row in some]
    table = f"{table_of(rows)}\n\n{lines_table_of(scored)}"
    print(table)
    if how.mutants:
        failed += judge_mutants(scored)
    for (name, is_noticed), count in sorted(how.spoilt.items()):
        failed += not is_noticed
        print(f"{'ok' if is_noticed else 'not ok'} - {name}: wrong on purpose in {count} "
              f"configurations, which is {'' if is_noticed else 'not '}noticed")
    if how.json:
        with open(how.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=0)
    if how.table:
        page.put(how.table, f"{len(configs)} configurations"
                 + (f", drawn from seed {how.seed}" if how.random else "") + f".\n\n{table}")
    print(f"{failed} of {len(configs)} failed" if failed else "nothing sure is wrong")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
