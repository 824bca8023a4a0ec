/* SPDX-License-Identifier: MIT */
/*
 * In the manner of OmniReduce: both sides write blocks with immediate data over several
 * reliable queue pairs, many of them outstanding, and every wr_id is 0.
 *
 * usage: omnireduce [-n MESSAGES] [-i] [-2] [-l LIST]
 *	-i	wr_id is unique instead, and tells the queue of a completion that failed
 *	-2	sends and receives have completion queues of their own
 *	-l	so many requests are posted at once
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUES 4
#define RECEIVES 64
#define OUTSTANDING 32
#define BLOCK 1024
#define LIST_MAX 16

static char memory[QUEUES * OUTSTANDING * BLOCK] __attribute__((aligned(4096)));

static struct {
	unsigned long messages;
	int has_ids, list;
} options = {1000, 0, 1};

static struct where theirs[QUEUES];
static struct ibv_mr *mr;
static uint64_t ids;

static void post_receives(struct side *side, struct queue *queue, int count)
{
	struct ibv_recv_wr wr[RECEIVES];
	int i;

	memset(wr, 0, sizeof(wr));
	for (i = 0; i < count; i++) {
		if (options.has_ids)
			wr[i].wr_id = ++ids | RECEIVE;
		wr[i].next = i + 1 < count ? &wr[i + 1] : NULL;
	}
	CHECK(!post_recv(side, queue, wr));
}

/* Returns how many were accepted. */
static int post_blocks(struct side *side, int at, int count)
{
	struct queue *queue = &side->queues[at];
	struct ibv_send_wr wr[LIST_MAX];
	struct ibv_sge sge[LIST_MAX];
	uint64_t before = queue->posted;
	int i;

	memset(wr, 0, sizeof(wr));
	for (i = 0; i < count; i++) {
		const uint64_t offset = ((uint64_t) at * OUTSTANDING +
					 (before + (uint64_t) i) % OUTSTANDING) *
					BLOCK;

		sge[i].addr = (uintptr_t) memory + offset;
		sge[i].length = (uint32_t) (1 + (before + (uint64_t) i) % BLOCK);
		sge[i].lkey = mr->lkey;
		if (options.has_ids)
			wr[i].wr_id = ++ids;
		wr[i].next = i + 1 < count ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].imm_data = htobe32(new_token(side));
		wr[i].wr.rdma.remote_addr = theirs[at].addr + offset;
		wr[i].wr.rdma.rkey = theirs[at].rkey;
	}
	post_send(side, queue, wr);
	return (int) (queue->posted - before);
}

/* Everything that can still come has come: of what failed nothing is posted again. */
static bool is_done(const struct side *side)
{
	int i;

	for (i = 0; i < QUEUES; i++) {
		const struct queue *queue = &side->queues[i];

		if (queue->sent < queue->posted)
			return false;
		if (!queue->failed &&
		    (queue->posted < options.messages || queue->got < options.messages))
			return false;
		/* The receives are flushed, too. */
		if (queue->failed && queue->got < queue->received)
			return false;
	}
	return true;
}

/* A queue pair that failed takes its peer with it: nobody would come. */
static void fail_together(struct side *side)
{
	char mine[QUEUES], other[QUEUES];
	int i;

	for (i = 0; i < QUEUES; i++)
		mine[i] = side->queues[i].failed != 0;
	exchange(side, mine, other, sizeof(mine));
	for (i = 0; i < QUEUES; i++) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

		if (other[i] && !side->queues[i].failed)
			CHECK(!ibv_modify_qp(side->queues[i].qp, &attr, IBV_QP_STATE));
	}
}

static void work(struct side *side, struct ibv_cq *cqs[2], uint64_t until_ns)
{
	const bool is_two = cqs[0] != cqs[1];
	struct ibv_wc wc[16];
	int i, k, found;

	while (!is_done(side) && now_ns() < until_ns) {
		for (i = 0; i < QUEUES; i++) {
			struct queue *queue = &side->queues[i];
			uint64_t room = OUTSTANDING - (queue->posted - queue->sent);

			if (room > options.messages - queue->posted)
				room = options.messages - queue->posted;
			if (!queue->failed && room >= (uint64_t) options.list)
				post_blocks(side, i, options.list);
			else if (!queue->failed &&
				 room == options.messages - queue->posted && room)
				post_blocks(side, i, (int) room);
		}
		for (k = 0; k <= is_two; k++) {
			found = poll_cq(side, cqs[k], wc, 16);
			while (found--) {
				if (wc[found].status || !(wc[found].opcode & IBV_WC_RECV))
					continue;
				for (i = 0; i < QUEUES; i++)
					if (side->queues[i].qp->qp_num ==
						    wc[found].qp_num &&
					    side->queues[i].received < options.messages)
						post_receives(side, &side->queues[i], 1);
			}
		}
		pause_both(side, side->queues[0].posted >= options.messages / 2);
	}
}

void run(struct side *side, int argc, char **argv)
{
	struct ibv_cq *cqs[2];
	int option, i;

	cqs[0] = cqs[1] = ibv_create_cq(side->context, 2048, NULL, NULL, 0);
	while ((option = getopt(argc, argv, "n:i2l:")) != -1) {
		if (option == 'n')
			options.messages = strtoul(optarg, NULL, 0);
		else if (option == 'i')
			options.has_ids = 1;
		else if (option == 'l')
			options.list = atoi(optarg);
		else
			cqs[1] = ibv_create_cq(side->context, 2048, NULL, NULL, 0);
	}
	CHECK(options.list > 0 && options.list <= LIST_MAX && cqs[0] && cqs[1]);
	mr = register_memory(side, memory, sizeof(memory));
	for (i = 0; i < QUEUES; i++)
		make_queue(side, IBV_QPT_RC, cqs[0], cqs[1], NULL, RECEIVES);
	for (i = 0; i < QUEUES; i++) {
		const struct where mine = where_is(side, &side->queues[i], mr);

		exchange(side, &mine, &theirs[i], sizeof(mine));
		connect_queue(&side->queues[i], &theirs[i]);
		post_receives(side, &side->queues[i],
			      options.messages < RECEIVES ? (int) options.messages
							  : RECEIVES);
	}
	meet(side);
	/* With a fault one side may wait for what never comes. */
	work(side, cqs,
	     now_ns() + (getenv("SOFTVERBS_FAULTS") ? 1500000000ULL : 60000000000ULL));
	fail_together(side);
	work(side, cqs, now_ns() + 1000000000ULL);
	CHECK(is_done(side));
}
