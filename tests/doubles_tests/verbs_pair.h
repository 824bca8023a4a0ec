/* SPDX-License-Identifier: MIT */
/* What the tests of softverbs begin with: an adapter, and queue pairs that are connected.
 */
#ifndef VERBS_PAIR_H
#define VERBS_PAIR_H

#include <infiniband/verbs.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER 65536
#define ALL_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

/* One end: a queue pair with all that belongs to it, and memory. */
struct end {
	struct ibv_context *context;
	uint8_t port;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *memory;
};

/* What an end must know of the other. */
struct address {
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint64_t memory;
	union ibv_gid gid;
	uint16_t lid;
};

struct options {
	enum ibv_qp_type type;
	uint8_t port;
	bool has_srq;
	bool sig_all;
	int cqe;
	uint32_t inline_bytes;
	/* Of the connection. */
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	unsigned int access;
};

static const struct options usual = {
	.type = IBV_QPT_RC,
	.port = 1,
	.cqe = 256,
	.inline_bytes = 128,
	.timeout = 10,
	.retry_cnt = 2,
	.rnr_retry = 7,
	.access = ALL_ACCESS,
};

/* Other tests that run at the same time are not reached, and take no slot. */
static inline void be_alone(void)
{
	char name[32];

	snprintf(name, sizeof(name), "test.%d", (int) getpid());
	setenv("SOFTVERBS_FABRIC", name, 1);
}

static inline struct ibv_context *open_device(int number)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[number]);

	ibv_free_device_list(list);
	return context;
}

static inline struct ibv_qp_init_attr qp_attributes(const struct end *end,
						    const struct options *options)
{
	return (struct ibv_qp_init_attr){
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.srq = end->srq,
		.qp_type = options->type,
		.sq_sig_all = options->sig_all,
		.cap = {.max_send_wr = 64,
			.max_recv_wr = 64,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = options->inline_bytes},
	};
}

static inline void make_end(struct end *end, struct ibv_context *context,
			    const struct options *options)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 64, .max_sge = 4}};
	struct ibv_qp_init_attr attr;

	memset(end, 0, sizeof(*end));
	end->context = context;
	end->port = options->port;
	end->pd = ibv_alloc_pd(context);
	end->channel = ibv_create_comp_channel(context);
	end->cq = ibv_create_cq(context, options->cqe, end, end->channel, 0);
	if (options->has_srq)
		end->srq = ibv_create_srq(end->pd, &srq);
	attr = qp_attributes(end, options);
	end->qp = ibv_create_qp(end->pd, &attr);
	end->memory = aligned_alloc(4096, BUFFER);
	memset(end->memory, 0, BUFFER);
	end->mr = ibv_reg_mr(end->pd, end->memory, BUFFER, ALL_ACCESS);
}

static inline void free_end(struct end *end)
{
	if (end->qp)
		ibv_destroy_qp(end->qp);
	if (end->srq)
		ibv_destroy_srq(end->srq);
	ibv_destroy_cq(end->cq);
	ibv_destroy_comp_channel(end->channel);
	ibv_dereg_mr(end->mr);
	ibv_dealloc_pd(end->pd);
	free(end->memory);
}

static inline struct address address_of(const struct end *end, uint32_t psn)
{
	struct address address = {
		.qpn = end->qp->qp_num,
		.psn = psn,
		.rkey = end->mr->rkey,
		.memory = (uintptr_t) end->memory,
	};
	struct ibv_port_attr port;

	ibv_query_gid(end->context, end->port, 1, &address.gid);
	ibv_query_port(end->context, end->port, &port);
	address.lid = port.lid;
	return address;
}

static inline struct ibv_ah_attr route_to(const struct address *to)
{
	return (struct ibv_ah_attr){
		.is_global = !to->lid,
		.dlid = to->lid,
		.port_num = 1,
		.grh = {.dgid = to->gid, .sgid_index = 1, .hop_limit = 1},
	};
}

static inline int to_init(struct ibv_qp *qp, const struct options *options)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = options->port,
				   .qkey = 0x1234,
				   .qp_access_flags = options->access};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     (options->type == IBV_QPT_UD ? IBV_QP_QKEY
								  : IBV_QP_ACCESS_FLAGS));
}

static inline int to_rtr(struct ibv_qp *qp, const struct options *options,
			 const struct address *to)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = to->qpn,
				   .rq_psn = to->psn,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 1,
				   .ah_attr = route_to(to)};
	int mask = IBV_QP_STATE;

	attr.ah_attr.port_num = options->port;
	if (options->type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (options->type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

static inline int to_rts(struct ibv_qp *qp, const struct options *options, uint32_t psn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .sq_psn = psn,
				   .timeout = options->timeout,
				   .retry_cnt = options->retry_cnt,
				   .rnr_retry = options->rnr_retry,
				   .max_rd_atomic = 1};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (options->type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

static inline int connect_end(struct end *end, const struct options *options,
			      const struct address *to, uint32_t psn)
{
	return to_init(end->qp, options) || to_rtr(end->qp, options, to) ||
	       to_rts(end->qp, options, psn);
}

/* Two ends on contexts of their own or on one. */
static inline int make_pair(struct end *a, struct end *b, struct ibv_context *context_a,
			    struct ibv_context *context_b, const struct options *options)
{
	struct address at_a;
	struct address at_b;

	make_end(a, context_a, options);
	make_end(b, context_b, options);
	at_a = address_of(a, 0xfffff0);
	at_b = address_of(b, 7);
	return connect_end(a, options, &at_b, at_a.psn) ||
	       connect_end(b, options, &at_a, at_b.psn);
}

static inline struct ibv_sge piece(const struct end *end, size_t offset, uint32_t length)
{
	return (struct ibv_sge){.addr = (uintptr_t) end->memory + offset,
				.length = length,
				.lkey = end->mr->lkey};
}

static inline int post_recv(struct end *end, uint64_t wr_id, size_t offset,
			    uint32_t length)
{
	struct ibv_sge sge = piece(end, offset, length);
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad)
			: ibv_post_recv(end->qp, &wr, &bad);
}

/* A signalled request with one piece; the caller has filled in the rest. */
static inline int post(struct end *end, struct ibv_send_wr *wr, size_t offset,
		       uint32_t length)
{
	struct ibv_sge sge = piece(end, offset, length);
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags |= IBV_SEND_SIGNALED;
	return ibv_post_send(end->qp, wr, &bad);
}

/* The next completion, waited for at most five seconds; false: none came. */
static inline bool next(struct ibv_cq *cq, struct ibv_wc *wc)
{
	time_t end = time(NULL) + 5;

	memset(wc, 0, sizeof(*wc));
	while (time(NULL) <= end)
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
	wc->status = IBV_WC_GENERAL_ERR;
	return false;
}

static inline bool completes(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	if (next(cq, &wc) && wc.wr_id == wr_id && wc.status == status)
		return true;
	printf("# wr_id %llu, status %s; expected %llu, %s\n",
	       (unsigned long long) wc.wr_id, ibv_wc_status_str(wc.status),
	       (unsigned long long) wr_id, ibv_wc_status_str(status));
	return false;
}

static inline bool is_empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return ibv_poll_cq(cq, 1, &wc) == 0;
}

static inline enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
	return attr.qp_state;
}

#endif
