/* SPDX-License-Identifier: MIT */
/*
 * What the events of the provider "gpu" have: a record for each event of what ran on a
 * GPU, made from one row as in verbs_events.h, and plain structures for the others.
 *
 * The events are written, by any thread, when CUPTI hands its records over: so the time
 * of the event is later than start_ns and end_ns, the times of the work on
 * CLOCK_MONOTONIC.  device, context and stream are CUPTI's numbers.
 *
 * correlation_id	of the call that enqueued the work or launched its graph
 * graph, graph_node	CUPTI's numbers, 0: in no graph
 * name			a number; gpu:name has the text
 *
 * It hides how a record is made from its row.
 */
#ifndef TAP_TRACEPOINTS_GPU_EVENTS_H
#define TAP_TRACEPOINTS_GPU_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define TAP_GPU_TIMES(INT) \
	INT(uint64_t, start_ns, 10) \
	INT(uint64_t, end_ns, 10)

#define TAP_GPU_PLACE(INT) \
	INT(uint32_t, correlation_id, 10) \
	INT(uint32_t, device, 10) \
	INT(uint32_t, context, 10) \
	INT(uint32_t, stream, 10)

#define TAP_GPU_GRAPH(INT) \
	INT(uint32_t, graph, 10) \
	INT(uint64_t, graph_node, 10)

/* A cluster's size is 0 if CUPTI does not report it, or if there is no cluster. */
#define TAP_GPU_KERNEL_ROW(INT, SEQ) \
	TAP_GPU_TIMES(INT) \
	TAP_GPU_PLACE(INT) \
	INT(int32_t, gridX, 10) \
	INT(int32_t, gridY, 10) \
	INT(int32_t, gridZ, 10) \
	INT(int32_t, blockX, 10) \
	INT(int32_t, blockY, 10) \
	INT(int32_t, blockZ, 10) \
	INT(int32_t, static_shared, 10) \
	INT(int32_t, dynamic_shared, 10) \
	INT(uint32_t, clusterX, 10) \
	INT(uint32_t, clusterY, 10) \
	INT(uint32_t, clusterZ, 10) \
	INT(uint64_t, name, 10) \
	TAP_GPU_GRAPH(INT) \
	INT(uint32_t, channel, 10)

#define TAP_GPU_COPY(INT) \
	TAP_GPU_TIMES(INT) \
	INT(uint64_t, bytes, 10) \
	TAP_GPU_PLACE(INT) \
	INT(uint8_t, copy_kind, 10) \
	INT(uint8_t, src_kind, 10) \
	INT(uint8_t, dst_kind, 10) \
	TAP_GPU_GRAPH(INT)

#define TAP_GPU_MEMCPY_ROW(INT, SEQ) TAP_GPU_COPY(INT)

#define TAP_GPU_MEMCPY_P2P_ROW(INT, SEQ) \
	TAP_GPU_COPY(INT) \
	INT(uint32_t, src_device, 10) \
	INT(uint32_t, src_context, 10) \
	INT(uint32_t, dst_device, 10) \
	INT(uint32_t, dst_context, 10)

#define TAP_GPU_MEMSET_ROW(INT, SEQ) \
	TAP_GPU_TIMES(INT) \
	INT(uint64_t, bytes, 10) \
	INT(uint32_t, value, 10) \
	TAP_GPU_PLACE(INT) \
	TAP_GPU_GRAPH(INT)

/* domain: 1 driver, 2 runtime; cbid: CUPTI's number of the function. */
#define TAP_GPU_API_ROW(INT, SEQ) \
	TAP_GPU_TIMES(INT) \
	INT(uint8_t, domain, 10) \
	INT(uint32_t, cbid, 10) \
	INT(uint32_t, thread, 10) \
	INT(uint32_t, correlation_id, 10) \
	INT(int32_t, result, 10)

#define TAP_GPU_OVERHEAD_ROW(INT, SEQ) \
	TAP_GPU_TIMES(INT) \
	INT(uint32_t, kind, 10) \
	INT(uint32_t, thread, 10)

#define TAP_GPU_SYNCHRONIZATION_ROW(INT, SEQ) \
	TAP_GPU_TIMES(INT) \
	INT(uint32_t, type, 10) \
	INT(uint32_t, correlation_id, 10) \
	INT(uint32_t, context, 10) \
	INT(uint32_t, stream, 10) \
	INT(uint32_t, event, 10)

/*
 * The event is written by the thread that makes a node of a graph: in the recorded call
 * call_id, or as a copy of the node `original`, 0 for none.
 */
#define TAP_GPU_GRAPH_NODE_ROW(INT, SEQ) \
	INT(uint64_t, call_id, 10) \
	INT(uint32_t, correlation_id, 10) \
	INT(uint32_t, graph, 10) \
	INT(uint64_t, node, 10) \
	INT(uint64_t, original, 10)

/* X(name of the event, its row); the first four are work. */
#define TAP_GPU_HOT(X) \
	X(kernel, TAP_GPU_KERNEL_ROW) \
	X(memcpy, TAP_GPU_MEMCPY_ROW) \
	X(memcpy_p2p, TAP_GPU_MEMCPY_P2P_ROW) \
	X(memset, TAP_GPU_MEMSET_ROW) \
	X(api, TAP_GPU_API_ROW) \
	X(overhead, TAP_GPU_OVERHEAD_ROW) \
	X(synchronization, TAP_GPU_SYNCHRONIZATION_ROW) \
	X(graph_node, TAP_GPU_GRAPH_NODE_ROW)

#define TAP_GPU_HOT_NUMBER(name, ROW) TAP_GPU_##name,
enum tap_gpu_hot { TAP_GPU_HOT(TAP_GPU_HOT_NUMBER) TAP_GPU_HOT_NR };
#undef TAP_GPU_HOT_NUMBER

#define TAP_GPU_MEMBER(type, name, base) type name;
#define TAP_GPU_RECORD(event, ROW) \
	struct tap_gpu_##event { \
		ROW(TAP_GPU_MEMBER, ) \
	} __attribute__((packed));
TAP_GPU_HOT(TAP_GPU_RECORD)
#undef TAP_GPU_RECORD
/* clang-format on */

/* Which client has CUPTI; strings are never NULL. */
struct tap_gpu_owner {
	/*
	 * taken: the tracer; refused: another client, holder; absent, failed: no client,
	 * and detail says why; released: the program, which asked for it; given_back: no
	 * client, since no recording wants what runs.
	 */
	const char *state;
	const char *holder;
	const char *library; /* CUPTI's path */
	uint32_t version;    /* of cuptiGetVersion(), 0: unknown */
	const char *detail;
};

enum tap_gpu_clock_kind {
	TAP_GPU_CLOCK_CALLBACK, /* CUPTI asks the tracer for the time */
	TAP_GPU_CLOCK_PAIRS,	/* both clocks were read, one right after the other */
};

struct tap_gpu_clock {
	enum tap_gpu_clock_kind kind;
	int64_t offset_ns; /* added to CUPTI's times */
	uint64_t residual_ns;
};

struct tap_gpu_events {
	/* The switches and events of the rows, by enum tap_gpu_hot. */
	const int *on[TAP_GPU_HOT_NR];
	void (*write[TAP_GPU_HOT_NR])(const void *record, size_t length);

	void (*name)(uint64_t name, const char *text, bool is_statedump);
	void (*owner)(const struct tap_gpu_owner *owner, bool is_statedump);
	void (*clock)(const struct tap_gpu_clock *clock);
	/* what: "dropped", "zero_time", "other_clock" or "unknown_record". */
	void (*lost)(const char *what, uint64_t count);
};

#endif
