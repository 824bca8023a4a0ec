/* SPDX-License-Identifier: MIT */
/*
 * Plays a provider between the program and softverbs, as STRANGE says:
 * frees   when a post returns, the page of each request that was accepted cannot be read
 *	   any more: as where another thread saw it complete and freed it.
 * excess  a poll that found something says that it found more than was asked for.
 * rounds  a queue pair has room for twice what it says, as where a provider rounds up.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static struct ibv_context_ops real; /* all contexts are one provider's */

static void take_away(void *request)
{
	mprotect((void *) ((uintptr_t) request & ~(uintptr_t) (PAGE - 1)), PAGE,
		 PROT_NONE);
}

/* Those before `end`, NULL all. */
#define TAKE_AWAY(wr, end) \
	do { \
		__typeof__(wr) at = wr, next; \
		for (; at && at != (end); at = next) { \
			next = at->next; \
			take_away(at); \
		} \
	} while (0)

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const int ret = real.post_send(qp, wr, bad);

	TAKE_AWAY(wr, ret ? *bad : NULL);
	return ret;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const int ret = real.post_recv(qp, wr, bad);

	TAKE_AWAY(wr, ret ? *bad : NULL);
	return ret;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	const int ret = real.post_srq_recv(srq, wr, bad);

	TAKE_AWAY(wr, ret ? *bad : NULL);
	return ret;
}

static int poll_cq(struct ibv_cq *cq, int nr, struct ibv_wc *wc)
{
	const int ret = real.poll_cq(cq, nr, wc);

	return ret > 0 ? nr + 100000 : ret;
}

struct ibv_context *strange_open(struct ibv_device *device);
struct ibv_context *strange_open(struct ibv_device *device)
{
	struct ibv_context *(*open_device)(struct ibv_device *) = NULL;
	const char *what = getenv("STRANGE");
	struct ibv_context *context;

	*(void **) &open_device = dlvsym(RTLD_NEXT, "ibv_open_device", "IBVERBS_1.1");
	context = open_device ? open_device(device) : NULL;
	if (!context || !what)
		return context;
	real = context->ops;
	if (!strcmp(what, "frees")) {
		context->ops.post_send = post_send;
		context->ops.post_recv = post_recv;
		context->ops.post_srq_recv = post_srq_recv;
	} else if (!strcmp(what, "excess")) {
		context->ops.poll_cq = poll_cq;
	}
	return context;
}
__asm__(".symver strange_open, ibv_open_device@@IBVERBS_1.1");

struct ibv_qp *strange_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init);
struct ibv_qp *strange_create(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp *(*create)(struct ibv_pd *, struct ibv_qp_init_attr *) = NULL;
	const struct ibv_qp_cap asked = init->cap;
	const char *what = getenv("STRANGE");
	struct ibv_qp *qp;

	*(void **) &create = dlvsym(RTLD_NEXT, "ibv_create_qp", "IBVERBS_1.1");
	if (!create)
		return NULL;
	if (!what || strcmp(what, "rounds") != 0)
		return create(pd, init);
	init->cap.max_send_wr *= 2;
	init->cap.max_recv_wr *= 2;
	qp = create(pd, init);
	init->cap = asked;
	return qp;
}
__asm__(".symver strange_create, ibv_create_qp@@IBVERBS_1.1");
