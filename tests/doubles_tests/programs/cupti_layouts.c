/* SPDX-License-Identifier: MIT */
/* Prints what include/cupti.h says of records, or with THEIRS what the real headers say.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef THEIRS
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>
#else
#include <cupti.h>
#endif

#define VALUE(name) printf("%s: %lld\n", #name, (long long) (int) (name));
#define SIZE(type) printf("%s: %zu bytes\n", #type, sizeof(type));
#define MEMBER(type, member) \
	printf("%s.%s: %zu at %zu\n", #type, #member, sizeof(((type *) 0)->member), \
	       offsetof(type, member));

/* clang-format off */
#define KERNEL(of) \
	SIZE(of) MEMBER(of, kind) MEMBER(of, cacheConfig) \
	MEMBER(of, sharedMemoryConfig) MEMBER(of, registersPerThread) \
	MEMBER(of, partitionedGlobalCacheRequested) \
	MEMBER(of, partitionedGlobalCacheExecuted) MEMBER(of, start) \
	MEMBER(of, end) MEMBER(of, completed) MEMBER(of, deviceId) \
	MEMBER(of, contextId) MEMBER(of, streamId) MEMBER(of, gridX) \
	MEMBER(of, gridY) MEMBER(of, gridZ) MEMBER(of, blockX) \
	MEMBER(of, blockY) MEMBER(of, blockZ) MEMBER(of, staticSharedMemory) \
	MEMBER(of, dynamicSharedMemory) MEMBER(of, localMemoryPerThread) \
	MEMBER(of, localMemoryTotal) MEMBER(of, correlationId) MEMBER(of, gridId) \
	MEMBER(of, name) MEMBER(of, queued) MEMBER(of, submitted) \
	MEMBER(of, launchType) MEMBER(of, sharedMemoryExecuted) \
	MEMBER(of, graphNodeId) MEMBER(of, shmemLimitConfig) MEMBER(of, graphId) \
	MEMBER(of, pAccessPolicyWindow) MEMBER(of, channelID) \
	MEMBER(of, channelType) MEMBER(of, clusterX) MEMBER(of, clusterY) \
	MEMBER(of, clusterZ) MEMBER(of, clusterSchedulingPolicy) \
	MEMBER(of, localMemoryTotal_v2)
#define COPY(of) \
	SIZE(of) MEMBER(of, kind) MEMBER(of, copyKind) MEMBER(of, srcKind) \
	MEMBER(of, dstKind) MEMBER(of, flags) MEMBER(of, bytes) \
	MEMBER(of, start) MEMBER(of, end) MEMBER(of, deviceId) \
	MEMBER(of, contextId) MEMBER(of, streamId) MEMBER(of, correlationId) \
	MEMBER(of, graphNodeId) MEMBER(of, graphId) MEMBER(of, channelID) \
	MEMBER(of, channelType)
#define OVERHEAD(of) \
	SIZE(of) MEMBER(of, overheadKind) MEMBER(of, objectKind) \
	MEMBER(of, objectId) MEMBER(of, start) MEMBER(of, end)
#define SYNCHRONIZATION(of) \
	SIZE(of) MEMBER(of, type) MEMBER(of, start) MEMBER(of, end) \
	MEMBER(of, correlationId) MEMBER(of, contextId) MEMBER(of, streamId) \
	MEMBER(of, cudaEventId)
#define CONTEXT(of) \
	SIZE(of) MEMBER(of, contextId) MEMBER(of, deviceId) \
	MEMBER(of, computeApiKind) MEMBER(of, nullStreamId)
/* clang-format on */

static void print_records(void)
{
	KERNEL(CUpti_ActivityKernel8)
	COPY(CUpti_ActivityMemcpy5)
	COPY(CUpti_ActivityMemcpyPtoP4)
	MEMBER(CUpti_ActivityMemcpyPtoP4, srcDeviceId)
	MEMBER(CUpti_ActivityMemcpyPtoP4, srcContextId)
	MEMBER(CUpti_ActivityMemcpyPtoP4, dstDeviceId)
	MEMBER(CUpti_ActivityMemcpyPtoP4, dstContextId)
	SIZE(CUpti_ActivityMemset4)
	MEMBER(CUpti_ActivityMemset4, value)
	MEMBER(CUpti_ActivityMemset4, bytes)
	MEMBER(CUpti_ActivityMemset4, start)
	MEMBER(CUpti_ActivityMemset4, end)
	MEMBER(CUpti_ActivityMemset4, deviceId)
	MEMBER(CUpti_ActivityMemset4, contextId)
	MEMBER(CUpti_ActivityMemset4, streamId)
	MEMBER(CUpti_ActivityMemset4, correlationId)
	MEMBER(CUpti_ActivityMemset4, flags)
	MEMBER(CUpti_ActivityMemset4, memoryKind)
	MEMBER(CUpti_ActivityMemset4, graphNodeId)
	MEMBER(CUpti_ActivityMemset4, graphId)
	MEMBER(CUpti_ActivityMemset4, channelID)
	SIZE(CUpti_ActivityAPI)
	MEMBER(CUpti_ActivityAPI, cbid)
	MEMBER(CUpti_ActivityAPI, start)
	MEMBER(CUpti_ActivityAPI, end)
	MEMBER(CUpti_ActivityAPI, processId)
	MEMBER(CUpti_ActivityAPI, threadId)
	MEMBER(CUpti_ActivityAPI, correlationId)
	MEMBER(CUpti_ActivityAPI, returnValue)
	SIZE(CUpti_ActivityExternalCorrelation)
	MEMBER(CUpti_ActivityExternalCorrelation, externalKind)
	MEMBER(CUpti_ActivityExternalCorrelation, externalId)
	MEMBER(CUpti_ActivityExternalCorrelation, correlationId)
	OVERHEAD(CUpti_ActivityOverhead)
	SYNCHRONIZATION(CUpti_ActivitySynchronization)
	CONTEXT(CUpti_ActivityContext)
	SIZE(CUpti_ActivityStream)
	MEMBER(CUpti_ActivityStream, contextId)
	MEMBER(CUpti_ActivityStream, streamId)
#if DOUBLE_CUPTI_VERSION >= 12000
	KERNEL(CUpti_ActivityKernel9)
	MEMBER(CUpti_ActivityKernel9, maxActiveClusters)
	COPY(CUpti_ActivityMemcpy6)
	MEMBER(CUpti_ActivityMemcpy6, copyCount)
	OVERHEAD(CUpti_ActivityOverhead3)
	MEMBER(CUpti_ActivityOverhead3, correlationId)
	SYNCHRONIZATION(CUpti_ActivitySynchronization2)
	MEMBER(CUpti_ActivitySynchronization2, returnValue)
	CONTEXT(CUpti_ActivityContext3)
	MEMBER(CUpti_ActivityContext3, numMultiprocessors)
#endif
#if DOUBLE_CUPTI_VERSION >= 13000
	KERNEL(CUpti_ActivityKernel10)
	MEMBER(CUpti_ActivityKernel10, isDeviceLaunched)
	SIZE(CUpti_SubscriberParams)
	MEMBER(CUpti_SubscriberParams, subscriberName)
	MEMBER(CUpti_SubscriberParams, oldSubscriberName)
	MEMBER(CUpti_SubscriberParams, oldSubscriberSize)
#endif
}

static void print_callbacks(void)
{
	SIZE(CUpti_CallbackData)
	MEMBER(CUpti_CallbackData, callbackSite)
	MEMBER(CUpti_CallbackData, functionName)
	MEMBER(CUpti_CallbackData, functionParams)
	MEMBER(CUpti_CallbackData, functionReturnValue)
	MEMBER(CUpti_CallbackData, symbolName)
	MEMBER(CUpti_CallbackData, context)
	MEMBER(CUpti_CallbackData, contextUid)
	MEMBER(CUpti_CallbackData, correlationData)
	MEMBER(CUpti_CallbackData, correlationId)
	SIZE(CUpti_ResourceData)
	MEMBER(CUpti_ResourceData, context)
	MEMBER(CUpti_ResourceData, resourceHandle)
	MEMBER(CUpti_ResourceData, resourceDescriptor)
	SIZE(CUpti_GraphData)
	MEMBER(CUpti_GraphData, graph)
	MEMBER(CUpti_GraphData, originalGraph)
	MEMBER(CUpti_GraphData, node)
	MEMBER(CUpti_GraphData, originalNode)
	MEMBER(CUpti_GraphData, nodeType)
	MEMBER(CUpti_GraphData, dependency)
	MEMBER(CUpti_GraphData, graphExec)
}

static void print_values(void)
{
	VALUE(CUPTI_CB_DOMAIN_DRIVER_API)
	VALUE(CUPTI_CB_DOMAIN_RUNTIME_API)
	VALUE(CUPTI_CB_DOMAIN_RESOURCE)
	VALUE(CUPTI_CB_DOMAIN_SYNCHRONIZE)
	VALUE(CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
	VALUE(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
	VALUE(CUPTI_CBID_RESOURCE_STREAM_CREATED)
	VALUE(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)
	VALUE(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
	VALUE(CUPTI_CBID_RESOURCE_GRAPH_CREATED)
	VALUE(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING)
	VALUE(CUPTI_CBID_RESOURCE_GRAPH_CLONED)
	VALUE(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
	VALUE(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
	VALUE(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING)
	VALUE(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
	VALUE(CUPTI_API_ENTER)
	VALUE(CUPTI_API_EXIT)
	VALUE(CUPTI_ACTIVITY_KIND_MEMCPY)
	VALUE(CUPTI_ACTIVITY_KIND_MEMSET)
	VALUE(CUPTI_ACTIVITY_KIND_KERNEL)
	VALUE(CUPTI_ACTIVITY_KIND_DRIVER)
	VALUE(CUPTI_ACTIVITY_KIND_RUNTIME)
	VALUE(CUPTI_ACTIVITY_KIND_DEVICE)
	VALUE(CUPTI_ACTIVITY_KIND_CONTEXT)
	VALUE(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
	VALUE(CUPTI_ACTIVITY_KIND_OVERHEAD)
	VALUE(CUPTI_ACTIVITY_KIND_MEMCPY2)
	VALUE(CUPTI_ACTIVITY_KIND_CUDA_EVENT)
	VALUE(CUPTI_ACTIVITY_KIND_STREAM)
	VALUE(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
	VALUE(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
	VALUE(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
	VALUE(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
	VALUE(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
	VALUE(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2)
	VALUE(CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
	VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
	VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
	VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
	VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_HTOH)
	VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
	VALUE(CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE)
	VALUE(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE)
	VALUE(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE)
	VALUE(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
	VALUE(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
	VALUE(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
	VALUE(CUPTI_SYNCHRONIZATION_INVALID_VALUE)
	VALUE(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH)
	VALUE(CUPTI_ACTIVITY_OBJECT_THREAD)
	VALUE(CUPTI_CHANNEL_TYPE_COMPUTE)
	VALUE(CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY)
	VALUE(CUPTI_ERROR_INVALID_PARAMETER)
	VALUE(CUPTI_ERROR_INVALID_DEVICE)
	VALUE(CUPTI_ERROR_INVALID_CONTEXT)
	VALUE(CUPTI_ERROR_INVALID_OPERATION)
	VALUE(CUPTI_ERROR_OUT_OF_MEMORY)
	VALUE(CUPTI_ERROR_MAX_LIMIT_REACHED)
	VALUE(CUPTI_ERROR_NOT_READY)
	VALUE(CUPTI_ERROR_NOT_COMPATIBLE)
	VALUE(CUPTI_ERROR_NOT_INITIALIZED)
	VALUE(CUPTI_ERROR_QUEUE_EMPTY)
	VALUE(CUPTI_ERROR_INVALID_HANDLE)
	VALUE(CUPTI_ERROR_INVALID_STREAM)
	VALUE(CUPTI_ERROR_INVALID_KIND)
	VALUE(CUPTI_ERROR_NOT_SUPPORTED)
	VALUE(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
	VALUE(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
	VALUE(CUPTI_ERROR_UNKNOWN)
}

int main(void)
{
	print_records();
	print_callbacks();
	print_values();
	return 0;
}
