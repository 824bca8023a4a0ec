/* SPDX-License-Identifier: MIT */
/*
 * A queue pair of doubles/verbs.c and what is posted to it: the same for all that posts, so
 * that all pay for the same request.
 */
#ifndef TAP_BENCH_QUEUE_H
#define TAP_BENCH_QUEUE_H

#include <stdlib.h>

#include <infiniband/verbs.h>

#define QUEUE_LIST 16

struct queue {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_sge sge;
	struct ibv_send_wr wr[QUEUE_LIST];
	struct ibv_wc wc[QUEUE_LIST];
};

/* Of as many requests, none of which has a completion, as a list; polls find `found`. */
static inline void queue_make(struct queue *queue, enum ibv_wr_opcode opcode, int count,
			      int found)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC};
	struct ibv_context *context = ibv_open_device(NULL);
	int i;

	queue->cq = ibv_create_cq(context, found, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = queue->cq;
	queue->qp = ibv_create_qp(ibv_alloc_pd(context), &attr);
	queue->sge = (struct ibv_sge){0x7f0000001000, 4096, 0x1234};
	for (i = 0; i < QUEUE_LIST; i++) {
		queue->wr[i] = (struct ibv_send_wr){
			.wr_id = (uint64_t) i + 1,
			.next = i + 1 < count ? &queue->wr[i + 1] : NULL,
			.sg_list = &queue->sge,
			.num_sge = 1,
			.opcode = opcode,
			.wr.rdma = {0x7f0000002000, 0x5678},
		};
		queue->wc[i] = (struct ibv_wc){
			.wr_id = (uint64_t) i + 1,
			.status = IBV_WC_SUCCESS,
			.opcode = IBV_WC_SEND,
			.qp_num = queue->qp->qp_num,
		};
	}
}

/* The provider leaves in wc what is there: from now on polls find what NCCL receives. */
static inline void queue_receives(struct queue *queue)
{
	int i;

	for (i = 0; i < QUEUE_LIST; i++) {
		queue->wc[i].opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		queue->wc[i].wc_flags = IBV_WC_WITH_IMM;
		queue->wc[i].byte_len = 4096;
		queue->wc[i].imm_data = 4096;
	}
}

static inline void queue_post(struct queue *queue)
{
	struct ibv_send_wr *bad;

	if (ibv_post_send(queue->qp, queue->wr, &bad))
		abort();
}

static inline int queue_poll(struct queue *queue)
{
	return ibv_poll_cq(queue->cq, QUEUE_LIST, queue->wc);
}

#endif
