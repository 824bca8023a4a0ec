#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks what `ccltap timeline --format jsonl` says of tests/live/programs/comms:
comms.py PIDS JSONL complete|late.  PIDS is what the program printed."""
import collections
import json
import sys

WORLD = [0, 1, 2, 3, 4]
NEWCOMER, VICTIM = 5, 6
# By the count of its AllReduce: how it was made, of which one, its processes by rank.
COMMS = {
    1: ("init", None, WORLD),
    2: ("init", None, WORLD),
    102: ("init", None, WORLD),
    3: ("init", None, WORLD),
    103: ("init", None, WORLD),
    4: ("split", 1, [0, 1]),
    104: ("split", 1, [2, 3]),
    5: ("split", 3, WORLD),
    105: ("split", 103, WORLD[::-1]),
    6: ("split", 2, WORLD),
    106: ("split", 2, WORLD),
    7: ("split", 4, [0, 1]),
    107: ("split", 104, [2, 3]),
    8: ("shrink", 1, [0, 1, 2, 3]),
    108: ("shrink", 1, [2, 3, 4]),
    208: ("shrink", 1, [0, 1, 2, 3]),
    9: ("grow", 4, [0, 1, NEWCOMER]),
    109: ("grow", 104, [2, 3, NEWCOMER]),
    209: ("grow", 4, [0, 1, NEWCOMER]),
    10: ("init-all", None, [0, 0]),
    11: ("init", None, WORLD),
    112: ("init", None, WORLD),
    12: ("init", None, WORLD),
    13: ("init", None, WORLD),
    14: ("init", None, WORLD),
    114: ("split", 14, WORLD),
    15: ("init", None, WORLD),
    16: ("init", None, WORLD),
    17: ("init", None, WORLD),
    18: ("init", None, [0, VICTIM]),
    19: ("init", None, WORLD),
    21: ("split", 1, WORLD),
    221: ("split", 1, WORLD),
}
LIVES = collections.defaultdict(lambda: ["ready", "destroyed"], {
    13: ["ready", "finalizing", "destroyed"],
    14: ["ready", "revoked", "destroyed"],
    15: ["ready", "suspended", "ready", "destroyed"],
    16: ["ready", "aborted"],
    17: ["ready"],
    18: ["ready", "aborted"],
})
# Operations that come after the first of their communicator: count, communicator, number.
LATER = {119: (19, 2), 121: (1, 2), 421: (1, 3)}
# The how-manyth of its parent or identifier: group 20, that failed, was to split 1 too.
ORDINALS = collections.defaultdict(lambda: 1, {12: 2, 106: 2, 208: 2, 209: 2, 21: 3, 221: 4})
SECOND = {"blocking": 0, "commName": "second", "minCTAs": 2}
UNDEFINED = -2147483648


def read(path):
    head, spans, links = None, {}, []
    comms, libraries = collections.defaultdict(list), {}
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
                comms[record["pid"], record["comm_id"]].append(record)
            elif record["type"] == "library":
                libraries[record["pid"], record["library_id"]] = record["layer"]
            elif record["type"] == "problem":
                raise AssertionError(record)
    return head["loss"], spans, links, comms, libraries


def lives_of(records):
    """Those that differ from the one before; at first it may not be ready yet."""
    lives = []
    for life in (record["phase"] for record in records):
        if not lives or life != lives[-1]:
            lives.append(life)
    return lives[1:] if lives[0] == "initialising" else lives


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        index_of = {int(pid): int(index) for index, pid in map(str.split, file)}
    loss, spans, links, comms, libraries = read(sys.argv[2])
    is_late = sys.argv[3] == "late"
    if is_late:
        del COMMS[112]

    by_count = collections.defaultdict(list)
    for link in links:
        counts = {spans[ident]["fields"]["count"] for ident in link["spans"]}
        assert len(counts) == 1 and link["kind"] == "collective-ranks", link
        by_count[counts.pop()].append(link)

    members, keys, seen = {}, collections.defaultdict(set), set()
    for count in list(COMMS) + list(LATER):
        number, operation = LATER.get(count, (count, 1))
        origin, parent, processes = COMMS[number]
        assert len(by_count[count]) == 1, (count, by_count[count])
        link = by_count[count][0]
        assert link["known"] == "exact" and link["op_number"] == operation, link
        assert link["nranks"] == len(processes), link
        assert link["ranks"] == list(range(len(processes))), link
        assert [index_of[spans[ident]["pid"]] for ident in link["spans"]] == processes, link
        for rank, ident in enumerate(link["spans"]):
            who = spans[ident]["pid"], spans[ident]["comm_id"]
            assert spans[ident]["comm_rank"] == rank, spans[ident]
            capture = "active" if count == 19 else "none"
            assert spans[ident]["fields"]["capture"] == capture, spans[ident]
            if count in LATER:
                assert who == members[number, rank], (who, link)
                continue
            assert who not in seen, (who, link)
            seen.add(who)
            members[number, rank] = who
            check_member(number, rank, comms[who], link, libraries)
            if number in (102, 106) and not is_late:
                check_group(comms[who], spans)
            keys[number] |= {comms[who][-1]["comm_key"]}
            if parent and processes[rank] != NEWCOMER:
                at = COMMS[parent][2].index(processes[rank])
                assert (who[0], comms[who][-1]["parent_comm_id"]) == members[parent, at], who
            else:
                assert not comms[who][-1]["parent_comm_id"], comms[who]
    assert set(by_count) == set(COMMS) | set(LATER), set(by_count) ^ set(COMMS) ^ set(LATER)
    for number, key in keys.items():
        assert len(key) == (2 if COMMS[number][0] == "grow" else 1), (number, key)
    assert len(set.union(*keys.values())) == sum(len(key) for key in keys.values()), keys

    # But for those: what a group that failed was to make, and one that nobody came to.
    others = sorted(lives_of(records) for who, records in comms.items() if who not in seen)
    assert others == [["aborted"]] + ([] if is_late else [["gone"]] * len(WORLD)), others
    assert loss.pop("unmatched_operations") == 1, loss
    assert not any(loss.values()), loss


def check_group(records, spans):
    """A group that does not block says at its end what NCCL goes on to make."""
    process = records[0]["process"]
    calls = [spans[f"{process}.{record['call_id']}"]["name"] for record in records
             if record["phase"] == "initialising"]
    assert calls[0] != "ncclGroupEnd" and calls[1] == "ncclGroupEnd", (records, calls)


def check_member(number, rank, records, link, libraries):
    origin, _, processes = COMMS[number]
    last = records[-1]
    index = processes[rank]
    device = 6 + rank if origin == "init-all" else index
    assert last["origin"] == origin, last
    assert (last["rank"], last["nranks"], last["device"]) == (rank, len(processes), device), \
        (number, last)
    assert libraries[last["pid"], last["library_id"]] == "nccl", last
    if origin != "grow" or index != NEWCOMER:
        assert last["ordinal"] == ORDINALS[number], last
    lives = ["ready"] if index == VICTIM else LIVES[number]
    assert lives_of(records) == lives, (number, rank, records)
    if origin != "grow":
        assert last["comm_key"] == link["comm_key"] != "0x0", (last, link)
    config = {name: value for name, value in last["config"].items()
              if value not in (UNDEFINED, "")}
    wanted = {2: SECOND, 102: SECOND, 9: {"blocking": 1}, 109: {"blocking": 0},
              209: {"blocking": 1}}
    assert config == wanted.get(number, {}), (number, config)
    # The error is told once while it lives, however often it is asked for.
    told = [record for record in records if record["async_error"] != "ncclSuccess"]
    if number == 18 and rank == 0:
        assert [(record["phase"], record["async_error"]) for record in told] == \
            [("ready", "ncclRemoteError"), ("aborted", "ncclRemoteError")], records
    else:
        assert not told, (number, told)


main()
