/* SPDX-License-Identifier: MIT */
/* From plans to kernels in a stream. */
#include "plan.h"

#include "arguments.h"
#include "comm.h"
#include "copies.h"
#include "delay.h"
#include "functions.h"
#include "launches.h"
#include "nvtx.h"
#include "result.h"
#include "symmetric.h"

#include <pthread.h>
#include <stdlib.h>

/* All that graphs were captured of, which may be launched until the process ends. */
static struct mini_plan *captured;
static pthread_mutex_t captured_lock = PTHREAD_MUTEX_INITIALIZER;

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
 * What a graph carries out at every launch of it is a copy of what was captured: it is
 * handed to the progress thread by the host function before the kernel, or by the kernel
 * where the proxy has nothing to do and so there is none.
 */
static void begin_replay(struct mini_plan *plan)
{
	struct mini_plan *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return;
	copy->comm = plan->comm;
	copy->ops = plan->ops;
	copy->works = plan->works;
	copy->parts = plan->parts;
	copy->part_count = plan->part_count;
	copy->channel_mask = plan->channel_mask;
	copy->is_copy = true;
	plan->replay = copy;
	mini_launches_replayed(plan);
	mini_proxy_expect(&plan->comm->proxy);
	mini_proxy_append(&plan->comm->proxy, copy);
}

static void host_function(void *data)
{
	struct mini_range range __attribute__((unused, cleanup(mini_range_end))) =
		mini_range_begin(MINI_RANGE_HOST_FUNCTION);
	struct mini_plan_profile profile = {.count = 0};
	struct mini_plan *plan = data;

	MINI_PROFILE(plan_begin(plan, &profile));
	begin_replay(plan);
	MINI_PROFILE(plan_end(&profile));
}

/* Where the proxy has messages to post, or a profiler to tell of the channels. */
static bool has_host_function(const struct mini_plan *plan)
{
	const struct mini_op *op;

	for (op = plan->ops; op; op = op->next) {
		if (op->channels || op->profile.mask & MINI_EVENT_KERNEL_CHANNEL)
			return true;
	}
	return false;
}

void mini_plan_kernel(struct mini_plan *plan)
{
	struct mini_plan *replay;

	if (!plan->is_captured) {
		mini_proxy_kernel(plan);
		return;
	}
	if (!has_host_function(plan))
		begin_replay(plan);
	replay = plan->replay;
	plan->replay = NULL;
	if (replay)
		mini_proxy_kernel(replay);
}

/* Clusters divide the grid. */
static unsigned int cluster_size(unsigned int grid)
{
	unsigned int size = 4;

	while (grid % size)
		size--;
	return size;
}

/* With parameters or, where these are NULL, a buffer. */
static CUresult launch_with(CUfunction function, CUstream stream, unsigned int blocks,
			    unsigned int threads, void **parameters, void *buffer,
			    size_t size)
{
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
				     .value.clusterDim = {cluster_size(blocks), 1, 1}};
	CUlaunchConfig config = {
		.gridDimX = blocks,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = threads,
		.blockDimY = 1,
		.blockDimZ = 1,
		.hStream = stream,
		.attrs = &cluster,
		.numAttrs = 1,
	};

	if (parameters)
		return mini_driver.LaunchKernelEx(&config, function, parameters, NULL);
	return mini_driver.LaunchKernelEx(&config, function, NULL, extra);
}

CUresult mini_kernel_launch(CUfunction function, CUstream stream, unsigned int blocks,
			    unsigned int threads, void *buffer, size_t size)
{
	return launch_with(function, stream, blocks, threads, NULL, buffer, size);
}

static CUresult launch_kernel(struct mini_plan *plan, struct mini_launch *launch)
{
	unsigned int blocks = (unsigned int) __builtin_popcountll(launch->channel_mask);
	void *parameters[] = {&plan->comm->device_comm, &launch->channel_mask,
			      &launch->work_head, &plan};
	CUfunction function;
	CUresult res = mini_kernel(launch->kernel, &function);

	return res ? res
		   : launch_with(function, plan->ops->stream, blocks, launch->threads,
				 mini_launch_is_ring() ? parameters : NULL,
				 launch->buffer, launch->size);
}

static CUresult launch(struct mini_plan *plan)
{
	CUresult res = CUDA_ERROR_OUT_OF_MEMORY;

	if (mini_launch_finish(plan->launch, plan, plan->is_captured)) {
		MINI_PROFILE(launch_begin(plan, plan->ops->stream));
		res = launch_kernel(plan, plan->launch);
		MINI_PROFILE(launch_end(plan));
	}
	mini_launches_write(plan->comm, plan->launch, plan->ops, plan->ops->stream,
			    plan->is_captured, (int) res);
	return res;
}

static CUresult launch_once(struct mini_plan *plan)
{
	struct mini_plan_profile profile = {.count = 0};
	struct ncclComm *comm = plan->comm;
	CUresult res;

	mini_proxy_expect(&comm->proxy);
	res = launch(plan);
	if (res) {
		mini_proxy_forget(&comm->proxy);
		mini_plan_destroy(plan);
		return res;
	}
	MINI_PROFILE(plan_begin(plan, &profile));
	/* The plan belongs to the kernel once it can run to its end. */
	mini_proxy_append(&comm->proxy, plan);
	MINI_PROFILE(plan_end(&profile));
	return res;
}

void mini_plan_keep(struct mini_plan *plan)
{
	pthread_mutex_lock(&captured_lock);
	plan->next = captured;
	captured = plan;
	pthread_mutex_unlock(&captured_lock);
}

static CUresult launch_captured(struct mini_plan *plan)
{
	struct mini_plan_profile profile = {.count = 0};
	CUresult res = CUDA_SUCCESS;

	plan->is_captured = true;
	if (has_host_function(plan))
		res = mini_driver.LaunchHostFunc(plan->ops->stream, host_function, plan);
	if (!res)
		res = launch(plan);
	/* What no host function does at each launch is done once, and now. */
	if (!res && !has_host_function(plan)) {
		MINI_PROFILE(plan_begin(plan, &profile));
		MINI_PROFILE(plan_end(&profile));
	}
	mini_plan_keep(plan);
	return res;
}

static CUresult launch_plan(struct mini_plan *plan, bool is_captured)
{
	switch (plan->kind) {
	case MINI_BY_SYMMETRIC_KERNEL:
		return mini_symmetric_launch(plan, is_captured);
	case MINI_BY_COPIES:
		return mini_copies_launch(plan, is_captured);
	default:
		return is_captured ? launch_captured(plan) : launch_once(plan);
	}
}

/* All streams that the calls of a group named; the first one's is that of the kernels. */
struct streams {
	CUstream *streams;
	size_t count;
};

static bool has_stream(const struct streams *streams, CUstream stream)
{
	size_t i;

	for (i = 0; i < streams->count; i++) {
		if (streams->streams[i] == stream)
			return true;
	}
	return false;
}

static bool find_streams(struct streams *streams, const struct mini_plan *plans)
{
	const struct mini_plan *plan;
	const struct mini_op *op;
	size_t count = 0;

	for (plan = plans; plan; plan = plan->next) {
		for (op = plan->ops; op; op = op->next)
			count++;
	}
	streams->count = 0;
	streams->streams = calloc(count + 1, sizeof(*streams->streams));
	if (!streams->streams)
		return false;
	for (plan = plans; plan; plan = plan->next) {
		for (op = plan->ops; op; op = op->next) {
			if (!has_stream(streams, op->stream))
				streams->streams[streams->count++] = op->stream;
		}
	}
	return true;
}

/* The kernels come after and before what is in the streams besides the first. */
static CUresult order_all(const struct streams *streams, bool is_before)
{
	CUresult res = CUDA_SUCCESS;
	size_t i;

	for (i = 1; i < streams->count && !res; i++)
		res = is_before ? order(streams->streams[i], streams->streams[0])
				: order(streams->streams[0], streams->streams[i]);
	return res;
}

/* Those that are not launched any more after a failure are gone. */
static CUresult launch_all(struct mini_plan *plans, CUstream stream, bool is_captured)
{
	CUresult res = CUDA_SUCCESS;
	struct mini_plan *plan;
	struct mini_op *op;

	while (plans) {
		plan = plans;
		plans = plan->next;
		plan->next = NULL;
		for (op = plan->ops; op; op = op->next)
			op->stream = stream;
		if (res)
			mini_plan_destroy(plan);
		else
			res = launch_plan(plan, is_captured);
	}
	return res;
}

ncclResult_t mini_plans_launch(struct mini_plan *plans)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUcontext before = NULL;
	struct streams streams;
	CUresult res;

	if (!find_streams(&streams, plans)) {
		mini_plans_destroy(plans);
		return mini_fail(ncclSystemError, "out of memory");
	}
	mini_delay_launch(plans->comm, plans->ops->ordinal);
	mini_driver.CtxGetCurrent(&before);
	res = mini_driver.CtxSetCurrent(plans->comm->context);
	if (!res)
		res = mini_driver.StreamIsCapturing(streams.streams[0], &status);
	if (!res)
		res = order_all(&streams, true);
	if (res)
		mini_plans_destroy(plans);
	else
		res = launch_all(plans, streams.streams[0],
				 status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
	if (!res)
		res = order_all(&streams, false);
	free(streams.streams);
	mini_driver.CtxSetCurrent(before);
	return mini_driver_check(res);
}
