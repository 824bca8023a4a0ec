/* SPDX-License-Identifier: MIT */
/* softverbs by its newer interface (ibv_wr_*, ibv_start_poll), and its completion
 * channels. */
#include "../lib/tap.h"
#include "verbs_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#define OPERATIONS \
	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | \
	 IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

static struct ibv_context *context;

/* The usual end, but with the extended queues. */
static struct ibv_cq_ex *extend(struct end *end, const struct options *options)
{
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 64,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_qp_init_attr plain;
	struct ibv_qp_init_attr_ex attr = {0};
	struct ibv_cq_ex *cq_ex;

	ibv_destroy_qp(end->qp);
	ibv_destroy_cq(end->cq);
	cq_ex = ibv_create_cq_ex(context, &cq);
	end->cq = ibv_cq_ex_to_cq(cq_ex);
	plain = qp_attributes(end, options);
	attr.send_cq = plain.send_cq;
	attr.recv_cq = plain.recv_cq;
	attr.qp_type = plain.qp_type;
	attr.cap = plain.cap;
	attr.pd = end->pd;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = OPERATIONS;
	end->qp = ibv_create_qp_ex(context, &attr);
	return cq_ex;
}

static void begin(struct ibv_qp_ex *qp, uint64_t wr_id)
{
	qp->wr_id = wr_id;
	qp->wr_flags = IBV_SEND_SIGNALED;
}

static void test_requests(struct end *a, struct end *b, struct ibv_cq_ex *cq)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);
	struct ibv_poll_cq_attr poll = {0};
	uint64_t there = (uintptr_t) b->memory;
	uint64_t here = (uintptr_t) a->memory;
	uint64_t *word = (uint64_t *) (b->memory + 256);
	struct ibv_sge sges[2] = {piece(a, 0, 2), piece(a, 8, 2)};
	char in[] = "in";
	char line[] = "line";
	char xyz[] = "xyz";
	struct ibv_data_buf buffers[2] = {{in, 2}, {line, sizeof(line)}};
	uint64_t earlier = 0;
	int i;
	static const enum ibv_wc_opcode opcodes[] = {
		IBV_WC_SEND,	   IBV_WC_SEND,	     IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE,
		IBV_WC_RDMA_WRITE, IBV_WC_FETCH_ADD, IBV_WC_COMP_SWAP,	IBV_WC_RDMA_READ,
	};
	bool right = true;

	for (i = 0; i < 3; i++)
		post_recv(b, (uint64_t) i, 4096 + 64 * (size_t) i, 64);
	memcpy(a->memory, "ab", 2);
	memcpy(a->memory + 8, "cd", 2);
	*word = 40;
	ibv_wr_start(qp);
	begin(qp, 0);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, a->mr->lkey, here, 2);
	begin(qp, 1);
	ibv_wr_send_imm(qp, 5);
	ibv_wr_set_inline_data_list(qp, 2, buffers);
	begin(qp, 2);
	ibv_wr_rdma_write(qp, b->mr->rkey, there);
	ibv_wr_set_sge_list(qp, 2, sges);
	begin(qp, 3);
	ibv_wr_rdma_write_imm(qp, b->mr->rkey, there + 16, 6);
	ibv_wr_set_inline_data(qp, xyz, sizeof(xyz));
	begin(qp, 4);
	ibv_wr_rdma_write(qp, b->mr->rkey, there);
	begin(qp, 5);
	ibv_wr_atomic_fetch_add(qp, b->mr->rkey, there + 256, 2);
	ibv_wr_set_sge(qp, a->mr->lkey, here + 512, 8);
	begin(qp, 6);
	ibv_wr_atomic_cmp_swp(qp, b->mr->rkey, there + 256, 42, 50);
	ibv_wr_set_sge(qp, a->mr->lkey, here + 520, 8);
	begin(qp, 7);
	ibv_wr_rdma_read(qp, b->mr->rkey, there + 256);
	ibv_wr_set_sge(qp, a->mr->lkey, here + 528, 8);
	ok(is_empty(a->cq) && is_empty(b->cq), "what is being built is not posted");
	ok(ibv_wr_complete(qp) == 0, "all of it is posted at once");
	ok(!memcmp(b->memory, "abcd", 4) && !strcmp(b->memory + 16, "xyz") &&
		   !strcmp(b->memory + 4096 + 64, "inline") && *word == 50 &&
		   *(uint64_t *) (a->memory + 512) == 40 &&
		   *(uint64_t *) (a->memory + 520) == 42 &&
		   *(uint64_t *) (a->memory + 528) == 50,
	   "each does what it says");
	for (i = 0; i < 8; i++) {
		right &= !(i ? ibv_next_poll(cq) : ibv_start_poll(cq, &poll));
		right &= cq->wr_id == (uint64_t) i && cq->status == IBV_WC_SUCCESS &&
			 ibv_wc_read_opcode(cq) == opcodes[i] &&
			 ibv_wc_read_qp_num(cq) == a->qp->qp_num &&
			 ibv_wc_read_completion_ts(cq) >= earlier;
		earlier = ibv_wc_read_completion_ts(cq);
	}
	ok(right && ibv_next_poll(cq) == ENOENT,
	   "the completions come one by one, with times");
	ibv_end_poll(cq);
	ok(ibv_start_poll(cq, &poll) == ENOENT, "then there is none");
}

static void test_all_or_none(struct end *a, struct ibv_cq_ex *cq)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);
	static char large[4096];
	int i;

	(void) cq;
	ibv_wr_start(qp);
	begin(qp, 1);
	ibv_wr_rdma_write(qp, 0, 0);
	begin(qp, 2);
	ibv_wr_rdma_write(qp, 0, 0);
	ibv_wr_set_inline_data(qp, large, sizeof(large));
	ok(ibv_wr_complete(qp) == EINVAL && is_empty(a->cq),
	   "with one wrong none is posted");
	ibv_wr_start(qp);
	for (i = 0; i < 65; i++) {
		begin(qp, 3);
		ibv_wr_rdma_write(qp, 0, 0);
	}
	ok(ibv_wr_complete(qp) == ENOMEM && is_empty(a->cq), "nor when they do not fit");
	ibv_wr_start(qp);
	begin(qp, 4);
	ibv_wr_rdma_write(qp, 0, 0);
	ibv_wr_abort(qp);
	ok(is_empty(a->cq), "nor after an abort");
	ibv_wr_start(qp);
	begin(qp, 5);
	ibv_wr_rdma_write(qp, 0, 0);
	ok(ibv_wr_complete(qp) == 0 && completes(a->cq, 5, 0),
	   "the next one is, and the classic poll finds it");
}

static void test_unsupported(void)
{
	struct ibv_qp_init_attr_ex attr = {.comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_XRCD};
	struct ibv_cq_init_attr_ex cq = {.cqe = 8, .wc_flags = IBV_WC_EX_WITH_TM_INFO};
	struct end end;

	make_end(&end, context, &usual);
	ok(!ibv_qp_to_qp_ex(end.qp), "a classic queue pair has no extension");
	free_end(&end);
	ok(!ibv_create_qp_ex(context, &attr) && errno == EOPNOTSUPP,
	   "XRC is not supported, and says so");
	ok(!ibv_create_cq_ex(context, &cq) && errno == EOPNOTSUPP, "nor is tag matching");
	ok(!ibv_import_device(0) && errno == EOPNOTSUPP, "nor is importing");
}

static bool readable(const struct end *end)
{
	struct pollfd fd = {.fd = end->channel->fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

static bool event(struct end *end)
{
	struct ibv_cq *cq = NULL;
	void *cq_context = NULL;

	if (!readable(end) || ibv_get_cq_event(end->channel, &cq, &cq_context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return cq == end->cq && cq_context == end;
}

static void test_channel(void)
{
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
	struct ibv_cq *cq;
	void *cq_context;
	struct end a;
	struct end b;
	int i;

	make_pair(&a, &b, context, context, &usual);
	for (i = 0; i < 8; i++)
		post_recv(&b, (uint64_t) i, 0, 10);
	post(&a, &wr, 0, 1);
	ok(!readable(&b), "no event that was not asked for");
	ibv_req_notify_cq(b.cq, 0);
	ok(!readable(&b), "nor for what was there before");
	post(&a, &wr, 0, 1);
	post(&a, &wr, 0, 1);
	ok(event(&b) && !readable(&b), "one event for what comes, and one only");
	ibv_req_notify_cq(b.cq, 1);
	post(&a, &wr, 0, 1);
	ok(!readable(&b), "of the solicited ones, none that is not");
	wr.send_flags = IBV_SEND_SOLICITED;
	post(&a, &wr, 0, 1);
	ok(event(&b), "one that is");
	fcntl(b.channel->fd, F_SETFL, O_NONBLOCK);
	ok(ibv_get_cq_event(b.channel, &cq, &cq_context) == -1 && errno == EAGAIN,
	   "the descriptor may be made non-blocking");
	ibv_req_notify_cq(b.cq, 0);
	post(&a, &wr, 0, 1);
	ok(ibv_destroy_comp_channel(b.channel) == EBUSY, "a channel in use stays");
	ibv_destroy_qp(b.qp);
	b.qp = NULL;
	ibv_destroy_cq(b.cq);
	ok(ibv_get_cq_event(b.channel, &cq, &cq_context) == -1 && errno == EAGAIN,
	   "there is no event of a queue that is no more");
	b.cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	free_end(&a);
	free_end(&b);
}

int main(void)
{
	struct address at_a;
	struct address at_b;
	struct ibv_cq_ex *cq;
	struct end a;
	struct end b;

	be_alone();
	context = open_device(0);
	make_end(&a, context, &usual);
	make_end(&b, context, &usual);
	cq = extend(&a, &usual);
	at_a = address_of(&a, 0);
	at_b = address_of(&b, 0);
	connect_end(&a, &usual, &at_b, 0);
	connect_end(&b, &usual, &at_a, 0);
	test_requests(&a, &b, cq);
	test_all_or_none(&a, cq);
	free_end(&a);
	free_end(&b);
	test_unsupported();
	test_channel();
	return tap_done();
}
