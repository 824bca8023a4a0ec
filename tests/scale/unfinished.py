#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Events, as golden/source.c reads them, of which one in a hundred never gets what ends it: calls
that do not return, operations that one rank does not come to, requests without a completion, and
messages that are not received.  Nothing is lost: the numbers say that these never were.

usage: unfinished.py ROUNDS
"""
import sys

PIDS = (10, 20)
OF = 100

QP = ("verbs:qp qp_id=1 context_id=1 qp_num={number} type=2 send_cq_id=1 recv_cq_id=1 srq_id=0 "
      "qp_context=0x0 max_send_wr=16 max_recv_wr=16 max_inline_data=0 sq_sig_all=0 extended=0")
READY = ("verbs:qp_modify qp_id=1 generation=1 attr_mask={mask} state=+{state} dest_qp_num={peer} "
         "dgid_hi=0xfe80 dgid_lo=0x{peer} dlid=0 sgid_hi=0xfe80 sgid_lo=0x{number} slid=0 "
         "port_num=1 is_global=1 sq_psn=0 rq_psn=0 path_mtu=5 timeout=14 retry_cnt=7 rnr_retry=7 "
         "ret=+0")
RECEIVE = ("verbs:post_recv begin_ns={now} qp_id=1 srq_id=0 generation=1 seq={seq} concurrent=0 "
           "wr_id={seq} num_sge=1 length=4096 addr=0x8000")
SEND = ("verbs:post_send begin_ns={now} qp_id=1 generation=1 seq={seq} signaled_seq={seq} "
        "consuming_seq={seq} concurrent=0 wr_id={seq} opcode=2 send_flags=0x2 num_sge=1 length=64 "
        "addr=0x7000 lkey=0x11 imm_data=0")
POLL = ("verbs:poll cq_id=1 first_seq={first} empty_polls=3 concurrent=0 num_wc=1 wr_id=[{seq}] "
        "qp_id=[1] generation=[1] seq=[{seq}] status=[0] opcode=[{opcode}] is_recv=[{is_recv}] "
        "byte_len=[64] imm_data=[0] wc_flags=[0]")
COMM = ("tap:comm comm_id=1 comm=0x1 comm_key=0x77 alias_key=0x0 library_id=1 call_id=0 "
        "origin=+1 parent_comm_id=0 ordinal=1 color=-1 split_key=+0 phase=+1 async_error=+0 "
        "nranks=+2 rank=+{rank} device=+0 collectives=0")
ENTRY = ("nccl:ncclAllReduce_entry call_id={call} parent_id=0 caller_library=1 caller_offset=16 "
         "inner=0 count=1024 datatype=+7 op=+0 comm=0x1 comm_id=1 comm_key=0x77 "
         "op_number={number} group_id=0")
EXIT = "nccl:ncclAllReduce_exit call_id={call} result=+0"


def main():
    rounds = int(sys.argv[1])
    now = 1000

    def say(kind, pid, text):
        nonlocal now
        now += 100
        print(f"{now} {kind} {pid} {pid} {text.format(now=now - 20, **values)}")

    values = {}
    print("trace host=alpha")
    for rank, pid in enumerate(PIDS):
        values = {"number": 17 + rank, "peer": 18 - rank, "rank": rank}
        say("setup", pid, f'tap:process pid=+{pid} host="alpha" rank=+{rank} world_size=+2 '
            'command="app"')
        say("setup", pid, COMM)
        say("setup", pid, QP)
        values["mask"], values["state"] = "0x101081", 2
        say("setup", pid, READY)
        values["mask"], values["state"] = "0x10001", 3
        say("setup", pid, READY)
    polls = {pid: 0 for pid in PIDS}
    for i in range(1, rounds + 1):
        never = i % OF == 0
        values = {"seq": i, "call": 2 * i, "number": i}
        for pid in PIDS:
            # One rank does not come, and the call of the other does not return.
            if never and pid == PIDS[i // OF % 2]:
                continue
            say("hot", pid, ENTRY)
            if not never:
                say("hot", pid, EXIT)
        say("hot", PIDS[1], RECEIVE)
        say("hot", PIDS[0], SEND)
        for pid, opcode, is_recv in ((PIDS[1], 128, 1), (PIDS[0], 0, 0)):
            if never:
                continue
            values.update(first=polls[pid], opcode=opcode, is_recv=is_recv)
            polls[pid] += 1
            say("hot", pid, POLL)


main()
