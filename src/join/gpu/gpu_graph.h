/* SPDX-License-Identifier: MIT */
/*
 * The nodes of CUDA graphs: a call made each node, or it is a copy of such a node.  They
 * lead from a run of a graph to the call that was captured.
 *
 * Hides that the least recently used entries are dropped, so that a program which
 * captures anew in every step does not fill the memory.
 */
#ifndef TAP_JOIN_GPU_GPU_GRAPH_H
#define TAP_JOIN_GPU_GPU_GRAPH_H

#include "common/list.h"
#include "join/gpu/gpu_call.h"

/* Most entries in each list. */
#define TAP_GPU_NODES_MAX 262144

struct tap_gpu_list {
	struct tap_table by_id;
	TAP_LIST(struct tap_gpu_entry) used; /* the latest last */
};

/* Empty when all zero. */
struct tap_gpu_graphs {
	struct tap_gpu_list nodes;    /* by (process, node) */
	struct tap_gpu_list captured; /* launches by (process, call) */
};

/* Both return 0 or -ENOMEM. */

/*
 * Adds a node that a call made (0: no recorded call), as a copy of `original` unless 0.
 */
int tap_gpu_graphs_node(struct tap_gpu_graphs *graphs, const struct tap_process *process,
			uint64_t node, uint64_t call_id, uint64_t original);
/* Adds a captured launch; takes a reference. */
int tap_gpu_graphs_captured(struct tap_gpu_graphs *graphs, struct tap_gpu_launch *launch);

/* Whether the call has made a node that is known. */
bool tap_gpu_graphs_have(const struct tap_gpu_graphs *graphs,
			 const struct tap_process *process, uint64_t call_id);

/* The launch that a node was captured from, or NULL. */
struct tap_gpu_launch *tap_gpu_graphs_find(struct tap_gpu_graphs *graphs,
					   const struct tap_process *process,
					   uint64_t node);

void tap_gpu_graphs_free(struct tap_gpu_graphs *graphs);

#endif
