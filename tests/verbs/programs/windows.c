/* SPDX-License-Identifier: MIT */
/*
 * In the manner of storage over RDMA: one side opens a window of its memory, the other
 * writes to it and invalidates it with its answer; every fourth window is closed by the
 * side that opened it.  The requests that open and close are local ones.
 *
 * usage: windows [-n WINDOWS]
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES 1024

static char memory[BYTES] __attribute__((aligned(4096)));
static struct where theirs[1];
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static uint64_t ids;

static void add_pending(struct side *side, uint64_t sent, uint64_t got)
{
	struct ibv_wc wc[4];

	while (side->queues[0].sent < sent || side->queues[0].got < got)
		poll_cq(side, cq, wc, 4);
}

static void request(struct side *side, enum ibv_wr_opcode opcode, struct ibv_mw *mw,
		    uint32_t rkey, uint32_t bytes)
{
	struct ibv_sge sge = {(uintptr_t) memory, bytes, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = ++ids,
				 .sg_list = &sge,
				 .num_sge = bytes != 0,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED,
				 .invalidate_rkey = rkey};

	if (opcode == IBV_WR_BIND_MW) {
		wr.bind_mw.mw = mw;
		wr.bind_mw.rkey = rkey;
		wr.bind_mw.bind_info =
			(struct ibv_mw_bind_info){.mr = mr,
						  .addr = (uintptr_t) memory,
						  .length = BYTES,
						  .mw_access_flags =
							  IBV_ACCESS_REMOTE_WRITE};
	} else if (opcode == IBV_WR_SEND_WITH_IMM) {
		wr.imm_data = htobe32(new_token(side));
	} else if (opcode == IBV_WR_RDMA_WRITE) {
		wr.wr.rdma.remote_addr = theirs[0].addr;
		wr.wr.rdma.rkey = rkey;
	}
	CHECK(!post_send(side, &side->queues[0], &wr));
	add_pending(side, side->queues[0].posted, 0);
}

static void receive(struct side *side)
{
	struct ibv_sge sge = {(uintptr_t) memory, BYTES, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = ++ids | RECEIVE, .sg_list = &sge, .num_sge = 1};

	CHECK(!post_recv(side, &side->queues[0], &wr));
}

void run(struct side *side, int argc, char **argv)
{
	struct ibv_mw *mw = NULL;
	uint32_t rkey = 0, other;
	unsigned long windows = 200, number, closed = 0;
	int option;

	while ((option = getopt(argc, argv, "n:")) != -1)
		if (option == 'n')
			windows = strtoul(optarg, NULL, 0);
	cq = ibv_create_cq(side->context, 256, NULL, NULL, 0);
	CHECK(cq);
	mr = register_memory(side, memory, sizeof(memory));
	make_queue(side, IBV_QPT_RC, cq, cq, NULL, 64);
	connect_all(side, 0, 1, mr, theirs);
	if (side->number) {
		mw = ibv_alloc_mw(side->pd, IBV_MW_TYPE_2);
		CHECK(mw);
		rkey = mw->rkey;
	}
	for (number = 0; number < windows; number++) {
		const bool is_own = number % 4 == 3;

		if (side->number) {
			rkey = ibv_inc_rkey(rkey);
			request(side, IBV_WR_BIND_MW, mw, rkey, 0);
			receive(side);
		}
		/* Where to write to. */
		exchange(side, &rkey, &other, sizeof(rkey));
		if (!side->number) {
			request(side, IBV_WR_RDMA_WRITE, NULL, other,
				1 + (uint32_t) (number % BYTES));
			request(side,
				is_own ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND_WITH_INV,
				NULL, other, 8);
		}
		meet(side);
		if (side->number) {
			add_pending(side, 0, number + 1);
			if (is_own)
				request(side, IBV_WR_LOCAL_INV, NULL, rkey, 0);
			closed += is_own;
		}
	}
	CHECK(!side->number || closed == windows / 4);
	CHECK(!mw || !ibv_dealloc_mw(mw));
}
