/* SPDX-License-Identifier: MIT */
/*
 * Which records are wanted, of which kinds and which calls; the thread's external
 * correlation; and what handles are called in records.
 */
#include "double.h"

#include <string.h>

enum { MAX_EXTERNAL = 256 };

static _Atomic uint8_t kinds[DOUBLE_KINDS];
/* 0: as the kind says; what is set for one call holds until its kind is enabled. */
static _Atomic uint8_t calls[2][DOUBLE_CBIDS];

static __thread struct {
	uint64_t ids[MAX_EXTERNAL];
	unsigned int depth;
} external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

bool double_is_enabled(CUpti_ActivityKind kind)
{
	return kind && atomic_load_explicit(&kinds[kind], memory_order_relaxed);
}

bool double_is_call_enabled(bool is_runtime, CUpti_CallbackId cbid)
{
	CUpti_ActivityKind kind =
		is_runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;

	return cbid && (double_is_enabled(kind) || calls[is_runtime][cbid]);
}

void double_disable_all(void)
{
	size_t i;

	for (i = 0; i < DOUBLE_KINDS; i++)
		kinds[i] = 0;
	for (i = 0; i < DOUBLE_CBIDS; i++) {
		calls[0][i] = 0;
		calls[1][i] = 0;
	}
}

static CUptiResult enable(CUpti_ActivityKind kind, bool is_enabled)
{
	size_t i;

	if ((int) kind <= 0 || (int) kind >= DOUBLE_KIND_COUNT)
		return CUPTI_ERROR_INVALID_KIND;
	/* One record for a whole graph instead of those of its nodes: not imitated. */
	if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && is_enabled)
		return CUPTI_ERROR_NOT_SUPPORTED;
	kinds[kind] = is_enabled;
	for (i = 0; i < DOUBLE_CBIDS && (kind == CUPTI_ACTIVITY_KIND_DRIVER ||
					 kind == CUPTI_ACTIVITY_KIND_RUNTIME);
	     i++)
		calls[kind == CUPTI_ACTIVITY_KIND_RUNTIME][i] = 0;
	double_log("%s kind=%d", is_enabled ? "enable" : "disable", (int) kind);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult res = double_begin_with_driver(__func__);

	return res ? res : enable(kind, true);
}

DOUBLE_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CUptiResult res = double_begin_with_driver(__func__);

	return res ? res : enable(kind, false);
}

DOUBLE_EXPORT CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	CUptiResult res = double_begin_with_driver(__func__);

	if (res)
		return res;
	res = enable(kind, true);
	if (res == CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		double_queue_contexts();
	return res;
}

#if DOUBLE_CUPTI_VERSION >= 12050
static CUptiResult enable_call(bool is_runtime, CUpti_CallbackId cbid, uint8_t enabled)
{
	if (cbid == 0 ||
	    cbid >= (is_runtime ? DOUBLE_RUNTIME_CBIDS : DOUBLE_DRIVER_CBIDS))
		return CUPTI_ERROR_INVALID_PARAMETER;
	calls[is_runtime][cbid] = enabled != 0;
	double_log("%s %s=%u", enabled ? "enable" : "disable",
		   is_runtime ? "runtime" : "driver", cbid);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid,
						       uint8_t enabled)
{
	CUptiResult res = double_begin_with_driver(__func__);

	return res ? res : enable_call(false, cbid, enabled);
}

DOUBLE_EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid,
							uint8_t enabled)
{
	CUptiResult res = double_begin_with_driver(__func__);

	return res ? res : enable_call(true, cbid, enabled);
}
#endif

/* That a kernel's times of being queued are wanted changes nothing here. */
DOUBLE_EXPORT CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enabled)
{
	(void) enabled;
	return double_begin_with_driver(__func__);
}

static bool is_external_kind(CUpti_ExternalCorrelationKind kind)
{
	return (int) kind > 0 && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

DOUBLE_EXPORT CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	CUptiResult res = double_begin_with_driver(__func__);

	if (res)
		return res;
	if (!is_external_kind(kind))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (external[kind].depth == MAX_EXTERNAL)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	external[kind].ids[external[kind].depth++] = id;
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(
	CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
	CUptiResult res = double_begin_with_driver(__func__);

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

void double_queue_external(uint32_t correlation)
{
	size_t kind;

	if (!double_is_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
		return;
	for (kind = 0; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; kind++) {
		if (external[kind].depth == 0)
			continue;
		double_queue_record(
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

DOUBLE_EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
	CUptiResult res = double_begin_with_driver(__func__);

	if (res)
		return res;
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (!contextId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*contextId = double_driver->context_id(context);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
	CUptiResult res = double_begin_with_driver(__func__);

	if (res)
		return res;
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (!deviceId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*deviceId = double_driver->context_device(context);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream,
					     uint8_t perThreadStream, uint32_t *streamId)
{
	CUptiResult res = double_begin_with_driver(__func__);

	if (res)
		return res;
	if (!streamId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*streamId = (uint32_t) double_driver->stream_id(context, stream, perThreadStream);
	return *streamId ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
}

DOUBLE_EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!node || !nodeId || !double_driver)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*nodeId = double_driver->node_id(node);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *pId)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!graph || !pId || !double_driver)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = double_driver->graph_id(graph);
	return CUPTI_SUCCESS;
}

#if DOUBLE_CUPTI_VERSION >= 12000
DOUBLE_EXPORT CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!graphExec || !pId || !double_driver)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = double_driver->exec_id(graphExec);
	return CUPTI_SUCCESS;
}
#endif

/* Everybody's: nothing is left of what was asked for, or not yet delivered. */
DOUBLE_EXPORT CUptiResult cuptiFinalize(void)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	double_log("finalize");
	double_forget_subscriber();
	double_disable_all();
	double_discard();
	return CUPTI_SUCCESS;
}
