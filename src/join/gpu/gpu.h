/* SPDX-License-Identifier: MIT */
/*
 * The layer of the GPU: what ran there, the launch that asked for it, and the collective
 * that it is a part of.
 *
 * What ran is told long after it was over, by a thread that has nothing to do with it.
 * Hides how it finds its launch, which may be in the trace before or after it, that a
 * graph runs calls again that were made when it was captured, and what waits for what.
 * Memory grows with what is outstanding, up to a bound, and with the names of kernels and
 * the nodes of graphs, up to another.
 */
#ifndef TAP_JOIN_GPU_GPU_H
#define TAP_JOIN_GPU_GPU_H

#include "join/gpu/gpu_call.h"
#include "join/gpu/gpu_graph.h"
#include "join/base/heap.h"
#include "join/model/layer.h"

struct tap_gpu {
	struct tap_context *context; /* first: layer.h */

	int64_t now_ns, first_ns, looked_ns;
	uint64_t span_count;
	struct tap_table functions; /* names by (process, number) */
	struct tap_table sites;	    /* what CUPTI is to a process, by process */
	struct tap_gpu_calls calls;
	struct tap_gpu_graphs graphs;
	struct tap_table by_correlation; /* the newest launch, by (process, number) */
	struct tap_gpu_launch *oldest;	 /* outstanding, by their beginnings */
	struct tap_gpu_launch *newest;
	size_t outstanding;
	struct tap_gpu_launch *first_lingering, *last_lingering;
	struct tap_gpu_launch *first_repeated, *last_repeated; /* of those that stay */
	size_t repeated;
	struct tap_table waiting; /* for their launches, by (process, number) */
	struct tap_gpu_held *first_held, *last_held;
	size_t held, held_without; /* of these without launch */
	int64_t held_min_ns;	   /* none of these began earlier */
	struct tap_gpu_held *free_held;
	struct tap_gpu_site *first_site;
};

extern const struct tap_layer tap_gpu_layer;

#endif
