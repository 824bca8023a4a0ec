# SPDX-License-Identifier: MIT
"""Follows each all-reduce of all ranks, in a trace for Perfetto as its importer has it, along
arrows from the call of the first rank to a kernel of the last.

usage: perfetto_follow.py TRACE RANKS COLLECTIVES
"""

import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import perfetto_query  # noqa: E402

SLICES = ("select s.id, s.name, s.category, s.parent_id, p.name, "
          "extract_arg(s.arg_set_id, 'debug.comm_key') from slice s "
          "join track t on s.track_id = t.id join track p on t.parent_id = p.id")
OPERATION = re.compile(r"(AllReduce #\d+)( |$)")


def rank_of(process):
    found = re.match(r"rank (\d+) ", process)
    return int(found[1]) if found else None


def main(trace, ranks, collectives):
    engine = perfetto_query.Engine()
    engine.load(trace)
    slices = engine.ask(SLICES)
    flows = engine.ask("select slice_out, slice_in from flow")
    engine.run()
    inside = {number: parent for number, _, category, parent, *_ in slices
              if category == "arrival"}
    arrows = collections.defaultdict(list)
    for out, into in flows:
        arrows[out].append(inside.get(into, into))
    calls, kernels = {}, collections.defaultdict(set)
    by_comm = collections.defaultdict(set)
    for number, name, category, _, process, comm in slices:
        found, rank = OPERATION.match(name), rank_of(process)
        if not found or category not in ("nccl", "gpu"):
            continue
        key = comm, found[1]
        if category == "gpu":
            kernels[(*key, rank)].add(number)
        else:
            by_comm[comm].add(rank)
            calls[(*key, rank)] = number
    whole = [comm for comm, members in by_comm.items() if len(members) == ranks]
    followed = bad = 0
    for (comm, name, rank), call in calls.items():
        if rank != 0 or comm not in whole:
            continue
        seen, todo = {call}, [call]
        while todo:
            for into in arrows[todo.pop()]:
                if into not in seen:
                    seen.add(into)
                    todo.append(into)
        if kernels[comm, name, ranks - 1] & seen:
            followed += 1
        else:
            bad += 1
            print(f"{name} of {comm} does not lead to rank {ranks - 1}")
    print(f"{followed} followed")
    return bad == 0 and followed >= collectives


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
