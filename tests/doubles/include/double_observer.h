/* SPDX-License-Identifier: MIT */
/*
 * What the driver double tells the CUPTI double, and nobody else: a table that it hands
 * out by cuGetExportTable(), as the real driver does for the real one, for a number that
 * only these two know.  So neither is linked against the other, and neither exports a
 * name that the real one lacks.
 */
#ifndef DOUBLE_OBSERVER_H
#define DOUBLE_OBSERVER_H

#include <cuda.h>

#include <stdbool.h>

#define DOUBLE_OBSERVER_ID \
	{ \
		"ccltap double 1" \
	}

/* A call of the driver, or of the runtime, from the thread that makes it. */
struct double_observed_call {
	/* As it is exported, with _ptsz or _ptds. */
	const char *entry;
	bool is_runtime;
	/* Of the log; a call of the runtime shares it with the first that it makes. */
	uint64_t correlation;
	CUcontext context;
	/* At the end of it. */
	int result;
	/* The stream's number and handle, where the call has a stream. */
	uint64_t stream_id;
	CUstream stream;
};

/* Something that ran on the device; times as they are in the log. */
struct double_observed_work {
	CUgraphNodeType type;
	const char *name;
	uint64_t correlation;
	uint64_t node;
	uint64_t stream_id;
	uint32_t context;
	uint32_t device;
	int64_t begin_ns;
	int64_t end_ns;
	unsigned int grid[3];
	unsigned int block[3];
	unsigned int cluster;
	unsigned int shared;
	size_t bytes;
	unsigned int value;
	/* Of copies: whether an end is memory of the device. */
	bool from_device;
	bool to_device;
	/* Of those between two contexts: these, else 0. */
	uint32_t from_context;
	uint32_t to_context;
	uint32_t from_device_number;
	uint32_t to_device_number;
};

enum double_observed_what {
	DOUBLE_CONTEXT_CREATED,
	DOUBLE_CONTEXT_DESTROYED,
	DOUBLE_STREAM_CREATED,
	DOUBLE_STREAM_DESTROYED,
	DOUBLE_INIT_FINISHED,
	DOUBLE_GRAPH_CREATED,
	DOUBLE_GRAPH_DESTROYED,
	DOUBLE_GRAPH_CLONED,
	DOUBLE_NODE_CREATED,
	DOUBLE_NODE_CLONED,
	DOUBLE_EXEC_CREATED,
	DOUBLE_EXEC_DESTROYED
};

struct double_observed_thing {
	CUcontext context;
	CUstream stream;
	CUgraph graph;
	CUgraph original_graph;
	CUgraphNode node;
	CUgraphNode original;
	CUgraphNodeType type;
	CUgraphExec exec;
};

/* Called without a lock of the driver's. */
struct double_observer {
	void (*enter)(const struct double_observed_call *call);
	void (*leave)(const struct double_observed_call *call);
	/* Of what is put into a stream; what it answers comes back when that ran, if not
	 * 0. */
	uint64_t (*queued)(CUgraphNodeType type);
	void (*ran)(const struct double_observed_work *work, uint64_t answer);
	void (*changed)(enum double_observed_what what,
			const struct double_observed_thing *thing);
};

struct double_observer_table {
	/* Stays for as long as the process; a second one replaces the first. */
	void (*observe)(const struct double_observer *observer);
	uint32_t (*context_id)(CUcontext context);
	uint32_t (*context_device)(CUcontext context);
	uint64_t (*stream_id)(CUcontext context, CUstream stream, bool is_per_thread);
	uint64_t (*node_id)(CUgraphNode node);
	uint32_t (*graph_id)(CUgraph graph);
	uint32_t (*exec_id)(CUgraphExec exec);
	/* Of the runtime: the beginning and the end of a call of it. */
	void (*runtime_enter)(const char *entry);
	void (*runtime_leave)(const char *entry, int result);
};

#endif
