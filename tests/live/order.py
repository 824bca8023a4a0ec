#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares what `ccltap timeline --format jsonl` says with the logs that tests/live/order
wrote itself: order.py FOLDER JSONL complete|partial [FROM-NUMBER].

complete: every attempt is in the trace, and all that belongs together is linked.
partial: some are not; whatever there is must be right all the same.
"""
import collections
import glob
import json
import os
import sys

Attempt = collections.namedtuple("Attempt", "kind slot level number members peer")
SLOT = 64


def read_logs(folder):
    """By process number: the rank, where its slots begin, its attempts by slot."""
    ranks = {}
    for path in glob.glob(os.path.join(folder, "log.*")):
        with open(path, encoding="utf-8") as file:
            _, base, pid, rank = file.readline().split()
            attempts = {}
            for line in file:
                kind, slot, level, number, members, peer = line.split()
                attempts[int(slot)] = Attempt(kind, int(slot), int(level), int(number),
                                              members, int(peer))
        ranks[int(pid)] = (int(rank), int(base, 0), attempts)
    return ranks


def read_trace(path):
    spans, links, comms, head = {}, [], {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "trace":
                head = record
            elif record["type"] == "span":
                spans[record["id"]] = record
            elif record["type"] == "link":
                links.append(record)
            elif record["type"] == "communicator":
                comms[record["process"], record["comm_id"]] = record
    return head, spans, links, comms


def find_attempt(ranks, span):
    """The rank and attempt that a span is, or None when it is no operation."""
    if span["inner"] or span["pid"] not in ranks:
        return None
    fields = span["fields"]
    address = fields.get("recvbuff", fields.get("buff", fields.get("sendbuff")))
    if address is None:
        return None
    rank, base, attempts = ranks[span["pid"]]
    slot, rest = divmod(int(address, 0) - base, SLOT)
    if rest or slot not in attempts:
        return None
    return rank, attempts[slot]


def check(folder, path, is_complete):
    ranks = read_logs(folder)
    head, spans, links, comms = read_trace(path)
    found = {}
    keys = collections.defaultdict(set)
    for ident, span in spans.items():
        who = find_attempt(ranks, span)
        if not who:
            continue
        rank, attempt = who
        found[ident] = who
        if attempt.number:
            assert span["op_number"] == attempt.number, (span, attempt)
        keys[attempt.level, attempt.members].add(span["comm_key"])
        comm = comms.get((span["process"], span["comm_id"]))
        if comm:
            assert comm["rank"] == attempt.members.index(str(rank)), (comm, attempt)
            assert comm["nranks"] == len(attempt.members), (comm, attempt)
        elif is_complete:
            raise AssertionError(f"nothing is known of the communicator of {span}")
    assert all(len(key) == 1 for key in keys.values()), keys
    assert len(set.union(*keys.values())) == len(keys), keys

    linked = collections.Counter()
    for link in links:
        members = [found[ident] for ident in link["spans"] if ident in found]
        assert len(members) == len(link["spans"]) >= 2, link
        assert all(attempt.number == link["op_number"] for _, attempt in members), \
            (link, members)
        for rank, attempt in members:
            linked[rank, attempt.slot] += 1
        if link["kind"] == "collective-ranks":
            assert len({(a.slot, a.level, a.members) for _, a in members}) == 1, (link, members)
            assert len({rank for rank, _ in members}) == len(members), (link, members)
            assert link["ranks"] == [a.members.index(str(rank)) for rank, a in members], \
                (link, members)
        else:
            assert link["kind"] == "send-recv" and link["directed"], link
            (sender, send), (receiver, recv) = members
            assert (send.kind, recv.kind) == ("send", "recv"), (link, members)
            assert send.slot + 1 == recv.slot and send.level == recv.level, (link, members)
            assert send.members[send.peer] == str(receiver), (link, members)
            assert recv.members[recv.peer] == str(sender), (link, members)
    assert not linked or max(linked.values()) == 1, linked.most_common(3)

    counted = [(rank, a) for rank, _, attempts in ranks.values()
               for a in attempts.values()
               if a.number and (a.kind != "collective" or len(a.members) > 1)]
    present = set((rank, attempt.slot) for rank, attempt in found.values())
    if is_complete:
        for rank, attempt in counted:
            assert linked[rank, attempt.slot] == 1, (rank, attempt)
        assert all(link["known"] == "exact" for link in links)
        # A collective of n ranks is one link.
        assert len(links) == len({(a.kind, a.slot if a.kind == "collective" else
                                   (rank, a.slot), a.members)
                                  for rank, a in counted if a.kind != "recv"}), len(links)
    missing = sum((rank, a.slot) not in present for rank, a in counted)
    return {"operations": len(found), "counted": len(counted), "links": len(links),
            "linked": sum(linked.values()), "missing": missing, "loss": head["loss"]}


def main():
    folder, path, how = sys.argv[1:4]
    assert how in ("complete", "partial"), how
    result = check(folder, path, how == "complete")
    print(json.dumps(result))
    if how == "partial":
        assert result["links"], "nothing at all was linked"


main()
