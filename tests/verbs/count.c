/* SPDX-License-Identifier: MIT */
/*
 * Counts what a program posts and polls through libibverbs' tables, and says so when it
 * ends.  It shares nothing with ccltap: preloaded behind it, it sees what the provider is
 * given.  To the file that COUNT_TO names it appends one line:
 *	sent N received N failed N completed N polls N
 * COUNT_SLOW_US makes each send that long, for threads that are to meet in one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct ibv_context_ops real; /* all contexts are one provider's */
static useconds_t slow_us;
static unsigned long sent, received, failed, completed, polls;

#define ADD(count, n) __atomic_fetch_add(&(count), n, __ATOMIC_RELAXED)

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *at;
	unsigned long nr = 0;
	int ret;

	for (at = wr; at; at = at->next)
		nr++;
	if (slow_us)
		usleep(slow_us);
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

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
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

struct ibv_context *count_open(struct ibv_device *device);
struct ibv_context *count_open(struct ibv_device *device)
{
	struct ibv_context *(*open_device)(struct ibv_device *) = NULL;
	struct ibv_context *context;

	*(void **) &open_device = dlvsym(RTLD_NEXT, "ibv_open_device", "IBVERBS_1.1");
	context = open_device ? open_device(device) : NULL;
	if (!context)
		return NULL;
	real = context->ops;
	if (getenv("COUNT_SLOW_US"))
		slow_us = (useconds_t) atoi(getenv("COUNT_SLOW_US"));
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.post_srq_recv = post_srq_recv;
	context->ops.poll_cq = poll_cq;
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
