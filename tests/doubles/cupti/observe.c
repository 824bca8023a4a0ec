/* SPDX-License-Identifier: MIT */
/*
 * What the driver double tells, as the callbacks and records that CUPTI makes of it: of a
 * call when it begins and ends, of work on the device when it is done.
 */
#include "double.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEPTH = 8, MAX_CONTEXTS = 256 };

struct open_call {
	uint64_t begin;
	/* What the subscriber may keep from the beginning of a call to its end. */
	uint64_t data;
	CUpti_CallbackId cbid;
};

/* A call of the runtime has calls of the driver in it. */
static __thread struct open_call open_calls[MAX_DEPTH];
static __thread unsigned int depth;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* For as long as the process, as CUPTI's own: a record holds no name but points to one.
 */
static struct name {
	struct name *next;
	char text[];
} * names;
static CUcontext contexts[MAX_CONTEXTS];

static const char *keep_name(const char *text)
{
	struct name *name;

	pthread_mutex_lock(&lock);
	for (name = names; name; name = name->next) {
		if (strcmp(name->text, text) == 0)
			break;
	}
	if (!name) {
		name = malloc(sizeof(*name) + strlen(text) + 1);
		if (name) {
			strcpy(name->text, text);
			name->next = names;
			names = name;
		}
	}
	pthread_mutex_unlock(&lock);
	return name ? name->text : NULL;
}

static void fire_call(const struct double_observed_call *call, struct open_call *open,
		      CUpti_ApiCallbackSite site)
{
	int result = call->result;
	CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = call->entry,
		.functionReturnValue = site == CUPTI_API_EXIT ? &result : NULL,
		.context = call->context,
		.contextUid =
			call->context ? double_driver->context_id(call->context) : 0,
		.correlationData = &open->data,
		.correlationId = (uint32_t) call->correlation,
	};

	double_fire(call->is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API
				     : CUPTI_CB_DOMAIN_DRIVER_API,
		    open->cbid, &data);
}

static void enter(const struct double_observed_call *call)
{
	struct open_call *open = &open_calls[depth < MAX_DEPTH ? depth : MAX_DEPTH - 1];

	depth++;
	open->cbid = double_cbid(call->entry, call->is_runtime);
	open->data = 0;
	open->begin =
		double_is_call_enabled(call->is_runtime, open->cbid) ? double_time() : 0;
	fire_call(call, open, CUPTI_API_ENTER);
}

static void queue_call(const struct double_observed_call *call,
		       const struct open_call *open)
{
	double_queue_external((uint32_t) call->correlation);
	double_queue_record(
		&(CUpti_ActivityAPI){
			.kind = call->is_runtime ? CUPTI_ACTIVITY_KIND_RUNTIME
						 : CUPTI_ACTIVITY_KIND_DRIVER,
			.cbid = open->cbid,
			.start = open->begin,
			.end = double_time(),
			.processId = (uint32_t) getpid(),
			.threadId = (uint32_t) gettid(),
			.correlationId = (uint32_t) call->correlation,
			.returnValue = (uint32_t) call->result,
		},
		false);
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Calls that wait, by the names that they are exported by. */
static CUpti_ActivitySynchronizationType waits(const char *entry)
{
	if (begins_with(entry, "cuEventSynchronize"))
		return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
	if (begins_with(entry, "cuStreamWaitEvent"))
		return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
	if (begins_with(entry, "cuStreamSynchronize"))
		return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
	if (begins_with(entry, "cuCtxSynchronize"))
		return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
	return (CUpti_ActivitySynchronizationType) 0;
}

static void queue_wait(const struct double_observed_call *call,
		       CUpti_ActivitySynchronizationType type, uint64_t begin)
{
	bool of_stream = type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE ||
			 type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
	uint64_t stream = CUPTI_SYNCHRONIZATION_INVALID_VALUE;

	if (of_stream)
		stream = double_driver->stream_id(call->context, call->stream, false);
	double_queue_record(
		&(double_synchronization){
			.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
			.type = type,
			.start = begin,
			.end = double_time(),
			.correlationId = (uint32_t) call->correlation,
			.contextId = call->context
					     ? double_driver->context_id(call->context)
					     : 0,
			.streamId = (uint32_t) stream,
			.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		},
		false);
}

static void leave(const struct double_observed_call *call)
{
	CUpti_ActivitySynchronizationType type;
	struct open_call *open;

	/* Who came in the middle of a call has not seen it begin. */
	if (depth == 0)
		return;
	depth--;
	open = &open_calls[depth < MAX_DEPTH ? depth : MAX_DEPTH - 1];
	fire_call(call, open, CUPTI_API_EXIT);
	if (open->begin && double_is_call_enabled(call->is_runtime, open->cbid))
		queue_call(call, open);
	type = call->is_runtime ? (CUpti_ActivitySynchronizationType) 0
				: waits(call->entry);
	if (type && double_is_enabled(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION))
		queue_wait(call, type, open->begin ? open->begin : double_time());
	double_prepare_buffer();
}

/* Which kind of record work makes, as it is wanted when the work is put into a stream. */
static CUpti_ActivityKind work_kind(CUgraphNodeType type)
{
	switch (type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		if (double_is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
			return CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
		return CUPTI_ACTIVITY_KIND_KERNEL;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return CUPTI_ACTIVITY_KIND_MEMCPY;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return CUPTI_ACTIVITY_KIND_MEMSET;
	default:
		return CUPTI_ACTIVITY_KIND_INVALID;
	}
}

static uint64_t queued(CUgraphNodeType type)
{
	CUpti_ActivityKind kind = work_kind(type);

	if (double_is_enabled(kind))
		return kind;
	/* Which of the two a copy is shows when it ran. */
	if (kind == CUPTI_ACTIVITY_KIND_MEMCPY &&
	    double_is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY2))
		return CUPTI_ACTIVITY_KIND_MEMCPY2;
	return 0;
}

static void kernel_ran(const struct double_observed_work *work, CUpti_ActivityKind kind)
{
	static _Atomic int64_t grids;
	int cluster = work->cluster != 0;

	double_queue_record(
		&(double_kernel){
			.kind = kind,
			.registersPerThread = 32,
			.start = (uint64_t) work->begin_ns,
			.end = (uint64_t) work->end_ns,
			.completed = (uint64_t) work->end_ns,
			.deviceId = work->device,
			.contextId = work->context,
			.streamId = (uint32_t) work->stream_id,
			.gridX = (int32_t) work->grid[0],
			.gridY = (int32_t) work->grid[1],
			.gridZ = (int32_t) work->grid[2],
			.blockX = (int32_t) work->block[0],
			.blockY = (int32_t) work->block[1],
			.blockZ = (int32_t) work->block[2],
			.dynamicSharedMemory = (int32_t) work->shared,
			.correlationId = (uint32_t) work->correlation,
			.gridId = atomic_fetch_add(&grids, 1) + 1,
			.name = keep_name(work->name),
			.graphNodeId = work->node,
			.graphId = (uint32_t) (work->node >> 32),
			.channelID = (uint32_t) work->stream_id,
			.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
			.clusterX = work->cluster,
			.clusterY = (uint32_t) cluster,
			.clusterZ = (uint32_t) cluster,
		},
		true);
}

static uint8_t memory_kind(bool is_device)
{
	return is_device ? CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
			 : CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

static void peer_copy_ran(const struct double_observed_work *work)
{
	double_queue_record(
		&(CUpti_ActivityMemcpyPtoP4){
			.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
			.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
			.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
			.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
			.flags = 1,
			.bytes = work->bytes,
			.start = (uint64_t) work->begin_ns,
			.end = (uint64_t) work->end_ns,
			.deviceId = work->device,
			.contextId = work->context,
			.streamId = (uint32_t) work->stream_id,
			.srcDeviceId = work->from_device_number,
			.srcContextId = work->from_context,
			.dstDeviceId = work->to_device_number,
			.dstContextId = work->to_context,
			.correlationId = (uint32_t) work->correlation,
			.graphNodeId = work->node,
			.graphId = (uint32_t) (work->node >> 32),
			.channelID = (uint32_t) work->stream_id,
			.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
		},
		true);
}

static void copy_ran(const struct double_observed_work *work)
{
	static const uint8_t kinds[2][2] = {
		{CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD},
		{CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD},
	};

	double_queue_record(
		&(double_memcpy){
			.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
			.copyKind = kinds[work->from_device][work->to_device],
			.srcKind = memory_kind(work->from_device),
			.dstKind = memory_kind(work->to_device),
			.flags = 1,
			.bytes = work->bytes,
			.start = (uint64_t) work->begin_ns,
			.end = (uint64_t) work->end_ns,
			.deviceId = work->device,
			.contextId = work->context,
			.streamId = (uint32_t) work->stream_id,
			.correlationId = (uint32_t) work->correlation,
			.graphNodeId = work->node,
			.graphId = (uint32_t) (work->node >> 32),
			.channelID = (uint32_t) work->stream_id,
			.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
		},
		true);
}

static void set_ran(const struct double_observed_work *work)
{
	double_queue_record(
		&(CUpti_ActivityMemset4){
			.kind = CUPTI_ACTIVITY_KIND_MEMSET,
			.value = work->value,
			.bytes = work->bytes,
			.start = (uint64_t) work->begin_ns,
			.end = (uint64_t) work->end_ns,
			.deviceId = work->device,
			.contextId = work->context,
			.streamId = (uint32_t) work->stream_id,
			.correlationId = (uint32_t) work->correlation,
			.flags = 1,
			.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
			.graphNodeId = work->node,
			.graphId = (uint32_t) (work->node >> 32),
			.channelID = (uint32_t) work->stream_id,
			.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
		},
		true);
}

static void ran(const struct double_observed_work *work, uint64_t kind)
{
	if (work->type == CU_GRAPH_NODE_TYPE_KERNEL)
		kernel_ran(work, (CUpti_ActivityKind) kind);
	else if (work->type == CU_GRAPH_NODE_TYPE_MEMSET)
		set_ran(work);
	else if (work->from_context && double_is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY2))
		peer_copy_ran(work);
	else if (!work->from_context && kind == CUPTI_ACTIVITY_KIND_MEMCPY)
		copy_ran(work);
}

static void queue_context(CUcontext context)
{
	double_queue_record(
		&(double_context){
			.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
			.contextId = double_driver->context_id(context),
			.deviceId = double_driver->context_device(context),
			.computeApiKind = 1,
		},
		false);
}

static void replace_context(CUcontext from, CUcontext to)
{
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_CONTEXTS; i++) {
		if (contexts[i] != from)
			continue;
		contexts[i] = to;
		break;
	}
	pthread_mutex_unlock(&lock);
}

void double_queue_contexts(void)
{
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_CONTEXTS; i++) {
		if (contexts[i])
			queue_context(contexts[i]);
	}
	pthread_mutex_unlock(&lock);
}

static void queue_stream(const struct double_observed_thing *thing)
{
	double_queue_record(
		&(CUpti_ActivityStream){
			.kind = CUPTI_ACTIVITY_KIND_STREAM,
			.contextId = double_driver->context_id(thing->context),
			.streamId =
				(uint32_t) double_driver->stream_id(thing->context,
								    thing->stream, false),
		},
		false);
}

static CUpti_CallbackId resource_cbid(enum double_observed_what what)
{
	static const CUpti_CallbackId cbids[] = {
		[DOUBLE_CONTEXT_CREATED] = CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
		[DOUBLE_CONTEXT_DESTROYED] = CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
		[DOUBLE_STREAM_CREATED] = CUPTI_CBID_RESOURCE_STREAM_CREATED,
		[DOUBLE_STREAM_DESTROYED] = CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
		[DOUBLE_INIT_FINISHED] = CUPTI_CBID_RESOURCE_CU_INIT_FINISHED,
		[DOUBLE_GRAPH_CREATED] = CUPTI_CBID_RESOURCE_GRAPH_CREATED,
		[DOUBLE_GRAPH_DESTROYED] = CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
		[DOUBLE_GRAPH_CLONED] = CUPTI_CBID_RESOURCE_GRAPH_CLONED,
		[DOUBLE_NODE_CREATED] = CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
		[DOUBLE_NODE_CLONED] = CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
		[DOUBLE_EXEC_CREATED] = CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
		[DOUBLE_EXEC_DESTROYED] = CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
	};

	return cbids[what];
}

static void changed(enum double_observed_what what,
		    const struct double_observed_thing *thing)
{
	CUpti_GraphData graph = {
		.graph = thing->graph,
		.originalGraph = thing->original_graph,
		.node = thing->node,
		.originalNode = thing->original,
		.nodeType = thing->type,
		.graphExec = thing->exec,
	};
	CUpti_ResourceData data = {
		.context = thing->context,
		.resourceHandle.stream = thing->stream,
		.resourceDescriptor = thing->graph ? &graph : NULL,
	};

	double_fire(CUPTI_CB_DOMAIN_RESOURCE, resource_cbid(what), &data);
	if (what == DOUBLE_CONTEXT_CREATED) {
		replace_context(NULL, thing->context);
		if (double_is_enabled(CUPTI_ACTIVITY_KIND_CONTEXT))
			queue_context(thing->context);
	} else if (what == DOUBLE_CONTEXT_DESTROYED) {
		replace_context(thing->context, NULL);
	} else if (what == DOUBLE_STREAM_CREATED &&
		   double_is_enabled(CUPTI_ACTIVITY_KIND_STREAM)) {
		queue_stream(thing);
	}
}

const struct double_observer double_observer = {
	.enter = enter,
	.leave = leave,
	.queued = queued,
	.ran = ran,
	.changed = changed,
};
