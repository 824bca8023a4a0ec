/* SPDX-License-Identifier: MIT */
/*
 * The part of CUPTI's interface that the tracer uses, declared here: one binary works
 * with CUPTI 11 to 13 and is built without a header of any.
 *
 * It hides how the records of CUPTI's releases differ.  Records grow from release to
 * release and never change the fields they had.  So each structure here is the beginning
 * that all releases have, up to the last field that the tracer reads; TAP_CUPTI_HAS_* is
 * the cuptiGetVersion() since which a later field exists.  The offsets are those that
 * offsetof() gives in the headers of CUPTI 11.8.87, 12.9.79 and 13.0.85
 * (tests/calls/programs/check_cupti.c compares them), the numbers those of their
 * enumerations.  Only the library knows the length of a record:
 * cuptiActivityGetNextRecord() walks them.
 */
#ifndef TAP_CUPTI_ABI_H
#define TAP_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Values of cuptiGetVersion(): 13 is CUDA 11.0, 18 is 11.8. */
enum {
	TAP_CUPTI_OLDEST = 13,
	TAP_CUPTI_HAS_COPY_GRAPH = 15,
	TAP_CUPTI_HAS_CHANNEL = 17,
	TAP_CUPTI_HAS_CLUSTER = 18,
};

/* CUptiResult */
enum {
	TAP_CUPTI_SUCCESS = 0,
	TAP_CUPTI_MAX_LIMIT = 12,
	TAP_CUPTI_NOT_INITIALIZED = 15,
	TAP_CUPTI_HAS_SUBSCRIBER = 39,
};

/* CUpti_ActivityKind */
enum {
	TAP_CUPTI_MEMCPY = 1,
	TAP_CUPTI_MEMSET = 2,
	TAP_CUPTI_KERNEL = 3,
	TAP_CUPTI_DRIVER = 4,
	TAP_CUPTI_RUNTIME = 5,
	TAP_CUPTI_CONCURRENT_KERNEL = 10,
	TAP_CUPTI_OVERHEAD = 17,
	TAP_CUPTI_MEMCPY_P2P = 22,
	TAP_CUPTI_SYNCHRONIZATION = 38,
	TAP_CUPTI_EXTERNAL_CORRELATION = 39,
};

/* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */
enum { TAP_CUPTI_FLUSH_FORCED = 1 };

/* CUpti_CallbackDomain, CUpti_ApiCallbackSite, CUpti_CallbackIdResource */
enum {
	TAP_CUPTI_DOMAIN_DRIVER = 1,
	TAP_CUPTI_DOMAIN_RUNTIME = 2,
	TAP_CUPTI_DOMAIN_RESOURCE = 3,
	TAP_CUPTI_ENTER = 0,
	TAP_CUPTI_GRAPHNODE_CREATED = 13,
	TAP_CUPTI_GRAPHNODE_CLONED = 20,
};

/* CUpti_Activity */
struct tap_cupti_record {
	uint32_t kind;
};

/* CUpti_ActivityKernel5 to CUpti_ActivityKernel10 */
struct tap_cupti_kernel {
	uint32_t kind, flags[3];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation_id;
	int64_t grid_id;
	const char *name;
	uint64_t reserved, queued, submitted;
	uint8_t launch_type[4];
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
	const void *access_policy;
	/* TAP_CUPTI_HAS_CHANNEL */
	uint32_t channel, channel_type;
	/* TAP_CUPTI_HAS_CLUSTER */
	uint32_t cluster[3];
};

/* CUpti_ActivityMemcpy3 to CUpti_ActivityMemcpy6 */
struct tap_cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation_id;
	uint32_t runtime_correlation_id, padding;
	const void *reserved;
	uint64_t graph_node;
	/* TAP_CUPTI_HAS_COPY_GRAPH */
	uint32_t graph;
};

/* CUpti_ActivityMemcpyPtoP2 to CUpti_ActivityMemcpyPtoP4 */
struct tap_cupti_memcpy_p2p {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t src_device, src_context, dst_device, dst_context;
	uint32_t correlation_id;
	const void *reserved;
	uint64_t graph_node;
	/* TAP_CUPTI_HAS_COPY_GRAPH */
	uint32_t graph;
};

/* CUpti_ActivityMemset2 to CUpti_ActivityMemset4 */
struct tap_cupti_memset {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation_id;
	uint16_t flags, memory_kind;
	uint32_t padding;
	const void *reserved;
	uint64_t graph_node;
	/* TAP_CUPTI_HAS_COPY_GRAPH */
	uint32_t graph;
};

/* CUpti_ActivityAPI */
struct tap_cupti_api {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation_id;
	int32_t result;
};

/* CUpti_ActivityOverhead to CUpti_ActivityOverhead3; object[1] is the id of a thread. */
struct tap_cupti_overhead {
	uint32_t kind, overhead_kind, object_kind, object[3];
	uint64_t start, end;
};
enum { TAP_CUPTI_OBJECT_THREAD = 2 }; /* CUPTI_ACTIVITY_OBJECT_THREAD */

/* CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2 */
struct tap_cupti_synchronization {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation_id, context, stream, event;
};

/* CUpti_CallbackData */
struct tap_cupti_callback {
	uint32_t site;
	const char *function;
	const void *params;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation_id;
};

/* CUpti_ResourceData; for a node of a graph the descriptor is CUpti_GraphData. */
struct tap_cupti_resource {
	void *context, *handle;
	const void *descriptor;
};
struct tap_cupti_graph {
	void *graph, *original_graph;
	void *node, *original_node;
};

/* CUpti_SubscriberParams */
struct tap_cupti_subscriber_params {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
};
enum { TAP_CUPTI_OLD_NAME_SIZE = 64 };

typedef void (*tap_cupti_callback_function)(void *userdata, uint32_t domain,
					    uint32_t cbid, const void *data);
typedef void (*tap_cupti_buffer_requested)(uint8_t **buffer, size_t *size,
					   size_t *max_records);
typedef void (*tap_cupti_buffer_completed)(void *context, uint32_t stream,
					   uint8_t *buffer, size_t size, size_t valid);

#endif
