/* SPDX-License-Identifier: MIT */
/*
 * In the manner of UCCL: data goes in chunks with immediate data over several unreliable
 * connected queue pairs, and what arrived is told by datagrams.  One completion queue has
 * all of it.
 *
 * usage: uccl [-n CHUNKS] [-x]
 *	-x	the completion queue is an extended one
 */
#include "pair.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUES 4
#define RECEIVES 256
#define CHUNK 4096
#define WINDOW 64
#define PER_ACK 16
#define ACKS 64
#define QKEY 0x55
#define GRH 40

static struct {
	char chunks[WINDOW][CHUNK];
	struct {
		char grh[GRH];
		uint64_t arrived; /* of all */
	} acks[ACKS];
	uint64_t arrived; /* that is told */
} memory __attribute__((aligned(4096)));

static struct where theirs[QUEUES + 1];
static struct ibv_mr *mr;
static struct ibv_cq_ex *extended;
static struct ibv_cq *cq;
static struct ibv_ah *way_back;
static unsigned long chunks = 1000;
static uint64_t ids;

static void make_cq(struct side *side, bool is_extended)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4096,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};

	if (!is_extended) {
		cq = ibv_create_cq(side->context, 4096, NULL, NULL, 0);
	} else {
		extended = ibv_create_cq_ex(side->context, &attr);
		CHECK(extended);
		cq = ibv_cq_ex_to_cq(extended);
	}
	CHECK(cq);
}

static struct ibv_wc read_one(void)
{
	struct ibv_wc wc = {.wr_id = extended->wr_id,
			    .status = extended->status,
			    .qp_num = ibv_wc_read_qp_num(extended)};

	if (wc.status)
		return wc;
	wc.opcode = ibv_wc_read_opcode(extended);
	wc.byte_len = ibv_wc_read_byte_len(extended);
	wc.wc_flags = ibv_wc_read_wc_flags(extended);
	if (wc.wc_flags & IBV_WC_WITH_IMM)
		wc.imm_data = ibv_wc_read_imm_data(extended);
	return wc;
}

static int poll_some(struct side *side, struct ibv_wc *wc, int max)
{
	struct ibv_poll_cq_attr attr = {0};
	const uint64_t begin_ns = now_ns();
	uint64_t end_ns;
	int found = 0, i;

	if (!extended)
		return poll_cq(side, cq, wc, max);
	if (ibv_start_poll(extended, &attr))
		return 0;
	do
		wc[found++] = read_one();
	while (found < max && !ibv_next_poll(extended));
	ibv_end_poll(extended);
	end_ns = now_ns();
	for (i = 0; i < found; i++)
		log_completion(side, &wc[i], begin_ns, end_ns);
	return found;
}

static void receive_chunk(struct side *side, struct queue *queue)
{
	struct ibv_recv_wr wr = {.wr_id = ++ids | RECEIVE};

	CHECK(!post_recv(side, queue, &wr));
}

static void receive_ack(struct side *side, struct queue *queue, uint64_t at)
{
	struct ibv_sge sge = {(uintptr_t) &memory.acks[at], sizeof(memory.acks[at]),
			      mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = RECEIVE | at, .sg_list = &sge, .num_sge = 1};

	CHECK(!post_recv(side, queue, &wr));
}

static int send_chunk(struct side *side, uint64_t number)
{
	const unsigned int at = (unsigned int) (number % QUEUES);
	const uint64_t offset = number % WINDOW * CHUNK;
	struct ibv_sge sge = {(uintptr_t) memory.chunks + offset,
			      CHUNK - (uint32_t) (number % 7), mr->lkey};
	struct ibv_send_wr wr = {.wr_id = ++ids,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				 .send_flags = IBV_SEND_SIGNALED,
				 .imm_data = htobe32(new_token(side))};

	wr.wr.rdma.remote_addr = theirs[at].addr + offset;
	wr.wr.rdma.rkey = theirs[at].rkey;
	return post_send(side, &side->queues[at], &wr);
}

static void send_ack(struct side *side, uint64_t arrived)
{
	struct ibv_sge sge = {(uintptr_t) &memory.arrived, sizeof(memory.arrived),
			      mr->lkey};
	struct ibv_send_wr wr = {.wr_id = ++ids,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND_WITH_IMM,
				 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
				 .imm_data = htobe32(new_token(side))};

	memory.arrived = arrived;
	wr.wr.ud.ah = way_back;
	wr.wr.ud.remote_qpn = theirs[QUEUES].qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	CHECK(!post_send(side, &side->queues[QUEUES], &wr));
}

static uint64_t take_ack(struct side *side, const struct ibv_wc *wc)
{
	const uint64_t at = wc->wr_id & ~RECEIVE, arrived = memory.acks[at].arrived;

	receive_ack(side, &side->queues[QUEUES], at);
	return arrived;
}

static uint64_t outstanding(const struct side *side)
{
	uint64_t nr = 0;
	int i;

	for (i = 0; i <= QUEUES; i++)
		nr += side->queues[i].posted - side->queues[i].sent;
	return nr;
}

/* What is lost is not sent again: after a while the sender goes on without it. */
static void send_all(struct side *side)
{
	uint64_t sent = 0, arrived = 0, heard_ns = now_ns(), skipped = 0;
	struct ibv_wc wc[16];
	int found;

	while (sent < chunks || outstanding(side) || !is_pause_over()) {
		if (sent < chunks && sent < arrived + skipped + WINDOW &&
		    !send_chunk(side, sent))
			sent++;
		if (now_ns() - heard_ns > 2000000) {
			skipped = sent - arrived;
			heard_ns = now_ns();
		}
		found = poll_some(side, wc, 16);
		while (found--) {
			uint64_t told;

			if (wc[found].opcode != IBV_WC_RECV)
				continue;
			told = take_ack(side, &wc[found]);
			if (told > arrived)
				arrived = told;
			heard_ns = now_ns();
		}
		pause_both(side, sent >= chunks / 2);
	}
	meet(side);
	/* The last acknowledgements. */
	for (heard_ns = now_ns(); now_ns() - heard_ns < 20000000;)
		for (found = poll_some(side, wc, 16); found--;)
			if (wc[found].opcode == IBV_WC_RECV)
				take_ack(side, &wc[found]);
}

static bool is_other_done(struct side *side)
{
	struct pollfd fd = {.fd = side->socket, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

/* To the first poll that finds nothing 5 ms after the other has ended. */
static void receive_all(struct side *side)
{
	uint64_t arrived = 0, idle_ns = now_ns();
	struct ibv_wc wc[16];
	bool is_over = false;
	int found, i;

	while (!is_over) {
		is_over = is_pause_over() && is_other_done(side) && !outstanding(side) &&
			  now_ns() - idle_ns > 5000000;
		found = poll_some(side, wc, 16);
		if (found) {
			idle_ns = now_ns();
			is_over = false;
		}
		while (found--) {
			if (wc[found].opcode != IBV_WC_RECV_RDMA_WITH_IMM)
				continue;
			for (i = 0; i < QUEUES; i++)
				if (side->queues[i].qp->qp_num == wc[found].qp_num)
					receive_chunk(side, &side->queues[i]);
			if (++arrived % PER_ACK == 0)
				send_ack(side, arrived);
		}
		pause_both(side, arrived >= chunks / 4);
	}
	meet(side);
}

void run(struct side *side, int argc, char **argv)
{
	bool is_extended = false;
	struct ibv_ah_attr attr;
	struct where mine;
	uint64_t k;
	int option, i;

	while ((option = getopt(argc, argv, "n:x")) != -1) {
		if (option == 'n')
			chunks = strtoul(optarg, NULL, 0);
		else
			is_extended = option == 'x';
	}
	make_cq(side, is_extended);
	mr = register_memory(side, &memory, sizeof(memory));
	for (i = 0; i < QUEUES; i++)
		make_queue(side, IBV_QPT_UC, cq, cq, NULL, RECEIVES);
	make_queue(side, IBV_QPT_UD, cq, cq, NULL, ACKS);
	CHECK(side->queue_count == QUEUES + 1);
	ready_datagrams(&side->queues[QUEUES], QKEY);
	for (k = 0; k < ACKS; k++)
		receive_ack(side, &side->queues[QUEUES], k);
	mine = where_is(side, &side->queues[QUEUES], mr);
	exchange(side, &mine, &theirs[QUEUES], sizeof(mine));
	attr = way_to(&theirs[QUEUES]);
	way_back = ibv_create_ah(side->pd, &attr);
	CHECK(way_back);
	for (i = 0; i < QUEUES; i++) {
		mine = where_is(side, &side->queues[i], mr);
		exchange(side, &mine, &theirs[i], sizeof(mine));
		connect_queue(&side->queues[i], &theirs[i]);
		for (k = 0; side->number && k < RECEIVES; k++)
			receive_chunk(side, &side->queues[i]);
	}
	meet(side);
	if (side->number)
		receive_all(side);
	else
		send_all(side);
}
