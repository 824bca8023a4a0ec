/* SPDX-License-Identifier: MIT */
/*
 * In the manner of HugeCTR: blocks of writes to the peer, of which only the last asks for
 * a completion, and a queue pair that is connected to itself by LID, on which a
 * fetch-and-add counts the block. What the counter was before goes nowhere: to a null
 * memory region.
 *
 * usage: hugectr [-n BLOCKS], with SOFTVERBS_LINK=infiniband
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITES 7
#define BYTES 256

static struct {
	char data[WRITES][BYTES];
	uint64_t blocks;
} memory __attribute__((aligned(4096)));

static struct where theirs[1];
static struct ibv_mr *mr, *nowhere;
static struct ibv_cq *cq;
static unsigned long blocks = 500;

static void write_block(struct side *side, unsigned long number)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	unsigned int i;

	for (i = 0; i < WRITES; i++) {
		sge = (struct ibv_sge){(uintptr_t) memory.data[i],
				       1 + (uint32_t) (number + i) % BYTES, mr->lkey};
		memset(&wr, 0, sizeof(wr));
		wr.wr_id = number * WRITES + i;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_RDMA_WRITE;
		wr.send_flags = i == WRITES - 1 ? IBV_SEND_SIGNALED : 0;
		wr.wr.rdma.remote_addr = theirs[0].addr + (uint64_t) i * BYTES;
		wr.wr.rdma.rkey = theirs[0].rkey;
		CHECK(!post_send(side, &side->queues[0], &wr));
	}
}

static void count_block(struct side *side, unsigned long number)
{
	struct ibv_sge sge = {0, sizeof(uint64_t), nowhere->lkey};
	struct ibv_send_wr wr = {.wr_id = number,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .send_flags = IBV_SEND_SIGNALED};

	wr.wr.atomic.remote_addr = (uintptr_t) &memory.blocks;
	wr.wr.atomic.rkey = mr->rkey;
	wr.wr.atomic.compare_add = 1;
	CHECK(!post_send(side, &side->queues[1], &wr));
}

void run(struct side *side, int argc, char **argv)
{
	struct ibv_wc wc[4];
	struct where mine;
	unsigned long number;
	int option;

	while ((option = getopt(argc, argv, "n:")) != -1)
		if (option == 'n')
			blocks = strtoul(optarg, NULL, 0);
	cq = ibv_create_cq(side->context, 256, NULL, NULL, 0);
	CHECK(cq);
	mr = register_memory(side, &memory, sizeof(memory));
	nowhere = ibv_alloc_null_mr(side->pd);
	CHECK(nowhere);
	make_queue(side, IBV_QPT_RC, cq, cq, NULL, 64);
	connect_all(side, 0, 1, mr, theirs);
	make_queue(side, IBV_QPT_RC, cq, cq, NULL, 64);
	mine = where_is(side, &side->queues[1], mr);
	CHECK(mine.lid);
	connect_queue(&side->queues[1], &mine);
	for (number = 0; number < blocks; number++) {
		write_block(side, number);
		count_block(side, number);
		if (number == blocks / 2)
			wait_for_test(side);
		while (side->queues[0].sent < number + 1 ||
		       side->queues[1].sent < number + 1)
			poll_cq(side, cq, wc, 4);
	}
	CHECK(memory.blocks == blocks);
	CHECK(!ibv_dereg_mr(nowhere));
}
