/* SPDX-License-Identifier: MIT */
/*
 * Counts what a program posts and polls through libibverbs' tables, and says so when it
 * ends.  It shares nothing with ccltap: preloaded behind it, it sees what the provider is
 * given.  To the file that COUNT_TO names it appends one line:
 *	sent N received N failed N completed N polls N
 * COUNT_TOGETHER has each send wait until so many threads are in one.
 * COUNT_RESETS has each ibv_modify_qp() put the functions of an extended queue pair there
 * anew, as a provider might.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct ibv_context_ops real; /* all contexts are one provider's */
static unsigned long together, entered;
static unsigned long sent, received, failed, completed, polls;

#define ADD(count, n) __atomic_fetch_add(&(count), n, __ATOMIC_RELAXED)

/* Not for ever: who is traced must not be kept from it. */
static void meet(void)
{
	unsigned long all = together ? ADD(entered, 1) / together * together + together : 0;
	int tries;

	for (tries = 0; ADD(entered, 0) < all && tries < 100000; tries++)
		usleep(100);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *at;
	unsigned long nr = 0;
	int ret;

	for (at = wr; at; at = at->next)
		nr++;
	meet();
	ret = real.post_send(qp, wr, bad);
	if (ret) {
		ADD(failed, 1);
		for (nr = 0, at = wr; at != *bad; at = at->next)
			nr++;
	}
	ADD(sent, nr);
	return ret;
}

static unsigned long count(struct ibv_recv_wr *at, struct ibv_recv_wr *end)
{
	unsigned long nr = 0;

	for (; at != end; at = at->next)
		nr++;
	return nr;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const unsigned long nr = count(wr, NULL);
	const int ret = real.post_recv(qp, wr, bad);

	ADD(failed, !!ret);
	ADD(received, ret ? count(wr, *bad) : nr);
	return ret;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	const unsigned long nr = count(wr, NULL);
	const int ret = real.post_srq_recv(srq, wr, bad);

	ADD(failed, !!ret);
	ADD(received, ret ? count(wr, *bad) : nr);
	return ret;
}

static int poll_cq(struct ibv_cq *cq, int nr, struct ibv_wc *wc)
{
	const int ret = real.poll_cq(cq, nr, wc);

	if (ret > 0) {
		ADD(completed, (unsigned long) ret);
		ADD(polls, 1);
	}
	return ret;
}

/* The extended interface; each function is the same in all objects, too. */

static struct ibv_qp_ex real_qp;
static struct ibv_cq_ex real_cq;
static struct verbs_context real_verbs;
static _Thread_local unsigned long built, shown;

#define BUILDER(op, params, args) \
	static void op params \
	{ \
		built++; \
		real_qp.op args; \
	}
#define RDMA (struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr)
BUILDER(wr_send, (struct ibv_qp_ex * qp), (qp))
BUILDER(wr_send_imm, (struct ibv_qp_ex * qp, __be32 imm), (qp, imm))
BUILDER(wr_rdma_write, RDMA, (qp, rkey, addr))
BUILDER(wr_rdma_read, RDMA, (qp, rkey, addr))
BUILDER(wr_rdma_write_imm,
	(struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr, __be32 imm),
	(qp, rkey, addr, imm))
BUILDER(wr_atomic_fetch_add,
	(struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr, uint64_t add),
	(qp, rkey, addr, add))
BUILDER(wr_atomic_cmp_swp,
	(struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr, uint64_t compare,
	 uint64_t swap),
	(qp, rkey, addr, compare, swap))

static void wr_start(struct ibv_qp_ex *qp)
{
	real_qp.wr_start(qp);
	built = 0;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	int ret;

	meet();
	ret = real_qp.wr_complete(qp);
	ADD(failed, !!ret);
	ADD(sent, ret ? 0 : built);
	return ret;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	const int ret = real_cq.start_poll(cq, attr);

	shown = !ret;
	return ret;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	const int ret = real_cq.next_poll(cq);

	shown += !ret;
	return ret;
}

/* What is told of a batch is told of 32 completions at a time. */
static void end_poll(struct ibv_cq_ex *cq)
{
	ADD(completed, shown);
	ADD(polls, (shown + 31) / 32);
	real_cq.end_poll(cq);
}

#define PATCH(object, real, op) \
	do { \
		if ((object)->op && (object)->op != op) \
			(real).op = (object)->op; \
		if ((object)->op) \
			(object)->op = op; \
	} while (0)

static void patch_qp(struct ibv_qp_ex *qp)
{
	PATCH(qp, real_qp, wr_start);
	PATCH(qp, real_qp, wr_complete);
	PATCH(qp, real_qp, wr_send);
	PATCH(qp, real_qp, wr_send_imm);
	PATCH(qp, real_qp, wr_rdma_write);
	PATCH(qp, real_qp, wr_rdma_read);
	PATCH(qp, real_qp, wr_rdma_write_imm);
	PATCH(qp, real_qp, wr_atomic_fetch_add);
	PATCH(qp, real_qp, wr_atomic_cmp_swp);
}

static struct ibv_qp_ex *extension(struct ibv_qp *qp)
{
	struct ibv_qp_ex *(*to_ex)(struct ibv_qp *) = NULL;

	*(void **) &to_ex = dlvsym(RTLD_NEXT, "ibv_qp_to_qp_ex", "IBVERBS_1.6");
	return to_ex(qp);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = real_verbs.create_qp_ex(context, attr);

	if (qp && extension(qp))
		patch_qp(extension(qp));
	return qp;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq = real_verbs.create_cq_ex(context, attr);

	if (cq) {
		PATCH(cq, real_cq, start_poll);
		PATCH(cq, real_cq, next_poll);
		PATCH(cq, real_cq, end_poll);
	}
	return cq;
}

/* Its functions, in place of whatever stands there. */
int count_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int count_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int) = NULL;
	struct ibv_qp_ex *ex = getenv("COUNT_RESETS") ? extension(qp) : NULL;

	*(void **) &modify = dlvsym(RTLD_NEXT, "ibv_modify_qp", "IBVERBS_1.1");
	if (ex) {
		ex->wr_start = wr_start;
		ex->wr_complete = wr_complete;
		ex->wr_rdma_write = wr_rdma_write;
	}
	return modify(qp, attr, mask);
}
__asm__(".symver count_modify, ibv_modify_qp@@IBVERBS_1.1");

/* As a function of a provider would, that ccltap has never heard of. */
struct ibv_qp *count_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *count_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *(*create)(struct ibv_pd *, struct ibv_qp_init_attr *) = NULL;

	*(void **) &create = dlvsym(RTLD_NEXT, "ibv_create_qp", "IBVERBS_1.1");
	return create(pd, attr);
}

struct ibv_context *count_open(struct ibv_device *device);
struct ibv_context *count_open(struct ibv_device *device)
{
	struct ibv_context *(*open_device)(struct ibv_device *) = NULL;
	struct verbs_context *verbs;
	struct ibv_context *context;

	*(void **) &open_device = dlvsym(RTLD_NEXT, "ibv_open_device", "IBVERBS_1.1");
	context = open_device ? open_device(device) : NULL;
	if (!context)
		return NULL;
	real = context->ops;
	if (getenv("COUNT_TOGETHER"))
		together = strtoul(getenv("COUNT_TOGETHER"), NULL, 10);
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.post_srq_recv = post_srq_recv;
	context->ops.poll_cq = poll_cq;
	verbs = verbs_get_ctx(context);
	if (verbs) {
		PATCH(verbs, real_verbs, create_qp_ex);
		PATCH(verbs, real_verbs, create_cq_ex);
	}
	return context;
}
__asm__(".symver count_open, ibv_open_device@@IBVERBS_1.1");

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("COUNT_TO");
	FILE *file = path && real.post_send ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "sent %lu received %lu failed %lu completed %lu polls %lu\n", sent,
		received, failed, completed, polls);
	fclose(file);
}
