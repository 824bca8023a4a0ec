# SPDX-License-Identifier: MIT
"""A recording that began when ranks were counted already has their calls from then on, and
what was before.

usage: attach.py TRACE RANKS

Each of the ranks has all-reduces with ascending numbers, none of them the first, on one
communicator that the state dump describes: of RANKS ranks, with its library, and with as many
collectives as came before.  Queues, memory regions, sockets and NCCL's threads are there, too,
and what is posted to the queues.
"""

import collections
import re
import subprocess
import sys

EVENT = re.compile(r"\[([0-9:.]+)\].*? (\w+:\w+): .*?vpid = (\d+)")


def field(line, name):
    match = re.search(rf"\b{name} = (?:\"([^\"]*)\"|([-0-9a-fA-Fx]+)|\( \"([^\"]*)\")", line)
    return next((group for group in match.groups() if group is not None), None) if match else None


def main():
    trace, nranks = sys.argv[1], int(sys.argv[2])
    text = subprocess.run(["babeltrace2", trace], check=True, capture_output=True,
                          text=True).stdout
    dumped, numbers, kinds = {}, collections.defaultdict(list), collections.Counter()
    libraries = collections.defaultdict(set)
    for line in text.splitlines():
        match = EVENT.search(line)
        if not match:
            continue
        name, pid = match.group(2), match.group(3)
        kinds[name] += 1
        if name in ("tap:library", "tap:statedump_library"):
            libraries[pid].add(field(line, "library_id") or field(line, "id"))
        if name == "tap:statedump_comm" and field(line, "nranks") == str(nranks):
            dumped.setdefault(pid, line)
        if name == "nccl:ncclAllReduce_entry" and field(line, "op_number"):
            numbers[pid, field(line, "comm_id")].append(int(field(line, "op_number")))
    assert len(dumped) == nranks, (len(dumped), kinds)
    for kind in ("tap:statedump_qp", "tap:statedump_cq", "tap:statedump_mr", "tap:statedump_context",
                 "tap:statedump_socket", "tap:statedump_ccl_thread", "verbs:post_rdma",
                 "verbs:poll_sent", "cuda:cuLaunchKernelEx"):
        assert kinds[kind] >= nranks, (kind, kinds)
    for pid, line in dumped.items():
        common = field(line, "comm_id")
        own = numbers[pid, common]
        assert len(own) > 10, (pid, own)
        assert own[0] > 1 and own == sorted(set(own)), (pid, own[:10])
        assert int(field(line, "collectives")) >= 1, line
        assert field(line, "library_id") not in ("0", None), line
        assert field(line, "library_id") in libraries[pid], (line, libraries[pid])
        assert field(line, "comm_key") not in ("0", "0x0", None), line
        assert int(field(line, "rank")) in range(nranks), line


main()
