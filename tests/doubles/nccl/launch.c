/* SPDX-License-Identifier: MIT */
/* From the operations of a group to a kernel in a stream. */
#include "plan.h"

#include "comm.h"
#include "fake_image.h"
#include "reduce.h"
#include "result.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The head of the argument buffer of NCCL's kernels from 2.22 on, which is
 * passed through `extra` and holds what a kernel has to know of its work.
 */
struct kernel_arguments {
	struct ncclComm *comm;
	uint64_t channel_mask;
	uint32_t work_storage_type;
	uint32_t work_mask;
	struct mini_plan *work;
};

/* A plan fuses whatever a group holds, so the kernel is the one for anything. */
const char mini_kernel_name[] = "ncclDevKernel_Generic";

static void run_kernel(const void *arguments, size_t size)
{
	const struct kernel_arguments *args = arguments;

	if (size == sizeof(*args))
		mini_proxy_kernel(args->work);
}

const void *mini_kernel_image(void)
{
	static const struct fake_kernel kernels[] = {
		{.name = mini_kernel_name, .run = run_kernel}};
	static const struct fake_image image = {FAKE_IMAGE_MAGIC, 1, kernels};

	return &image;
}

static size_t traffic(const struct mini_op *op)
{
	return op->count * mini_type_size(op->type);
}

/*
 * NCCL does not keep the order of the calls inside a group: collectives go by
 * falling traffic, and sends and receives come after them.
 */
static bool goes_before(const struct mini_op *a, const struct mini_op *b)
{
	if (mini_op_is_p2p(a) || mini_op_is_p2p(b))
		return !mini_op_is_p2p(a) && mini_op_is_p2p(b);
	return traffic(a) > traffic(b);
}

struct mini_plan *mini_plan_create(struct ncclComm *comm, struct mini_op *ops)
{
	struct mini_plan *plan = calloc(1, sizeof(*plan));
	struct mini_op *op;
	struct mini_op **place;

	if (!plan)
		return NULL;
	plan->comm = comm;
	while (ops) {
		op = ops;
		ops = op->next;
		for (place = &plan->ops; *place && !goes_before(op, *place);
		     place = &(*place)->next)
			;
		op->next = *place;
		*place = op;
	}
	return plan;
}

void mini_ops_destroy(struct mini_op *ops)
{
	struct mini_op *op;

	while (ops) {
		op = ops;
		ops = op->next;
		free(op);
	}
}

void mini_plan_destroy(struct mini_plan *plan)
{
	mini_ops_destroy(plan->ops);
	free(plan);
}

ncclResult_t mini_plan_check(const struct mini_plan *plan)
{
	const struct mini_op *op;
	int sends = 0;
	int receives = 0;

	for (op = plan->ops; op; op = op->next) {
		if (mini_op_is_p2p(op) && op->root == plan->comm->rank) {
			sends += op->function == MINI_SEND;
			receives += op->function == MINI_RECV;
		}
	}
	if (sends > receives)
		return mini_fail(ncclInvalidUsage,
				 "Trying to send to self without a matching recv");
	if (receives > sends)
		return mini_fail(ncclInvalidUsage,
				 "Trying to recv to self without a matching send");
	return ncclSuccess;
}

/*
 * Point to point the channel follows from how far the peer is, so that sends to several
 * go on several; a collective uses all of them as long as it has an element for each.
 */
static int p2p_channel(const struct ncclComm *comm, const struct mini_op *op)
{
	int distance =
		op->function == MINI_SEND ? op->root - comm->rank : comm->rank - op->root;

	return (distance + comm->nranks) % comm->nranks % comm->channels;
}

size_t mini_op_elements_per_channel(const struct ncclComm *comm, const struct mini_op *op)
{
	size_t channels = (size_t) comm->channels;

	return (op->count + channels - 1) / channels;
}

uint64_t mini_op_channels(const struct ncclComm *comm, const struct mini_op *op)
{
	size_t part = mini_op_elements_per_channel(comm, op);

	if (mini_op_is_p2p(op))
		return op->root == comm->rank ? 0 : 1ULL << p2p_channel(comm, op);
	return ~0ULL >> (MINI_MAX_CHANNELS - (op->count + part - 1) / part);
}

/* The connection of one direction that an operation needs on a channel, if any. */
static bool needed_connection(const struct ncclComm *comm, const struct mini_op *op,
			      int channel, bool is_send, struct mini_end *ret_end)
{
	int step = is_send ? 1 : comm->nranks - 1;

	if (!(mini_op_channels(comm, op) >> channel & 1) ||
	    (mini_op_is_p2p(op) && is_send != (op->function == MINI_SEND)))
		return false;
	*ret_end = (struct mini_end){
		.peer = mini_op_is_p2p(op) ? op->root
					   : (comm->rank + step) % comm->nranks,
		.channel = channel,
		.index = mini_op_is_p2p(op),
		.is_send = is_send,
	};
	return true;
}

static int connect_direction(struct mini_plan *plan, bool is_send)
{
	struct mini_proxy *proxy = &plan->comm->proxy;
	const struct mini_op *op;
	struct mini_end end;
	int channel;
	int err = 0;

	for (op = plan->ops; op && !err; op = op->next) {
		for (channel = 0; channel < plan->comm->channels && !err; channel++) {
			if (needed_connection(plan->comm, op, channel, is_send, &end) &&
			    !mini_proxy_is_connected(proxy, &end))
				err = mini_proxy_connect(proxy, &end);
		}
	}
	return err;
}

static bool is_connected(const struct mini_plan *plan, const struct mini_op *op,
			 bool is_send)
{
	struct mini_end end;
	int channel;

	for (channel = 0; channel < plan->comm->channels; channel++) {
		if (needed_connection(plan->comm, op, channel, is_send, &end) &&
		    !mini_proxy_is_connected(&plan->comm->proxy, &end))
			return false;
	}
	return true;
}

bool mini_plan_is_connected(const struct mini_plan *plan)
{
	const struct mini_op *op;

	for (op = plan->ops; op; op = op->next) {
		if (!is_connected(plan, op, true) || !is_connected(plan, op, false))
			return false;
	}
	return mini_proxy_has_progress(&plan->comm->proxy);
}

int mini_plan_connect(struct mini_plan *plan)
{
	int err;

	/* What the peers wait for comes first, then what we wait for. */
	err = connect_direction(plan, true);
	if (!err)
		err = connect_direction(plan, false);
	/* To itself a rank needs no connection, but the progress thread. */
	if (!err && !mini_proxy_has_progress(&plan->comm->proxy))
		err = mini_proxy_need_progress(&plan->comm->proxy);
	return err;
}

/* Has one stream wait for what another holds up to now. */
static CUresult order(CUstream first, CUstream then)
{
	CUevent event;
	CUresult res = mini_driver.EventCreate(&event, CU_EVENT_DISABLE_TIMING);

	if (res)
		return res;
	res = mini_driver.EventRecord(event, first);
	if (!res)
		res = mini_driver.StreamWaitEvent(then, event, 0);
	mini_driver.EventDestroy(event);
	return res;
}

/*
 * One kernel stands for calls that may have named several streams: it runs in
 * the first one's, after and before what is in the others.
 */
static CUresult order_all(const struct mini_plan *plan, bool is_before)
{
	CUstream main_stream = plan->ops->stream;
	const struct mini_op *op;
	CUstream last = main_stream;
	CUresult res = CUDA_SUCCESS;

	for (op = plan->ops; op && !res; op = op->next) {
		if (op->stream == main_stream || op->stream == last)
			continue;
		last = op->stream;
		res = is_before ? order(last, main_stream) : order(main_stream, last);
	}
	return res;
}

/* One block of threads each; what goes nowhere is done on the first. */
static uint64_t channel_mask(const struct mini_plan *plan)
{
	const struct mini_op *op;
	uint64_t mask = 0;

	for (op = plan->ops; op; op = op->next)
		mask |= mini_op_channels(plan->comm, op);
	return mask ? mask : 1;
}

static CUresult launch_kernel(struct mini_plan *plan)
{
	struct kernel_arguments args = {.comm = plan->comm,
					.channel_mask = channel_mask(plan),
					.work = plan};
	size_t size = sizeof(args);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &args,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	CUlaunchConfig config = {
		.gridDimX = (unsigned int) __builtin_popcountll(args.channel_mask),
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = 512,
		.blockDimY = 1,
		.blockDimZ = 1,
		.hStream = plan->ops->stream,
	};

	return mini_driver.LaunchKernelEx(&config, plan->comm->kernel, NULL, extra);
}

ncclResult_t mini_plan_launch(struct mini_plan *plan)
{
	struct ncclComm *comm = plan->comm;
	CUcontext before = NULL;
	CUresult res;

	mini_driver.CtxGetCurrent(&before);
	res = mini_driver.CtxSetCurrent(comm->context);
	if (!res)
		res = order_all(plan, true);
	if (!res) {
		mini_proxy_expect(&comm->proxy);
		res = launch_kernel(plan);
		if (res)
			mini_proxy_forget(&comm->proxy);
	}
	if (res) {
		mini_plan_destroy(plan);
	} else {
		/* The plan belongs to the kernel once it can run to its end. */
		res = order_all(plan, false);
		mini_proxy_append(&comm->proxy, plan);
	}
	mini_driver.CtxSetCurrent(before);
	return mini_driver_check(res);
}
