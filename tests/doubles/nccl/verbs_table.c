/* SPDX-License-Identifier: MIT */
/*
 * NET/IB as the other networks are reached, and as NCCL has it: ncclNetIb, which no
 * release exports, but whose place the table of symbols tells.  So a program that runs
 * NCCL's own NET/IB (tests/rdma/nib.c) can run this one.  The form is that of 2.28 on.
 */
#include "verbs.h"

#include "release.h"
#include "truth.h"

#include <errno.h>
#include <nccl.h>
#include <string.h>

static void add_qp(struct mini_truth_connection *told,
		   const struct mini_ib_device *device, uint32_t number, uint32_t remote,
		   bool is_flush)
{
	told->qps[told->qp_count++] =
		(struct mini_truth_qp){device->name, number, remote, is_flush};
}

static void add_region(struct mini_truth_connection *told, const char *what,
		       const struct ibv_mr *mr)
{
	if (mr && told->region_count < MINI_TRUTH_REGIONS)
		told->regions[told->region_count++] =
			(struct mini_truth_region){what, mr->addr, mr->length};
}

static void describe(const struct mini_net_connection *connection,
		     struct mini_truth_connection *told)
{
	int i;

	told->transport = "NET/IB";
	for (i = 0; i < connection->qp_count; i++) {
		const struct mini_ib_qp *qp = &connection->qps[i];

		add_qp(told, connection->sides[qp->device].device, qp->qp->qp_num,
		       connection->remote.qps[i].qp_num, false);
	}
	for (i = 0; i < connection->side_count; i++) {
		const struct mini_ib_side *side = &connection->sides[i];

		if (side->flush_qp)
			add_qp(told, side->device, side->flush_qp->qp_num,
			       side->flush_qp->qp_num, true);
		add_region(told, "clears", side->clears_mr);
		add_region(told, "sizes", side->sizes_mr);
	}
	told->sockets[told->socket_count++] =
		(struct mini_truth_socket){connection->stream.fd, "control"};
}

static const struct mini_net ib = {
	.name = "IB",
	.device_of = mini_ib_nic_of,
	.max_receives = MINI_MAX_RECEIVES,
	.listen = mini_ib_listen,
	.connect = mini_ib_connect,
	.accept = mini_ib_accept,
	.reg = mini_ib_reg,
	.dereg = mini_ib_dereg,
	.isend = mini_ib_isend,
	.irecv = mini_ib_irecv,
	.iflush = mini_ib_iflush,
	.test = mini_ib_test,
	.describe = describe,
	.close = mini_ib_close,
	.close_listener = mini_ib_close_listener,
};

const struct mini_net *mini_net_ib(void)
{
	return mini_ib_open() > 0 ? &ib : NULL;
}

/* Not yet is no failure to NCCL. */
static ncclResult_t result(int err)
{
	if (!err || err == -EAGAIN)
		return ncclSuccess;
	if (err == -ECONNRESET)
		return ncclRemoteError;
	return err == -EPROTO || err == -EINVAL || err == -ENOBUFS ? ncclInternalError
								   : ncclSystemError;
}

static ncclResult_t net_init(void **context, uint64_t comm, void *config, void *log,
			     void *profile)
{
	(void) comm;
	(void) log;
	(void) profile;
	*context = config;
	/* NCCL fails where libibverbs is not to be had, and not without an adapter. */
	mini_ib_open();
	return ncclSuccess;
}

static ncclResult_t net_devices(int *count)
{
	*count = mini_ib_nics();
	return ncclSuccess;
}

static ncclResult_t net_properties(int nic, void *properties)
{
	const char *name = mini_ib_nic(nic)->name;

	/* Its first member; the doubles ask for no other. */
	memcpy(properties, &name, sizeof(name));
	return ncclSuccess;
}

static ncclResult_t net_listen(void *context, int nic, void *handle, void **ret_listener)
{
	(void) context;
	return result(
		mini_ib_listen(nic, handle, (struct mini_net_listener **) ret_listener));
}

static ncclResult_t net_connect(void *context, int nic, void *handle, void **ret_comm,
				void **offload)
{
	(void) context;
	(void) offload;
	return result(
		mini_ib_connect(nic, handle, (struct mini_net_connection **) ret_comm));
}

static ncclResult_t net_accept(void *listener, void **ret_comm, void **offload)
{
	(void) offload;
	return result(mini_ib_accept(listener, (struct mini_net_connection **) ret_comm));
}

static ncclResult_t net_reg(void *comm, void *data, size_t size, int type,
			    void **ret_region)
{
	(void) type;
	return result(
		mini_ib_reg(comm, data, size, (struct mini_net_region **) ret_region));
}

static ncclResult_t net_dereg(void *comm, void *region)
{
	return result(mini_ib_dereg(comm, region));
}

static ncclResult_t net_isend(void *comm, void *data, size_t size, int tag, void *region,
			      void *profiled, void **ret_request)
{
	(void) profiled;
	return result(mini_ib_isend(comm, data, size, tag, region,
				    (struct mini_net_request **) ret_request));
}

static ncclResult_t net_irecv(void *comm, int count, void **data, size_t *sizes,
			      int *tags, void **regions, void **profiled,
			      void **ret_request)
{
	(void) profiled;
	return result(mini_ib_irecv(comm, count, data, sizes, tags,
				    (struct mini_net_region *const *) regions,
				    (struct mini_net_request **) ret_request));
}

static ncclResult_t net_iflush(void *comm, int count, void **data, const int *sizes,
			       void **regions, void **ret_request)
{
	size_t wide[MINI_MAX_RECEIVES];
	int i;

	for (i = 0; i < count; i++)
		wide[i] = (size_t) sizes[i];
	return result(mini_ib_iflush(comm, count, data, wide,
				     (struct mini_net_region *const *) regions,
				     (struct mini_net_request **) ret_request));
}

static ncclResult_t net_test(void *opaque, int *ret_is_done, int *sizes)
{
	struct mini_net_request *request = opaque;
	int count = request->type == MINI_IB_RECV ? request->count : 1;
	size_t wide[MINI_MAX_RECEIVES] = {0};
	bool is_done;
	int err = mini_ib_test(request, &is_done, wide, NULL);
	int i;

	/* Up to 2.20 each piece adds the size of the message. */
	if (request->type == MINI_IB_FREE && request->count == 1 &&
	    mini_release() < 22100 && !request->connection->is_send)
		wide[0] *= (size_t) mini_ib_pieces(request->connection);
	*ret_is_done = is_done;
	for (i = 0; is_done && sizes && i < count; i++)
		sizes[i] = (int) wide[i];
	return result(err);
}

static ncclResult_t net_close(void *comm)
{
	mini_ib_close(comm);
	return ncclSuccess;
}

static ncclResult_t net_close_listener(void *listener)
{
	mini_ib_close_listener(listener);
	return ncclSuccess;
}

struct wanted {
	int count;
	int devices[MINI_IB_MERGED];
};

static ncclResult_t net_merge(int *ret_nic, const struct wanted *wanted)
{
	return mini_ib_merge(wanted->devices, wanted->count, ret_nic) ? ncclInvalidUsage
								      : ncclSuccess;
}

static ncclResult_t net_finalize(void *context)
{
	(void) context;
	return ncclSuccess;
}

struct net {
	const char *name;
	ncclResult_t (*init)(void **, uint64_t, void *, void *, void *);
	ncclResult_t (*devices)(int *);
	ncclResult_t (*properties)(int, void *);
	ncclResult_t (*listen)(void *, int, void *, void **);
	ncclResult_t (*connect)(void *, int, void *, void **, void **);
	ncclResult_t (*accept)(void *, void **, void **);
	ncclResult_t (*reg)(void *, void *, size_t, int, void **);
	void *reg_dmabuf;
	ncclResult_t (*dereg)(void *, void *);
	ncclResult_t (*isend)(void *, void *, size_t, int, void *, void *, void **);
	ncclResult_t (*irecv)(void *, int, void **, size_t *, int *, void **, void **,
			      void **);
	ncclResult_t (*iflush)(void *, int, void **, const int *, void **, void **);
	ncclResult_t (*test)(void *, int *, int *);
	ncclResult_t (*close_send)(void *);
	ncclResult_t (*close_recv)(void *);
	ncclResult_t (*close_listener)(void *);
	void *get_device_mr;
	void *irecv_consumed;
	ncclResult_t (*merge)(int *, const struct wanted *);
	ncclResult_t (*finalize)(void *);
	void *set_attributes;
};

extern const struct net ncclNetIb;

__attribute__((visibility("hidden"))) const struct net ncclNetIb = {
	.name = "IB",
	.init = net_init,
	.devices = net_devices,
	.properties = net_properties,
	.listen = net_listen,
	.connect = net_connect,
	.accept = net_accept,
	.reg = net_reg,
	.dereg = net_dereg,
	.isend = net_isend,
	.irecv = net_irecv,
	.iflush = net_iflush,
	.test = net_test,
	.close_send = net_close,
	.close_recv = net_close,
	.close_listener = net_close_listener,
	.merge = net_merge,
	.finalize = net_finalize,
};
