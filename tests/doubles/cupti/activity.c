/* SPDX-License-Identifier: MIT */
/*
 * Which records are wanted, of which kinds and which calls; the thread's external
 * correlation; and what handles are called in records.
 */
#include "double.h"

#include <string.h>

enum { MAX_EXTERNAL = 256 };

static _Atomic uint8_t kinds[FAKE_KINDS];
/* 0: as the kind says; what is set for one call holds until its kind is enabled. */
static _Atomic uint8_t calls[2][FAKE_CBIDS];

static __thread struct {
	uint64_t ids[MAX_EXTERNAL];
	unsigned int depth;
} external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

bool fake_is_enabled(CUpti_ActivityKind kind)
{
	return kind && atomic_load_explicit(&kinds[kind], memory_order_relaxed);
}

bool fake_is_call_enabled(bool is_runtime, CUpti_CallbackId cbid)
{
	CUpti_ActivityKind kind =
		is_runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;

	return cbid && (fake_is_enabled(kind) || calls[is_runtime][cbid]);
}

void fake_disable_all(void)
{
	size_t i;

	for (i = 0; i < FAKE_KINDS; i++)
		kinds[i] = 0;
	for (i = 0; i < FAKE_CBIDS; i++) {
		calls[0][i] = 0;
		calls[1][i] = 0;
	}
}

static CUptiResult enable(CUpti_ActivityKind kind, bool is_enabled)
{
	size_t i;

	if ((int) kind <= 0 || (int) kind >= FAKE_KIND_COUNT)
		return CUPTI_ERROR_INVALID_KIND;
	/* One record for a whole graph instead of those of its nodes: not imitated. */
	if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && is_enabled)
		return CUPTI_ERROR_NOT_SUPPORTED;
	kinds[kind] = is_enabled;
	for (i = 0; i < FAKE_CBIDS && (kind == CUPTI_ACTIVITY_KIND_DRIVER ||
				       kind == CUPTI_ACTIVITY_KIND_RUNTIME);
	     i++)
		calls[kind == CUPTI_ACTIVITY_KIND_RUNTIME][i] = 0;
	fake_log("%s kind=%d", is_enabled ? "enable" : "disable", (int) kind);
	return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	return res ? res : enable(kind, true);
}

FAKE_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	return res ? res : enable(kind, false);
}

FAKE_EXPORT CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	if (res)
		return res;
	res = enable(kind, true);
	if (res == CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		fake_queue_contexts();
	return res;
}

#if FAKE_CUPTI_VERSION >= 12050
static CUptiResult enable_call(bool is_runtime, CUpti_CallbackId cbid, uint8_t enabled)
{
	if (cbid == 0 || cbid >= (is_runtime ? FAKE_RUNTIME_CBIDS : FAKE_DRIVER_CBIDS))
		return CUPTI_ERROR_INVALID_PARAMETER;
	calls[is_runtime][cbid] = enabled != 0;
	fake_log("%s %s=%u", enabled ? "enable" : "disable",
		 is_runtime ? "runtime" : "driver", cbid);
	return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid,
						     uint8_t enabled)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	return res ? res : enable_call(false, cbid, enabled);
}

FAKE_EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid,
						      uint8_t enabled)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	return res ? res : enable_call(true, cbid, enabled);
}
#endif

/* That a kernel's times of being queued are wanted changes nothing here. */
FAKE_EXPORT CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enabled)
{
	(void) enabled;
	return fake_begin_with_driver(__func__);
}

static bool is_external_kind(CUpti_ExternalCorrelationKind kind)
{
	return (int) kind > 0 && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

FAKE_EXPORT CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	if (res)
		return res;
	if (!is_external_kind(kind))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (external[kind].depth == MAX_EXTERNAL)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	external[kind].ids[external[kind].depth++] = id;
	return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(
	CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	if (res)
		return res;
	if (!is_external_kind(kind))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (external[kind].depth == 0)
		return CUPTI_ERROR_QUEUE_EMPTY;
	external[kind].depth--;
	if (lastId)
		*lastId = external[kind].ids[external[kind].depth];
	return CUPTI_SUCCESS;
}

void fake_queue_external(uint32_t correlation)
{
	size_t kind;

	if (!fake_is_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
		return;
	for (kind = 0; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; kind++) {
		if (external[kind].depth == 0)
			continue;
		fake_queue_record(
			&(CUpti_ActivityExternalCorrelation){
				.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
				.externalKind = (CUpti_ExternalCorrelationKind) kind,
				.externalId =
					external[kind].ids[external[kind].depth - 1],
				.correlationId = correlation,
			},
			false);
	}
}

FAKE_EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	if (res)
		return res;
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (!contextId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*contextId = fake_driver->context_id(context);
	return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	if (res)
		return res;
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (!deviceId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*deviceId = fake_driver->context_device(context);
	return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream,
					   uint8_t perThreadStream, uint32_t *streamId)
{
	CUptiResult res = fake_begin_with_driver(__func__);

	if (res)
		return res;
	if (!streamId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*streamId = (uint32_t) fake_driver->stream_id(context, stream, perThreadStream);
	return *streamId ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
}

FAKE_EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
	CUptiResult res = fake_begin(__func__);

	if (res)
		return res;
	if (!node || !nodeId || !fake_driver)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*nodeId = fake_driver->node_id(node);
	return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *pId)
{
	CUptiResult res = fake_begin(__func__);

	if (res)
		return res;
	if (!graph || !pId || !fake_driver)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = fake_driver->graph_id(graph);
	return CUPTI_SUCCESS;
}

#if FAKE_CUPTI_VERSION >= 12000
FAKE_EXPORT CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId)
{
	CUptiResult res = fake_begin(__func__);

	if (res)
		return res;
	if (!graphExec || !pId || !fake_driver)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = fake_driver->exec_id(graphExec);
	return CUPTI_SUCCESS;
}
#endif

/* Everybody's: nothing is left of what was asked for, or not yet delivered. */
FAKE_EXPORT CUptiResult cuptiFinalize(void)
{
	CUptiResult res = fake_begin(__func__);

	if (res)
		return res;
	fake_log("finalize");
	fake_forget_subscriber();
	fake_disable_all();
	fake_discard();
	return CUPTI_SUCCESS;
}
