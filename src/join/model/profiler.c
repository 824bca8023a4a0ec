/* SPDX-License-Identifier: MIT */
/* What a span shows, by its layer and by what NCCL is known to do with it. */
#include "join/model/profiler.h"

#include <string.h>

/* A collective that is made of copies has batches of copies, and of signals. */
static const char *copy_event(const struct tap_span *span)
{
	const char *kind = tap_fields_get_string(&span->entry, "kernel_kind");

	if (!kind || strcmp(kind, "copy_engine"))
		return NULL;
	return strncmp(span->name->name, "cuMemcpyBatch", 13) ? "CeSync" : "CeBatch";
}

static bool is_of_nccl(const struct tap_span *span)
{
	const char *kind = tap_fields_get_string(&span->entry, "kernel_kind");

	return kind && (!strcmp(kind, "collective") || !strcmp(kind, "symmetric"));
}

static const char *work_event(const struct tap_span *span)
{
	switch (span->work.kind) {
	case TAP_WORK_NET_SEND:
	case TAP_WORK_NET_RECEIVE:
		return "ProxyStep";
	case TAP_WORK_PROXY_OP:
		return "ProxyOp";
	case TAP_WORK_PROXY_CTRL:
		return "ProxyCtrl";
	case TAP_WORK_GPU:
		return is_of_nccl(span) ? "KernelCh" : NULL;
	default:
		return tap_fields_find(&span->exit, "net") ? "NetPlugin" : NULL;
	}
}

static const char *call_event(const struct tap_span *span)
{
	switch (span->name->kind) {
	case TAP_NAME_GROUP_START:
	case TAP_NAME_GROUP_END:
		return "GroupApi";
	case TAP_NAME_SEND:
	case TAP_NAME_RECEIVE:
		return "P2pApi";
	case TAP_NAME_COLLECTIVE:
		break;
	}
	return span->operation.number ? "CollApi" : NULL;
}

const char *tap_profiler_event(const struct tap_span *span)
{
	if (span->work.kind)
		return work_event(span);
	if (span->name->cuda)
		return span->name->cuda == TAP_CUDA_KERNEL && is_of_nccl(span)
			       ? "KernelLaunch"
			       : copy_event(span);
	if (!span->name->is_nccl || span->is_inner || span->is_from_nvtx)
		return NULL;
	return call_event(span);
}
