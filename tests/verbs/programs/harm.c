/* SPDX-License-Identifier: MIT */
/*
 * Things that programs do to libibverbs, one for each word on the command line; says what
 * came of each.  With and without ccltap it says the same.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(x) \
	do { \
		if (!(x)) { \
			printf("line %d: %s: %s\n", __LINE__, #x, strerror(errno)); \
			exit(1); \
		} \
	} while (0)

static char memory[1 << 16];

struct device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
};

/* A queue pair that is connected to another of the same process. */
struct side {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
};

static struct ibv_device *first_device(void)
{
	static struct ibv_device **list;

	if (!list)
		list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	return list[0];
}

static struct device open_device(void)
{
	struct device d;

	d.context = ibv_open_device(first_device());
	CHECK(d.context);
	d.pd = ibv_alloc_pd(d.context);
	CHECK(d.pd);
	d.mr = ibv_reg_mr(d.pd, memory, sizeof(memory),
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(d.mr);
	d.cq = ibv_create_cq(d.context, 4096, NULL, NULL, 0);
	CHECK(d.cq);
	return d;
}

static void close_device(struct device *d)
{
	CHECK(!ibv_destroy_cq(d->cq));
	CHECK(!ibv_dereg_mr(d->mr));
	CHECK(!ibv_dealloc_pd(d->pd));
	CHECK(!ibv_close_device(d->context));
}

static struct ibv_qp *make_qp(struct device *d, int depth)
{
	struct ibv_qp_init_attr init = {
		.send_cq = d->cq,
		.recv_cq = d->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = (uint32_t) depth,
			.max_recv_wr = (uint32_t) depth,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
	struct ibv_qp *qp = ibv_create_qp(d->pd, &init);

	CHECK(qp);
	return qp;
}

static void connect_to(struct device *d, struct ibv_qp *qp, uint32_t number)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	CHECK(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS));
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = number;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.hop_limit = 1;
	CHECK(!ibv_query_gid(d->context, 1, 0, &attr.ah_attr.grh.dgid));
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	CHECK(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	CHECK(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				     IBV_QP_MAX_QP_RD_ATOMIC));
}

static int post_write(struct device *d, struct ibv_qp *qp, uint64_t wr_id,
		      unsigned int flags)
{
	struct ibv_sge sge = {(uintptr_t) memory, 8, d->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = flags},
			   *bad;

	wr.wr.rdma.remote_addr = (uintptr_t) memory + 4096;
	wr.wr.rdma.rkey = d->mr->rkey;
	return ibv_post_send(qp, &wr, &bad);
}

static int reap(struct device *d, int nr)
{
	struct ibv_wc wc[16];
	int found, good = 0;

	while (nr > 0) {
		found = ibv_poll_cq(d->cq, nr < 16 ? nr : 16, wc);
		CHECK(found >= 0);
		nr -= found;
		while (found)
			good += wc[--found].status == IBV_WC_SUCCESS;
	}
	return good;
}

/* The same address is given out again. */
static void reopen(void)
{
	int i, good = 0;

	for (i = 0; i < 20; i++) {
		struct device d = open_device();
		struct ibv_qp *qp = make_qp(&d, 16);

		connect_to(&d, qp, qp->qp_num);
		CHECK(!post_write(&d, qp, 1, IBV_SEND_SIGNALED));
		good += reap(&d, 1);
		CHECK(!ibv_destroy_qp(qp));
		close_device(&d);
	}
	printf("reopen: %d\n", good);
}

/* With requests that nobody has seen the end of. */
static void destroy(void)
{
	struct device d = open_device();
	int i, k;

	for (i = 0; i < 20; i++) {
		struct ibv_qp *qp = make_qp(&d, 16);

		connect_to(&d, qp, qp->qp_num);
		for (k = 0; k < 8; k++)
			CHECK(!post_write(&d, qp, 1, IBV_SEND_SIGNALED));
		CHECK(!ibv_destroy_qp(qp));
	}
	printf("destroy: done\n");
}

/* A reset is a new life. */
static void reset(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	int i, good = 0;

	for (i = 0; i < 5; i++) {
		connect_to(&d, qp, qp->qp_num);
		CHECK(!post_write(&d, qp, 1, IBV_SEND_SIGNALED));
		CHECK(!post_write(&d, qp, 2, IBV_SEND_SIGNALED));
		good += reap(&d, 2);
		CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	}
	printf("reset: %d\n", good);
}

struct worker {
	struct device *d;
	struct ibv_qp *qp;
	pthread_barrier_t *begin; /* of all of them */
	int nr;
};

#define EACH 8000

static void *work(void *data)
{
	struct worker *w = data;
	struct ibv_wc wc;
	int i, found;

	pthread_barrier_wait(w->begin);
	for (i = 0; i < EACH; i++) {
		while (post_write(w->d, w->qp, (uint64_t) i, IBV_SEND_SIGNALED))
			;
		do {
			found = ibv_poll_cq(w->d->cq, 1, &wc);
			CHECK(found >= 0);
		} while (!found);
		w->nr += wc.status == IBV_WC_SUCCESS;
	}
	return NULL;
}

/* Two threads post to one queue pair and poll one completion queue. */
static void threads(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16);
	pthread_barrier_t begin;
	struct worker w[3] = {{&d, qp, &begin, 0},
			      {&d, qp, &begin, 0},
			      {&d, qp, &begin, 0}};
	pthread_t thread[3];
	int i;

	pthread_barrier_init(&begin, NULL, 3);

	connect_to(&d, qp, qp->qp_num);
	for (i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread[i], NULL, work, &w[i]));
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	printf("threads: %d\n", w[0].nr + w[1].nr + w[2].nr);
}

static void *meet(void *data)
{
	struct worker *w = data;
	int i;

	for (i = 0; i < 5; i++) {
		pthread_barrier_wait(w->begin);
		w->nr += !post_write(w->d, w->qp, 1, IBV_SEND_SIGNALED);
	}
	return NULL;
}

/* Two threads are in a post at once, if posts are slow. */
static void race(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16);
	pthread_barrier_t begin;
	struct worker w[2] = {{&d, qp, &begin, 0}, {&d, qp, &begin, 0}};
	pthread_t thread;

	pthread_barrier_init(&begin, NULL, 2);
	connect_to(&d, qp, qp->qp_num);
	CHECK(!pthread_create(&thread, NULL, meet, &w[0]));
	meet(&w[1]);
	pthread_join(thread, NULL);
	printf("race: %d %d\n", w[0].nr + w[1].nr, reap(&d, 10));
}

/* A child that does nothing with it, while the parent goes on. */
static void forks(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16);
	int i, status, good = 0;
	pid_t child;

	connect_to(&d, qp, qp->qp_num);
	for (i = 0; i < 5; i++) {
		CHECK(!post_write(&d, qp, 1, IBV_SEND_SIGNALED));
		fflush(stdout);
		child = fork();
		if (!child)
			_exit(3);
		good += reap(&d, 1);
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WEXITSTATUS(status) == 3);
	}
	printf("forks: %d\n", good);
}

static int (*before)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
static int nr_own;

static int own_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	nr_own++;
	return before(qp, wr, bad);
}

/* The program puts a function of its own into the table. */
static void replace(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16);
	int i, good = 0;

	connect_to(&d, qp, qp->qp_num);
	before = d.context->ops.post_send;
	d.context->ops.post_send = own_post;
	for (i = 0; i < 3; i++)
		CHECK(!post_write(&d, qp, 1, IBV_SEND_SIGNALED));
	good = reap(&d, 3);
	d.context->ops.post_send = before;
	CHECK(!post_write(&d, qp, 1, IBV_SEND_SIGNALED));
	printf("replace: %d %d %d\n", nr_own, good, reap(&d, 1));
}

static void many(void)
{
	struct device d = open_device();
	static struct ibv_qp *qp[1000];
	int i, good = 0;

	for (i = 0; i < 1000; i++) {
		qp[i] = make_qp(&d, 2);
		connect_to(&d, qp[i], qp[i]->qp_num);
	}
	for (i = 0; i < 1000; i++) {
		CHECK(!post_write(&d, qp[i], 1, IBV_SEND_SIGNALED));
		good += reap(&d, 1);
	}
	for (i = 0; i < 1000; i++)
		CHECK(!ibv_destroy_qp(qp[i]));
	close_device(&d);
	printf("many: %d\n", good);
}

/* Sends and receives of two queue pairs in one poll, and then those of one alone. */
static void mixed(void)
{
	struct device d = open_device();
	struct ibv_sge sge = {(uintptr_t) memory, 8, d.mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND_WITH_IMM,
				   .imm_data = 7,
				   .send_flags = IBV_SEND_SIGNALED},
			   *bad_send;
	struct ibv_qp *qp[2] = {make_qp(&d, 16), make_qp(&d, 16)};
	int i, good = 0;

	for (i = 0; i < 2; i++)
		connect_to(&d, qp[i], qp[i]->qp_num);
	for (i = 0; i < 6; i++) {
		recv.wr_id = send.wr_id = (uint64_t) i;
		CHECK(!ibv_post_recv(qp[i % 2], &recv, &bad_recv));
		CHECK(!ibv_post_send(qp[i % 2], &send, &bad_send));
	}
	usleep(50000);
	good += reap(&d, 12);
	for (i = 0; i < 12; i++)
		CHECK(!post_write(&d, qp[i / 6], (uint64_t) i, IBV_SEND_SIGNALED));
	usleep(50000);
	good += reap(&d, 6);
	good += reap(&d, 6);
	printf("mixed: %d\n", good);
}

/* More at once than an event has room for, one in four signalled. */
static int post_list(struct device *d, struct ibv_qp *qp, int nr, int wrong)
{
	static struct ibv_send_wr wr[512], *bad;
	struct ibv_sge sge = {(uintptr_t) memory, 8, d->mr->lkey};
	int i, ret;

	memset(wr, 0, sizeof(wr));
	for (i = 0; i < nr; i++) {
		wr[i].wr_id = (uint64_t) i;
		wr[i].next = i + 1 < nr ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].opcode = i == wrong ? (enum ibv_wr_opcode) 99 : IBV_WR_RDMA_WRITE;
		wr[i].send_flags = i % 4 == 3 ? IBV_SEND_SIGNALED : 0;
		wr[i].wr.rdma.remote_addr = (uintptr_t) memory + 4096;
		wr[i].wr.rdma.rkey = d->mr->rkey;
	}
	ret = ibv_post_send(qp, wr, &bad);
	return ret ? (int) (bad - wr) : nr;
}

static void list(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 512);
	int accepted;

	connect_to(&d, qp, qp->qp_num);
	accepted = post_list(&d, qp, 512, -1);
	printf("list: %d %d\n", accepted, reap(&d, 128));
}

static void bad(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 512);
	int accepted, first;

	connect_to(&d, qp, qp->qp_num);
	accepted = post_list(&d, qp, 100, 40);
	first = post_list(&d, qp, 1, 0);
	printf("bad: %d %d %d\n", accepted, reap(&d, accepted / 4), first);
}

/* More completions than there is room for. */
static void overrun(void)
{
	struct device d = open_device();
	struct ibv_async_event event;
	struct ibv_cq *all = d.cq;
	struct ibv_wc wc[16];
	struct ibv_qp *qp;
	int i;

	d.cq = ibv_create_cq(d.context, 4, NULL, NULL, 0);
	CHECK(d.cq);
	qp = make_qp(&d, 32);
	connect_to(&d, qp, qp->qp_num);
	for (i = 0; i < 20; i++)
		CHECK(!post_write(&d, qp, (uint64_t) i, IBV_SEND_SIGNALED));
	CHECK(!ibv_get_async_event(d.context, &event));
	printf("overrun: %s, %d of %d\n", ibv_event_type_str(event.event_type),
	       ibv_poll_cq(d.cq, 16, wc), d.cq->cqe);
	ibv_ack_async_event(&event);
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_cq(d.cq));
	d.cq = all;
	close_device(&d);
}

static void *poll_until_flushed(void *data)
{
	struct device *d = data;
	struct ibv_wc wc;
	long nr = 0;
	int found;

	do {
		found = ibv_poll_cq(d->cq, 1, &wc);
		CHECK(found >= 0);
		nr += found;
	} while (!found || wc.wr_id != 9);
	return (void *) nr;
}

/* The device fails while a thread polls it (SOFTVERBS_FAULTS=fatal@5). */
static void fatal(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16), *other = make_qp(&d, 16);
	struct ibv_async_event event;
	pthread_t thread;
	void *nr;
	int i;

	connect_to(&d, qp, qp->qp_num);
	connect_to(&d, other, other->qp_num);
	CHECK(!pthread_create(&thread, NULL, poll_until_flushed, &d));
	for (i = 0; i < 10; i++)
		CHECK(!post_write(&d, qp, (uint64_t) i, IBV_SEND_SIGNALED));
	CHECK(!ibv_get_async_event(d.context, &event));
	ibv_ack_async_event(&event);
	pthread_join(thread, &nr);
	printf("fatal: %s, %ld completions, another queue pair %d\n",
	       ibv_event_type_str(event.event_type), (long) nr,
	       post_write(&d, other, 10, IBV_SEND_SIGNALED) || reap(&d, 1));
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_qp(other));
	close_device(&d);
}

/* The provider puts its own table back (keeps.c does that at each making of a queue). */
static void keeps(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16);
	int i, good = 0;

	connect_to(&d, qp, qp->qp_num);
	for (i = 0; i < 3; i++) {
		CHECK(!post_write(&d, qp, 1, IBV_SEND_SIGNALED));
		good += reap(&d, 1);
	}
	CHECK(!ibv_destroy_qp(qp));
	close_device(&d);
	printf("keeps: %d\n", good);
}

/* What is posted is refused, and what the provider was to say of it is as it was. */
static void silent(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16);
	struct ibv_send_wr sends[2] = {{.wr_id = 1, .next = &sends[1]}, {.wr_id = 2}};
	struct ibv_recv_wr recvs[2] = {{.wr_id = 3, .next = &recvs[1]}, {.wr_id = 4}};
	struct ibv_send_wr *bad_send = (void *) 8;
	struct ibv_recv_wr *bad_recv = (void *) 8;
	int refused = 0;

	refused += ibv_post_send(qp, sends, &bad_send) == EIO;
	refused += ibv_post_send(qp, &sends[1], &bad_send) == EIO;
	refused += ibv_post_recv(qp, recvs, &bad_recv) == EIO;
	refused += ibv_post_recv(qp, &recvs[1], &bad_recv) == EIO;
	CHECK(!ibv_destroy_qp(qp));
	close_device(&d);
	printf("silent: %d %d\n", refused,
	       bad_send == (void *) 8 && bad_recv == (void *) 8);
}

/* A request for each page, which nothing else is on. */
#define PAGE 4096
#define NR_PAGES 2000

struct send_page {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

struct recv_page {
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
};

static char *make_pages(void)
{
	char *pages = mmap(NULL, (size_t) NR_PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	return pages;
}

static struct ibv_send_wr *make_sends(struct device *d, int nr, int wrong)
{
	char *pages = make_pages();
	struct send_page *page = NULL;
	int i;

	for (i = nr - 1; i >= 0; i--) {
		struct ibv_send_wr *next = page ? &page->wr : NULL;

		page = (void *) (pages + i * PAGE);
		page->sge = (struct ibv_sge){(uintptr_t) memory, 8, d->mr->lkey};
		page->wr.wr_id = (uint64_t) i;
		page->wr.next = next;
		page->wr.sg_list = &page->sge;
		page->wr.num_sge = 1;
		page->wr.opcode =
			i == wrong ? (enum ibv_wr_opcode) 99 : IBV_WR_RDMA_WRITE;
		page->wr.send_flags = i % 4 == 3 ? IBV_SEND_SIGNALED : 0;
		page->wr.wr.rdma.remote_addr = (uintptr_t) memory + 4096;
		page->wr.wr.rdma.rkey = d->mr->rkey;
	}
	return &page->wr;
}

static struct ibv_recv_wr *make_recvs(struct device *d, int nr, int wrong)
{
	char *pages = make_pages();
	struct recv_page *page = NULL;
	int i;

	for (i = nr - 1; i >= 0; i--) {
		struct ibv_recv_wr *next = page ? &page->wr : NULL;

		page = (void *) (pages + i * PAGE);
		page->sge = (struct ibv_sge){(uintptr_t) memory, 8, d->mr->lkey};
		page->wr.wr_id = (uint64_t) i;
		page->wr.next = next;
		page->wr.sg_list = &page->sge;
		page->wr.num_sge = i == wrong ? 99 : 1;
	}
	return &page->wr;
}

static int of_page(const void *request, const void *first)
{
	return (int) (((const char *) request - (const char *) first) / PAGE);
}

/* As soon as a request was accepted another thread may see it complete and free it. */
static void freed(void)
{
	struct device d = open_device();
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 2048, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(d.pd, &init);
	struct ibv_qp *qp = make_qp(&d, 2048);
	struct ibv_send_wr *sends, *bad_send;
	struct ibv_recv_wr *recvs, *bad_recv;

	CHECK(srq);
	connect_to(&d, qp, qp->qp_num);
	CHECK(!ibv_post_send(qp, make_sends(&d, 2000, -1), &bad_send));
	printf("freed: %d", reap(&d, 500));
	sends = make_sends(&d, 300, 200);
	CHECK(ibv_post_send(qp, sends, &bad_send));
	printf(" %d %d", of_page(bad_send, sends), reap(&d, 50));
	CHECK(!ibv_post_recv(qp, make_recvs(&d, 600, -1), &bad_recv));
	recvs = make_recvs(&d, 300, 200);
	CHECK(ibv_post_recv(qp, recvs, &bad_recv));
	printf(" %d", of_page(bad_recv, recvs));
	CHECK(!ibv_post_srq_recv(srq, make_recvs(&d, 600, -1), &bad_recv));
	recvs = make_recvs(&d, 40, 20);
	CHECK(ibv_post_srq_recv(srq, recvs, &bad_recv));
	printf(" %d\n", of_page(bad_recv, recvs));
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_srq(srq));
	close_device(&d);
}

/* Lists that lead back to themselves; a provider takes what there is room for. */
static void cycle(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 64);
	struct ibv_sge sge = {(uintptr_t) memory, 8, d.mr->lkey};
	struct ibv_send_wr sends[3], *bad_send = NULL;
	struct ibv_recv_wr recvs[3], *bad_recv = NULL;
	int i;

	memset(sends, 0, sizeof(sends));
	for (i = 0; i < 3; i++) {
		sends[i] = (struct ibv_send_wr){.wr_id = (uint64_t) i,
						.next = &sends[(i + 1) % 3],
						.sg_list = &sge,
						.num_sge = 1,
						.opcode = IBV_WR_RDMA_WRITE,
						.send_flags = IBV_SEND_SIGNALED};
		sends[i].wr.rdma.remote_addr = (uintptr_t) memory + 4096;
		sends[i].wr.rdma.rkey = d.mr->rkey;
		recvs[i] = (struct ibv_recv_wr){.wr_id = (uint64_t) i,
						.next = &recvs[(i + 1) % 3],
						.sg_list = &sge,
						.num_sge = 1};
	}
	connect_to(&d, qp, qp->qp_num);
	CHECK(ibv_post_recv(qp, recvs, &bad_recv) == ENOMEM);
	CHECK(ibv_post_send(qp, sends, &bad_send) == ENOMEM);
	printf("cycle: %d %d, %d completed\n", (int) (bad_recv - recvs),
	       (int) (bad_send - sends), reap(&d, 64));
	CHECK(!ibv_destroy_qp(qp));
	close_device(&d);
}

/* The provider says that it found more than was asked for. */
static void excess(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 16);
	char *pages = make_pages();
	struct ibv_wc *wc = (void *) (pages + PAGE - 2 * sizeof(*wc));
	int found;

	CHECK(!mprotect(pages + PAGE, PAGE, PROT_NONE));
	connect_to(&d, qp, qp->qp_num);
	CHECK(!post_write(&d, qp, 7, IBV_SEND_SIGNALED));
	CHECK(!post_write(&d, qp, 8, IBV_SEND_SIGNALED));
	usleep(50000);
	found = ibv_poll_cq(d.cq, 2, wc);
	printf("excess: %d, %d %d\n", found, (int) wc[0].wr_id, (int) wc[1].wr_id);
	CHECK(!ibv_destroy_qp(qp));
	close_device(&d);
}

/* There is no memory for a long list, and then there is again. */
static void poor(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 512);
	struct rlimit limit, none;
	int refused, accepted;

	connect_to(&d, qp, qp->qp_num);
	CHECK(!post_write(&d, qp, 1, IBV_SEND_SIGNALED));
	CHECK(reap(&d, 1) == 1);
	CHECK(!getrlimit(RLIMIT_AS, &limit));
	none = limit;
	none.rlim_cur = 4096;
	CHECK(!setrlimit(RLIMIT_AS, &none));
	refused = post_list(&d, qp, 100, 32);
	accepted = post_list(&d, qp, 400, -1);
	CHECK(!setrlimit(RLIMIT_AS, &limit));
	printf("poor: %d %d %d", refused, accepted, reap(&d, 108));
	accepted = post_list(&d, qp, 400, -1);
	printf(" %d %d\n", accepted, reap(&d, 100));
}

/* Of two lists the first is longer than the queue says that it can be. */
static void rounds(void)
{
	struct device d = open_device();
	struct ibv_qp *qp = make_qp(&d, 64);
	int first, second;

	connect_to(&d, qp, qp->qp_num);
	first = post_list(&d, qp, 100, -1);
	second = post_list(&d, qp, 200, -1);
	printf("rounds: %d %d, %d completed\n", first, second, reap(&d, 57));
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"reopen", reopen},   {"destroy", destroy}, {"reset", reset},
	{"threads", threads}, {"forks", forks},	    {"replace", replace},
	{"many", many},	      {"list", list},	    {"bad", bad},
	{"race", race},	      {"overrun", overrun}, {"fatal", fatal},
	{"keeps", keeps},     {"silent", silent},   {"mixed", mixed},
	{"freed", freed},     {"cycle", cycle},	    {"excess", excess},
	{"poor", poor},	      {"rounds", rounds},
};

int main(int argc, char **argv)
{
	size_t i;
	int k;

	for (k = 1; k < argc; k++)
		for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			if (!strcmp(argv[k], ways[i].name))
				ways[i].run();
	return 0;
}
