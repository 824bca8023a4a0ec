#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares what `ccltap timeline --format jsonl` says with the logs that tests/live/programs/order
wrote itself: order.py FOLDER JSONL complete|late|lossy.

complete: every attempt is in the trace, and all that belongs together is linked.
late: some were made while nobody recorded, at the same time on all ranks; of the others
all that belongs together is linked, and nothing is called lost.
lossy: any may be missing; whatever there is must be right all the same.
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
            elif record["type"] == "link" and "comm_key" in record:
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


def count_gaps(ranks, present, ends):
    """The numbers that no call has that is present, between the first and the last that
    ends have."""
    numbers = collections.defaultdict(lambda: (set(), set()))
    for rank, _, attempts in ranks.values():
        for a in attempts.values():
            for seen, calls in zip(numbers[rank, a.kind, a.level, a.peer], (present, ends)):
                if a.number and (rank, a.slot) in calls:
                    seen.add(a.number)
    return sum(len(set(range(min(between), max(between))) - seen)
               for seen, between in numbers.values() if between)


def check(folder, path, how):
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
        if comm and comm["rank"] is not None:
            assert comm["rank"] == attempt.members.index(str(rank)), (comm, attempt)
            assert comm["nranks"] == len(attempt.members), (comm, attempt)
        elif how != "lossy":
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
            # Of some the rank may not be known.
            own = [a.members.index(str(rank)) for rank, a in members]
            assert all(told in (rank, None) for told, rank in zip(link["ranks"], own)), \
                (link, members)
            assert how == "lossy" or len(own) == len(members[0][1].members), (link, members)
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
    loss = head["loss"]
    missing = loss["missing_operations"] + loss["not_recorded_operations"]
    assert not loss["ambiguous_operations"] and not loss["mismatched_operations"], loss
    # Of the last calls the returns may be lost: they seem to hang.
    assert how == "lossy" or all(link["known"] == "exact" for link in links)
    # What is linked was certainly counted, and who counts is present, or seems missing
    # as nobody knows that it counts.
    gaps = count_gaps(ranks, present, present)
    least = count_gaps(ranks, present, {who for who in linked})
    assert least <= missing <= gaps + loss["unsure_operations"], (least, gaps, loss)
    if how != "lossy":
        for rank, attempt in counted:
            if (rank, attempt.slot) in present:
                assert linked[rank, attempt.slot] == 1, (rank, attempt)
        assert not loss["unmatched_operations"] and not loss["unsure_operations"], loss
        assert not loss["missing_operations"] or how == "late", loss
    if how == "late":
        assert 0 < len(links) and gaps > 0, (len(links), gaps)
    if how == "complete":
        assert len(present) == sum(len(attempts) for _, _, attempts in ranks.values())
        # A collective of n ranks is one link.
        assert len(links) == len({(a.kind, a.slot if a.kind == "collective" else
                                   (rank, a.slot), a.members)
                                  for rank, a in counted if a.kind != "recv"}), len(links)
    return {"operations": len(found), "counted": len(counted), "links": len(links),
            "linked": sum(linked.values()), "gaps": gaps, "loss": loss}


def main():
    folder, path, how = sys.argv[1:4]
    assert how in ("complete", "late", "lossy"), how
    result = check(folder, path, how)
    print(json.dumps(result))
    assert result["links"], "nothing at all was linked"


main()
