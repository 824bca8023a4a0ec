/* SPDX-License-Identifier: MIT */
/* From the operations of a group to a kernel in a stream. */
#include "plan.h"

#include "arguments.h"
#include "comm.h"
#include "functions.h"
#include "launches.h"
#include "reduce.h"
#include "result.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* All that graphs were captured of, which may be launched until the process ends. */
static struct mini_plan *captured;
static pthread_mutex_t captured_lock = PTHREAD_MUTEX_INITIALIZER;

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

/*
 * What a graph carries out at every launch of it is a copy of what was captured: it is
 * handed to the progress thread by the host function before the kernel.
 */
static struct mini_plan *copy_plan(const struct mini_plan *plan)
{
	struct mini_plan *copy = calloc(1, sizeof(*copy));
	const struct mini_op *op;
	struct mini_op **last;

	if (!copy)
		return NULL;
	copy->comm = plan->comm;
	last = &copy->ops;
	for (op = plan->ops; op; op = op->next) {
		*last = malloc(sizeof(**last));
		if (!*last) {
			mini_plan_destroy(copy);
			return NULL;
		}
		**last = *op;
		(*last)->next = NULL;
		last = &(*last)->next;
	}
	return copy;
}

static void begin_replay(void *data)
{
	struct mini_plan *plan = data;

	plan->replay = copy_plan(plan);
	if (!plan->replay)
		return;
	mini_proxy_expect(&plan->comm->proxy);
	mini_proxy_append(&plan->comm->proxy, plan->replay);
}

void mini_plan_kernel(struct mini_plan *plan)
{
	struct mini_plan *replay = plan->replay;

	if (!plan->is_captured) {
		mini_proxy_kernel(plan);
	} else if (replay) {
		plan->replay = NULL;
		mini_proxy_kernel(replay);
	}
}

/* Clusters divide the grid. */
static unsigned int cluster_size(unsigned int grid)
{
	unsigned int size = 4;

	while (grid % size)
		size--;
	return size;
}

static CUresult launch_kernel(struct mini_plan *plan, struct mini_launch *launch)
{
	unsigned int grid = (unsigned int) __builtin_popcountll(launch->channel_mask);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, launch->buffer,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &launch->size, CU_LAUNCH_PARAM_END};
	CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
				     .value.clusterDim = {cluster_size(grid), 1, 1}};
	CUlaunchConfig config = {
		.gridDimX = grid,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = launch->threads,
		.blockDimY = 1,
		.blockDimZ = 1,
		.hStream = plan->ops->stream,
		.attrs = &cluster,
		.numAttrs = 1,
	};
	CUfunction function;
	CUresult res = mini_kernel(launch->kernel, &function);

	return res ? res : mini_driver.LaunchKernelEx(&config, function, NULL, extra);
}

/* `first` is the first operation of the launch, whose kernel runs `run` of the plan. */
static CUresult finish(struct mini_plan *plan, struct mini_launch *launch,
		       const struct mini_op *first, struct mini_plan *run)
{
	CUresult res = CUDA_ERROR_OUT_OF_MEMORY;

	if (mini_launch_finish(launch, run, plan->is_captured))
		res = launch_kernel(plan, launch);
	mini_launches_write(plan->comm, launch, first, plan->ops->stream,
			    plan->is_captured, (int) res);
	mini_launch_free(launch);
	return res;
}

/*
 * What does not fit into the arguments of one kernel goes into another one after it.  All
 * the data moves during the last, which is as well where only the last one's end counts.
 */
static CUresult launch_all(struct mini_plan *plan)
{
	const struct mini_op *first = plan->ops;
	struct mini_launch launch;
	const struct mini_op *op;
	CUresult res;

	if (!mini_launch_begin(&launch, plan->comm))
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (op = plan->ops; op; op = op->next) {
		if (mini_launch_add(&launch, op))
			continue;
		res = finish(plan, &launch, first, NULL);
		if (res)
			return res;
		first = op;
		if (!mini_launch_begin(&launch, plan->comm) ||
		    !mini_launch_add(&launch, op))
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return finish(plan, &launch, first, plan);
}

static CUresult launch_once(struct mini_plan *plan)
{
	struct ncclComm *comm = plan->comm;
	CUresult res;

	mini_proxy_expect(&comm->proxy);
	res = launch_all(plan);
	if (res) {
		mini_proxy_forget(&comm->proxy);
		mini_plan_destroy(plan);
		return res;
	}
	/* The plan belongs to the kernel once it can run to its end. */
	res = order_all(plan, false);
	mini_proxy_append(&comm->proxy, plan);
	return res;
}

static CUresult launch_captured(struct mini_plan *plan)
{
	CUresult res = mini_driver.LaunchHostFunc(plan->ops->stream, begin_replay, plan);

	plan->is_captured = true;
	if (!res)
		res = launch_all(plan);
	if (!res)
		res = order_all(plan, false);
	pthread_mutex_lock(&captured_lock);
	plan->next = captured;
	captured = plan;
	pthread_mutex_unlock(&captured_lock);
	return res;
}

ncclResult_t mini_plan_launch(struct mini_plan *plan)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUcontext before = NULL;
	CUresult res;

	mini_driver.CtxGetCurrent(&before);
	res = mini_driver.CtxSetCurrent(plan->comm->context);
	if (!res)
		res = mini_driver.StreamIsCapturing(plan->ops->stream, &status);
	if (!res)
		res = order_all(plan, true);
	if (res)
		mini_plan_destroy(plan);
	else if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
		res = launch_captured(plan);
	else
		res = launch_once(plan);
	mini_driver.CtxSetCurrent(before);
	return mini_driver_check(res);
}
