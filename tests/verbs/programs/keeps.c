/* SPDX-License-Identifier: MIT */
/*
 * Plays a provider that keeps a copy of a context's table, and puts that back whenever a
 * queue pair is made, as some do when they choose their functions by what is asked for.
 * Or, where SILENT is set, one that refuses what is posted and does not say which
 * request.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdlib.h>

static struct ibv_context_ops kept; /* all contexts are one provider's */

static int refuse_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad)
{
	(void) qp;
	(void) wr;
	(void) bad;
	return EIO;
}

static int refuse_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad)
{
	(void) qp;
	(void) wr;
	(void) bad;
	return EIO;
}

struct ibv_context *keeps_open(struct ibv_device *device);
struct ibv_context *keeps_open(struct ibv_device *device)
{
	struct ibv_context *(*open_device)(struct ibv_device *) = NULL;
	struct ibv_context *context;

	*(void **) &open_device = dlvsym(RTLD_NEXT, "ibv_open_device", "IBVERBS_1.1");
	context = open_device ? open_device(device) : NULL;
	if (context && getenv("SILENT")) {
		context->ops.post_send = refuse_send;
		context->ops.post_recv = refuse_recv;
	}
	if (context)
		kept = context->ops;
	return context;
}
__asm__(".symver keeps_open, ibv_open_device@@IBVERBS_1.1");

struct ibv_qp *keeps_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *keeps_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *(*create)(struct ibv_pd *, struct ibv_qp_init_attr *) = NULL;

	*(void **) &create = dlvsym(RTLD_NEXT, "ibv_create_qp", "IBVERBS_1.1");
	if (!getenv("SILENT"))
		pd->context->ops = kept;
	return create ? create(pd, attr) : NULL;
}
__asm__(".symver keeps_create, ibv_create_qp@@IBVERBS_1.1");
