/* SPDX-License-Identifier: MIT */
/*
 * The part of CUPTI that the double offers and the programs of the tests use, so that
 * both build where there is no toolkit.  The names, the values and the binary interface
 * are those of the real headers, of 13.0 where a release added to a structure; an older
 * structure bears its own number.  tests/doubles_tests/test_cupti_real.sh compares.
 */
#ifndef DOUBLE_CUPTI_H
#define DOUBLE_CUPTI_H

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
	CUPTI_SUCCESS = 0,
	CUPTI_ERROR_INVALID_PARAMETER = 1,
	CUPTI_ERROR_INVALID_DEVICE = 2,
	CUPTI_ERROR_INVALID_CONTEXT = 3,
	CUPTI_ERROR_INVALID_OPERATION = 7,
	CUPTI_ERROR_OUT_OF_MEMORY = 8,
	CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
	CUPTI_ERROR_NOT_READY = 13,
	CUPTI_ERROR_NOT_COMPATIBLE = 14,
	CUPTI_ERROR_NOT_INITIALIZED = 15,
	CUPTI_ERROR_QUEUE_EMPTY = 18,
	CUPTI_ERROR_INVALID_HANDLE = 19,
	CUPTI_ERROR_INVALID_STREAM = 20,
	CUPTI_ERROR_INVALID_KIND = 21,
	CUPTI_ERROR_NOT_SUPPORTED = 27,
	CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
	CUPTI_ERROR_UNKNOWN = 999
} CUptiResult;

typedef enum {
	CUPTI_CB_DOMAIN_INVALID = 0,
	CUPTI_CB_DOMAIN_DRIVER_API = 1,
	CUPTI_CB_DOMAIN_RUNTIME_API = 2,
	CUPTI_CB_DOMAIN_RESOURCE = 3,
	CUPTI_CB_DOMAIN_SYNCHRONIZE = 4,
	CUPTI_CB_DOMAIN_NVTX = 5,
	CUPTI_CB_DOMAIN_STATE = 6
} CUpti_CallbackDomain;

typedef enum {
	CUPTI_CBID_RESOURCE_CONTEXT_CREATED = 1,
	CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING = 2,
	CUPTI_CBID_RESOURCE_STREAM_CREATED = 3,
	CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING = 4,
	CUPTI_CBID_RESOURCE_CU_INIT_FINISHED = 5,
	CUPTI_CBID_RESOURCE_GRAPH_CREATED = 9,
	CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING = 10,
	CUPTI_CBID_RESOURCE_GRAPH_CLONED = 11,
	CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED = 13,
	CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED = 18,
	CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING = 19,
	CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED = 20
} CUpti_CallbackIdResource;

typedef enum { CUPTI_API_ENTER = 0, CUPTI_API_EXIT = 1 } CUpti_ApiCallbackSite;

typedef uint32_t CUpti_CallbackId;
typedef struct CUpti_Subscriber_st *CUpti_SubscriberHandle;
typedef CUpti_CallbackDomain *CUpti_DomainTable;
typedef void (*CUpti_CallbackFunc)(void *userdata, CUpti_CallbackDomain domain,
				   CUpti_CallbackId cbid, const void *cbdata);

typedef struct {
	CUpti_ApiCallbackSite callbackSite;
	const char *functionName;
	const void *functionParams;
	void *functionReturnValue;
	const char *symbolName;
	CUcontext context;
	uint32_t contextUid;
	uint64_t *correlationData;
	uint32_t correlationId;
} CUpti_CallbackData;

typedef struct {
	CUcontext context;
	union {
		CUstream stream;
	} resourceHandle;
	void *resourceDescriptor;
} CUpti_ResourceData;

typedef struct {
	CUgraph graph;
	CUgraph originalGraph;
	CUgraphNode node;
	CUgraphNode originalNode;
	CUgraphNodeType nodeType;
	CUgraphNode dependency;
	CUgraphExec graphExec;
} CUpti_GraphData;

typedef struct {
	size_t structSize;
	const char *subscriberName;
	char *oldSubscriberName;
	size_t oldSubscriberSize;
} CUpti_SubscriberParams;

typedef enum {
	CUPTI_ACTIVITY_KIND_INVALID = 0,
	CUPTI_ACTIVITY_KIND_MEMCPY = 1,
	CUPTI_ACTIVITY_KIND_MEMSET = 2,
	CUPTI_ACTIVITY_KIND_KERNEL = 3,
	CUPTI_ACTIVITY_KIND_DRIVER = 4,
	CUPTI_ACTIVITY_KIND_RUNTIME = 5,
	CUPTI_ACTIVITY_KIND_DEVICE = 8,
	CUPTI_ACTIVITY_KIND_CONTEXT = 9,
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_ACTIVITY_KIND_OVERHEAD = 17,
	CUPTI_ACTIVITY_KIND_MEMCPY2 = 22,
	CUPTI_ACTIVITY_KIND_CUDA_EVENT = 36,
	CUPTI_ACTIVITY_KIND_STREAM = 37,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION = 38,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 39,
	CUPTI_ACTIVITY_KIND_GRAPH_TRACE = 51
} CUpti_ActivityKind;

typedef enum { CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1 } CUpti_ActivityFlag;

typedef enum {
	CUPTI_EXTERNAL_CORRELATION_KIND_INVALID = 0,
	CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN = 1,
	CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC = 2,
	CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 3,
	CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1 = 4,
	CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 = 5,
	CUPTI_EXTERNAL_CORRELATION_KIND_SIZE = 6
} CUpti_ExternalCorrelationKind;

typedef enum {
	CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN = 0,
	CUPTI_ACTIVITY_MEMCPY_KIND_HTOD = 1,
	CUPTI_ACTIVITY_MEMCPY_KIND_DTOH = 2,
	CUPTI_ACTIVITY_MEMCPY_KIND_DTOD = 8,
	CUPTI_ACTIVITY_MEMCPY_KIND_HTOH = 9,
	CUPTI_ACTIVITY_MEMCPY_KIND_PTOP = 10
} CUpti_ActivityMemcpyKind;

typedef enum {
	CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN = 0,
	CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE = 1,
	CUPTI_ACTIVITY_MEMORY_KIND_DEVICE = 3
} CUpti_ActivityMemoryKind;

typedef enum {
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE = 1,
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT = 2,
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE = 3,
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE = 4
} CUpti_ActivitySynchronizationType;

#define CUPTI_SYNCHRONIZATION_INVALID_VALUE ((uint32_t) (-1))

typedef enum {
	CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH = 1 << 16
} CUpti_ActivityOverheadKind;

typedef enum { CUPTI_ACTIVITY_OBJECT_THREAD = 2 } CUpti_ActivityObjectKind;

typedef enum {
	CUPTI_CHANNEL_TYPE_INVALID = 0,
	CUPTI_CHANNEL_TYPE_COMPUTE = 1,
	CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY = 2
} CUpti_ChannelType;

typedef struct {
	CUpti_ActivityKind kind;
} CUpti_Activity;

/* clang-format off */
/* What every kernel record since 11.8 begins with. */
#define DOUBLE_CUPTI_KERNEL \
	CUpti_ActivityKind kind; \
	uint8_t cacheConfig; \
	uint8_t sharedMemoryConfig; \
	uint16_t registersPerThread; \
	uint32_t partitionedGlobalCacheRequested; \
	uint32_t partitionedGlobalCacheExecuted; \
	uint64_t start; \
	uint64_t end; \
	uint64_t completed; \
	uint32_t deviceId; \
	uint32_t contextId; \
	uint32_t streamId; \
	int32_t gridX; \
	int32_t gridY; \
	int32_t gridZ; \
	int32_t blockX; \
	int32_t blockY; \
	int32_t blockZ; \
	int32_t staticSharedMemory; \
	int32_t dynamicSharedMemory; \
	uint32_t localMemoryPerThread; \
	uint32_t localMemoryTotal; \
	uint32_t correlationId; \
	int64_t gridId; \
	const char *name; \
	void *reserved0; \
	uint64_t queued; \
	uint64_t submitted; \
	uint8_t launchType; \
	uint8_t isSharedMemoryCarveoutRequested; \
	uint8_t sharedMemoryCarveoutRequested; \
	uint8_t padding; \
	uint32_t sharedMemoryExecuted; \
	uint64_t graphNodeId; \
	uint32_t shmemLimitConfig; \
	uint32_t graphId; \
	void *pAccessPolicyWindow; \
	uint32_t channelID; \
	CUpti_ChannelType channelType; \
	uint32_t clusterX; \
	uint32_t clusterY; \
	uint32_t clusterZ; \
	uint32_t clusterSchedulingPolicy; \
	uint64_t localMemoryTotal_v2;

#define DOUBLE_CUPTI_COPY \
	CUpti_ActivityKind kind; \
	uint8_t copyKind; \
	uint8_t srcKind; \
	uint8_t dstKind; \
	uint8_t flags; \
	uint64_t bytes; \
	uint64_t start; \
	uint64_t end; \
	uint32_t deviceId; \
	uint32_t contextId; \
	uint32_t streamId;

#define DOUBLE_CUPTI_MEMCPY \
	DOUBLE_CUPTI_COPY \
	uint32_t correlationId; \
	uint32_t runtimeCorrelationId; \
	uint32_t pad; \
	void *reserved0; \
	uint64_t graphNodeId; \
	uint32_t graphId; \
	uint32_t channelID; \
	CUpti_ChannelType channelType; \
	uint8_t isDeviceLaunched; \
	uint8_t pad2[3];

#define DOUBLE_CUPTI_OVERHEAD \
	CUpti_ActivityKind kind; \
	CUpti_ActivityOverheadKind overheadKind; \
	CUpti_ActivityObjectKind objectKind; \
	struct { \
		uint32_t processId; \
		uint32_t threadId; \
		uint32_t unused; \
	} objectId; \
	uint64_t start; \
	uint64_t end;

#define DOUBLE_CUPTI_SYNCHRONIZATION \
	CUpti_ActivityKind kind; \
	CUpti_ActivitySynchronizationType type; \
	uint64_t start; \
	uint64_t end; \
	uint32_t correlationId; \
	uint32_t contextId; \
	uint32_t streamId; \
	uint32_t cudaEventId;

#define DOUBLE_CUPTI_CONTEXT \
	CUpti_ActivityKind kind; \
	uint32_t contextId; \
	uint32_t deviceId; \
	uint16_t computeApiKind; \
	uint16_t nullStreamId;
/* clang-format on */

typedef struct {
	DOUBLE_CUPTI_KERNEL
} CUpti_ActivityKernel8;

typedef struct {
	DOUBLE_CUPTI_KERNEL
	uint32_t maxPotentialClusterSize;
	uint32_t maxActiveClusters;
} CUpti_ActivityKernel9;

typedef struct {
	DOUBLE_CUPTI_KERNEL
	uint32_t maxPotentialClusterSize;
	uint32_t maxActiveClusters;
	uint8_t isDeviceLaunched;
	uint8_t padding3[7];
} CUpti_ActivityKernel10;

typedef struct {
	DOUBLE_CUPTI_MEMCPY
} CUpti_ActivityMemcpy5;

typedef struct {
	DOUBLE_CUPTI_MEMCPY
	uint64_t copyCount;
} CUpti_ActivityMemcpy6;

typedef struct {
	DOUBLE_CUPTI_COPY
	uint32_t srcDeviceId;
	uint32_t srcContextId;
	uint32_t dstDeviceId;
	uint32_t dstContextId;
	uint32_t correlationId;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId;
	uint32_t channelID;
	CUpti_ChannelType channelType;
} CUpti_ActivityMemcpyPtoP4;

typedef struct {
	CUpti_ActivityKind kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t deviceId;
	uint32_t contextId;
	uint32_t streamId;
	uint32_t correlationId;
	uint16_t flags;
	uint16_t memoryKind;
	uint32_t pad;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId;
	uint32_t channelID;
	CUpti_ChannelType channelType;
	uint8_t isDeviceLaunched;
	uint8_t pad2[3];
} CUpti_ActivityMemset4;

typedef struct {
	CUpti_ActivityKind kind;
	CUpti_CallbackId cbid;
	uint64_t start;
	uint64_t end;
	uint32_t processId;
	uint32_t threadId;
	uint32_t correlationId;
	uint32_t returnValue;
} CUpti_ActivityAPI;

typedef struct {
	CUpti_ActivityKind kind;
	CUpti_ExternalCorrelationKind externalKind;
	uint64_t externalId;
	uint32_t correlationId;
	uint32_t reserved;
} CUpti_ActivityExternalCorrelation;

typedef struct {
	DOUBLE_CUPTI_OVERHEAD
} CUpti_ActivityOverhead;

typedef struct {
	DOUBLE_CUPTI_OVERHEAD
	uint32_t correlationId;
	uint32_t reserved0;
	void *overheadData;
} CUpti_ActivityOverhead3;

typedef struct {
	DOUBLE_CUPTI_SYNCHRONIZATION
} CUpti_ActivitySynchronization;

typedef struct {
	DOUBLE_CUPTI_SYNCHRONIZATION
	uint64_t cudaEventSyncId;
	uint32_t returnValue;
	uint32_t pad;
} CUpti_ActivitySynchronization2;

typedef struct {
	DOUBLE_CUPTI_CONTEXT
} CUpti_ActivityContext;

typedef struct {
	DOUBLE_CUPTI_CONTEXT
	uint32_t parentContextId;
	uint8_t isGreenContext;
	uint8_t padding;
	uint16_t numMultiprocessors;
	uint32_t cigMode;
	uint32_t padding2;
} CUpti_ActivityContext3;

typedef struct {
	CUpti_ActivityKind kind;
	uint32_t contextId;
	uint32_t streamId;
	uint32_t priority;
	uint32_t flag;
	uint32_t correlationId;
} CUpti_ActivityStream;

typedef void (*CUpti_BuffersCallbackRequestFunc)(uint8_t **buffer, size_t *size,
						 size_t *maxNumRecords);
typedef void (*CUpti_BuffersCallbackCompleteFunc)(CUcontext context, uint32_t streamId,
						  uint8_t *buffer, size_t size,
						  size_t validSize);
typedef uint64_t (*CUpti_TimestampCallbackFunc)(void);

CUptiResult cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable);
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber,
			   CUpti_CallbackFunc callback, void *userdata);
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber,
			      CUpti_CallbackFunc callback, void *userdata,
			      CUpti_SubscriberParams *pParams);
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber);
CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle subscriber,
				  CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
				CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
			      CUpti_CallbackDomain domain);
CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber);
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
				 const char **name);
CUptiResult cuptiGetTimestamp(uint64_t *timestamp);
CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId);
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream,
			       uint8_t perThreadStream, uint32_t *streamId);
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId);
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId);
CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *pId);
CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind);
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId,
					      size_t *dropped);
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes,
				       CUpti_Activity **record);
CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
			       CUpti_BuffersCallbackCompleteFunc funcBufferCompleted);
CUptiResult cuptiActivityFlushAll(uint32_t flag);
CUptiResult cuptiActivityFlushPeriod(uint32_t time);
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
						   uint64_t id);
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
						  uint64_t *lastId);
CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable);
CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp);
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable);
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable);
CUptiResult cuptiFinalize(void);
CUptiResult cuptiGetLastError(void);
CUptiResult cuptiGetResultString(CUptiResult result, const char **str);
CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **str);
CUptiResult cuptiGetVersion(uint32_t *version);

#ifdef __cplusplus
}
#endif

#endif
