/* SPDX-License-Identifier: MIT */
/* softverbs when something is wrong: each status, who gets it, what is flushed after it,
 * and what is refused at once. */
#include "../lib/tap.h"
#include "verbs_pair.h"

#include <errno.h>
#include <sys/mman.h>

static struct ibv_context *context;
static struct ibv_context *other;

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

/* A request that must fail: its status, then the state and the flush of both queues. */
static void fails(struct ibv_send_wr wr, uint32_t length, enum ibv_wc_status status,
		  enum ibv_wc_status status_there, const struct options *options,
		  void (*spoil)(struct end *, struct end *, struct ibv_send_wr *,
				uint32_t *),
		  const char *sentence)
{
	struct ibv_send_wr after = {.wr_id = 2, .opcode = IBV_WR_RDMA_WRITE};
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	struct end a;
	struct end b;
	bool right;

	make_pair(&a, &b, context, other, options);
	wr.wr_id = 1;
	wr.wr.rdma.remote_addr = (uintptr_t) b.memory;
	wr.wr.rdma.rkey = b.mr->rkey;
	if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t) b.memory;
		wr.wr.atomic.rkey = b.mr->rkey;
	}
	post_recv(&a, 3, 0, 1);
	sge = piece(&a, 0, length);
	if (spoil)
		spoil(&a, &b, &wr, &sge.lkey);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	ibv_post_send(a.qp, &wr, &bad);
	ibv_post_send(a.qp, &after, &bad);
	right = completes(a.cq, 1, status);
	/* What follows is flushed in the order of each queue. */
	if (right && options->type == IBV_QPT_RC) {
		struct ibv_wc wc[2];

		/* One after the other: a poll may come between them. */
		right = next(a.cq, &wc[0]) && next(a.cq, &wc[1]) && is_empty(a.cq) &&
			wc[0].status == IBV_WC_WR_FLUSH_ERR &&
			wc[1].status == IBV_WC_WR_FLUSH_ERR &&
			wc[0].wr_id + wc[1].wr_id == 5 && state_of(a.qp) == IBV_QPS_ERR;
	}
	if (right && status_there)
		right = completes(b.cq, 9, status_there) && state_of(b.qp) == IBV_QPS_ERR;
	ok(right, sentence);
	free_end(&a);
	free_end(&b);
}

static void spoil_lkey(struct end *a, struct end *b, struct ibv_send_wr *wr,
		       uint32_t *lkey)
{
	(void) a;
	(void) b;
	(void) wr;
	*lkey ^= 1;
}

static void spoil_rkey(struct end *a, struct end *b, struct ibv_send_wr *wr,
		       uint32_t *lkey)
{
	(void) a;
	(void) b;
	(void) lkey;
	wr->wr.rdma.rkey ^= 1;
}

static void spoil_range(struct end *a, struct end *b, struct ibv_send_wr *wr,
			uint32_t *lkey)
{
	(void) a;
	(void) lkey;
	wr->wr.rdma.remote_addr = (uintptr_t) b->memory + BUFFER - 4;
}

static void spoil_region(struct end *a, struct end *b, struct ibv_send_wr *wr,
			 uint32_t *lkey)
{
	(void) a;
	(void) wr;
	(void) lkey;
	ibv_rereg_mr(b->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
		     IBV_ACCESS_LOCAL_WRITE);
}

static void spoil_alignment(struct end *a, struct end *b, struct ibv_send_wr *wr,
			    uint32_t *lkey)
{
	(void) a;
	(void) lkey;
	wr->wr.atomic.remote_addr = (uintptr_t) b->memory + 4;
}

static void short_receive(struct end *a, struct end *b, struct ibv_send_wr *wr,
			  uint32_t *lkey)
{
	(void) a;
	(void) wr;
	(void) lkey;
	post_recv(b, 9, 0, 4);
}

static void bad_receive(struct end *a, struct end *b, struct ibv_send_wr *wr,
			uint32_t *lkey)
{
	(void) a;
	(void) wr;
	(void) lkey;
	b->mr->lkey ^= 1;
	post_recv(b, 9, 0, 100);
	b->mr->lkey ^= 1;
}

static void test_statuses(void)
{
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND};
	struct ibv_send_wr write = {.opcode = IBV_WR_RDMA_WRITE};
	struct ibv_send_wr read = {.opcode = IBV_WR_RDMA_READ};
	struct ibv_send_wr atomic = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
	struct options options = usual;

	fails(write, 8, IBV_WC_LOC_PROT_ERR, 0, &usual, spoil_lkey,
	      "a wrong key of one's own: local protection error");
	fails(write, 8, IBV_WC_REM_ACCESS_ERR, 0, &usual, spoil_rkey,
	      "a wrong remote key: remote access error");
	fails(write, 8, IBV_WC_REM_ACCESS_ERR, 0, &usual, spoil_range,
	      "beyond the region: the same");
	fails(write, 8, IBV_WC_REM_ACCESS_ERR, 0, &usual, spoil_region,
	      "a region that may not be written: the same");
	fails(read, 8, IBV_WC_REM_ACCESS_ERR, 0, &usual, spoil_region,
	      "or not read: the same");
	fails(atomic, 8, IBV_WC_REM_INV_REQ_ERR, 0, &usual, spoil_alignment,
	      "an atomic that is not aligned: remote invalid request");
	fails(send, 8, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR, &usual, short_receive,
	      "too small a receive: that, and there a local length error");
	fails(send, 8, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, &usual, bad_receive,
	      "a receive with a wrong key: remote operation error, there local protection");
	options.access = IBV_ACCESS_LOCAL_WRITE;
	fails(write, 8, IBV_WC_REM_INV_REQ_ERR, 0, &options, NULL,
	      "a queue pair that may not be written to: remote invalid request");
	options = usual;
	options.rnr_retry = 0;
	fails(send, 8, IBV_WC_RNR_RETRY_EXC_ERR, 0, &options, NULL,
	      "no receive and no retries: RNR retry exceeded");
	options.rnr_retry = 3;
	fails(send, 8, IBV_WC_RNR_RETRY_EXC_ERR, 0, &options, NULL,
	      "no receive and some: the same, later");
}

/* As many times as it may, each time waiting. */
static void test_retries(void)
{
	struct options options = usual;
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
	uint64_t begin;
	struct end a;
	struct end b;

	options.timeout = 12; /* 16.8 ms */
	make_pair(&a, &b, context, other, &options);
	ibv_destroy_qp(b.qp);
	b.qp = NULL;
	begin = now_us();
	post(&a, &wr, 0, 1);
	ok(is_empty(a.cq) && completes(a.cq, 1, IBV_WC_RETRY_EXC_ERR) &&
		   now_us() - begin >= 3 * 16777,
	   "nobody there: transport retry exceeded, after all timeouts");
	ok(state_of(a.qp) == IBV_QPS_ERR, "and the queue pair is in error");
	free_end(&a);
	free_end(&b);
}

static void test_late_target(void)
{
	struct options options = usual;
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE};
	struct address at_a;
	struct address at_b;
	struct end a;
	struct end b;

	options.timeout = 16; /* 268 ms */
	make_end(&a, context, &options);
	make_end(&b, other, &options);
	at_a = address_of(&a, 1);
	at_b = address_of(&b, 2);
	connect_end(&a, &options, &at_b, 1);
	wr.wr.rdma.rkey = b.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t) b.memory;
	a.memory[0] = 'z';
	post(&a, &wr, 0, 1);
	wr.wr_id = 2;
	post(&a, &wr, 0, 1);
	connect_end(&b, &options, &at_a, 2);
	ok(completes(a.cq, 1, 0) && completes(a.cq, 2, 0) && b.memory[0] == 'z',
	   "a target that comes late is tried again, in order");
	free_end(&a);
	free_end(&b);
}

static void test_wrong_psn(void)
{
	struct options options = usual;
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE};
	struct address at_a;
	struct address at_b;
	struct end a;
	struct end b;

	make_end(&a, context, &options);
	make_end(&b, other, &options);
	at_a = address_of(&a, 1);
	at_b = address_of(&b, 2);
	connect_end(&a, &options, &at_b, 55);
	connect_end(&b, &options, &at_a, 2);
	post(&a, &wr, 0, 0);
	ok(completes(a.cq, 1, IBV_WC_RETRY_EXC_ERR),
	   "a sequence number that the other does not expect: transport retry exceeded");
	free_end(&a);
	free_end(&b);
}

static void test_refused(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct ibv_recv_wr recv = {0};
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr many[65] = {{0}};
	struct ibv_send_wr *bad;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct end a;
	struct end b;
	int i;

	make_end(&a, context, &usual);
	ok(ibv_post_recv(a.qp, &recv, &bad_recv) == EINVAL && bad_recv == &recv,
	   "no receive is posted before INIT");
	to_init(a.qp, &usual);
	ok(!ibv_post_recv(a.qp, &recv, &bad_recv) &&
		   ibv_post_send(a.qp, &wr, &bad) == EINVAL && bad == &wr,
	   "no request before RTS");
	free_end(&a);

	make_pair(&a, &b, context, other, &usual);
	wr.num_sge = 5;
	ok(ibv_post_send(a.qp, &wr, &bad) == EINVAL, "no more pieces than was agreed");
	wr.num_sge = 0;
	wr.opcode = IBV_WR_TSO;
	ok(ibv_post_send(a.qp, &wr, &bad) == EINVAL,
	   "no operation that is not supported");
	for (i = 0; i < 65; i++) {
		many[i].wr_id = (uint64_t) i;
		many[i].opcode = IBV_WR_SEND;
		many[i].next = i < 64 ? &many[i + 1] : NULL;
	}
	ok(ibv_post_send(a.qp, many, &bad) == ENOMEM && bad == &many[64],
	   "no more requests than fit; those before are posted");
	ibv_modify_qp(a.qp, &attr, IBV_QP_STATE);
	for (i = 0; i < 64 && completes(a.cq, (uint64_t) i, IBV_WC_WR_FLUSH_ERR);)
		i++;
	ok(i == 64, "in the error state they are flushed, in order, signalled or not");
	wr.opcode = IBV_WR_SEND;
	wr.wr_id = 77;
	ok(!ibv_post_send(a.qp, &wr, &bad) && completes(a.cq, 77, IBV_WC_WR_FLUSH_ERR) &&
		   !post_recv(&a, 78, 0, 1) && completes(a.cq, 78, IBV_WC_WR_FLUSH_ERR),
	   "and what is posted then, at once");
	attr.qp_state = IBV_QPS_RESET;
	ok(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) && !to_init(a.qp, &usual),
	   "after a reset it begins anew");
	free_end(&a);
	free_end(&b);
}

static void test_states(void)
{
	struct options options = usual;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE};
	struct ibv_async_event event;
	struct address at;
	struct end a;
	struct end b;

	make_end(&a, context, &options);
	ok(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == EINVAL,
	   "no way from RESET to RTS");
	attr.qp_state = IBV_QPS_INIT;
	ok(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == EINVAL,
	   "each change needs its attributes");
	attr.port_num = 2;
	ok(ibv_modify_qp(a.qp, &attr,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				 IBV_QP_ACCESS_FLAGS) == EINVAL,
	   "with values that there are");
	attr.port_num = 1;
	ok(ibv_modify_qp(a.qp, &attr,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				 IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT) == EINVAL,
	   "and no others");
	at = address_of(&a, 0);
	to_init(a.qp, &options);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.ah_attr = route_to(&at);
	attr.ah_attr.is_global = 0;
	ok(ibv_modify_qp(a.qp, &attr,
			 IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				 IBV_QP_MIN_RNR_TIMER) == EINVAL,
	   "on Ethernet a route is global");
	ok(state_of(a.qp) == IBV_QPS_INIT, "what was refused has changed nothing");
	free_end(&a);

	make_pair(&a, &b, context, other, &options);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	ok(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) &&
		   !ibv_get_async_event(context, &event) &&
		   event.event_type == IBV_EVENT_SQ_DRAINED,
	   "a drained send queue says so");
	ibv_ack_async_event(&event);
	wr.wr.rdma.remote_addr = (uintptr_t) b.memory;
	wr.wr.rdma.rkey = b.mr->rkey;
	post(&a, &wr, 0, 1);
	attr.qp_state = IBV_QPS_RTS;
	ok(is_empty(a.cq) && !ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) &&
		   completes(a.cq, 1, 0),
	   "and holds what is posted until it goes on");
	free_end(&a);
	free_end(&b);
}

static void test_events(void)
{
	struct options options = usual;
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE};
	struct ibv_async_event event;
	struct end a;
	struct end b;
	int i;

	options.has_srq = true;
	make_pair(&a, &b, context, other, &options);
	wr.wr.rdma.rkey = 1;
	post(&a, &wr, 0, 1);
	ok(!ibv_get_async_event(other, &event) &&
		   event.event_type == IBV_EVENT_QP_ACCESS_ERR &&
		   event.element.qp == b.qp,
	   "an access violation is an event of the target");
	ibv_ack_async_event(&event);
	ok(!ibv_get_async_event(other, &event) &&
		   event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED &&
		   event.element.qp == b.qp,
	   "and that it takes no more from the shared queue");
	ibv_ack_async_event(&event);
	ibv_get_async_event(context, &event);
	ibv_ack_async_event(&event);
	free_end(&a);
	free_end(&b);

	options = usual;
	options.cqe = 2;
	make_pair(&a, &b, context, other, &options);
	wr.wr.rdma.rkey = b.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t) b.memory;
	for (i = 0; i < 3; i++)
		post(&a, &wr, 0, 1);
	ok(!ibv_get_async_event(context, &event) &&
		   event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == a.cq,
	   "a completion queue that overflows says so");
	ibv_ack_async_event(&event);
	free_end(&a);
	free_end(&b);
}

static void test_regions(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;
	uint32_t old;

	munmap(memory + 4096, 4096);
	ok(!ibv_reg_mr(pd, memory, 8192, IBV_ACCESS_LOCAL_WRITE) && errno == EFAULT,
	   "what is not mapped is not registered");
	ok(!ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL,
	   "remote writing needs local writing");
	ok(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, 0) && errno == EOPNOTSUPP,
	   "a dma-buf is not supported");
	mr = ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	ok(mr && ibv_dealloc_pd(pd) == EBUSY, "a domain in use stays");
	old = mr->lkey;
	ibv_dereg_mr(mr);
	mr = ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	ok(mr->lkey != old, "a key is not used again at once");
	ibv_dereg_mr(mr);
	ok(!ibv_dealloc_pd(pd), "and goes when it is not used");
	munmap(memory, 4096);
}

int main(void)
{
	setenv("SOFTVERBS_DEVICES", "2", 1);
	be_alone();
	context = open_device(0);
	other = open_device(1);
	test_refused();
	test_states();
	test_events();
	test_regions();
	test_statuses();
	test_retries();
	test_late_target();
	test_wrong_psn();
	return tap_done();
}
