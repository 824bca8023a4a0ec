/* SPDX-License-Identifier: MIT */
/*
 * The operations that graphs repeat: each launch of a graph gives those that were
 * captured for it places after all that their rank has asked for so far (op_times.h), in
 * the order of the capture, in which NCCL lets them run.
 *
 * Hides how a kernel finds the place that its launch gave it, and in which processes
 * nothing is to be concluded, since it is not known what graphs repeat.
 */
#ifndef TAP_JOIN_NCCL_GRAPH_OPS_H
#define TAP_JOIN_NCCL_GRAPH_OPS_H

#include "common/list.h"
#include "join/nccl/kernel_ops.h"

/* A graph that a call has launched, with all operations that NCCL has kernels for. */
struct tap_graph_launch {
	const struct tap_process *process;
	uint64_t call_id;
	int64_t begin_ns;
	const struct tap_attribution_operation *operations;
	size_t count;
};

struct tap_graph_ops {
	/* The owner sets this; the rest starts as zero. */
	size_t held_max; /* places */

	struct tap_table processes;
	struct tap_table by_call; /* launches by (process, call) */
	TAP_LIST(struct tap_graph_places) launches; /* the oldest first */
	size_t held;
};

/* All return 0 or -ENOMEM. */

/* The process captures operations from now on; at times in this order. */
int tap_graph_ops_captured(struct tap_graph_ops *graphs,
			   const struct tap_process *process, int64_t time_ns);
/* What its graphs repeat is not known from now on. */
int tap_graph_ops_unknown(struct tap_graph_ops *graphs, const struct tap_process *process,
			  int64_t time_ns);
int tap_graph_ops_launched(struct tap_graph_ops *graphs, struct tap_ranks_ops *ranks,
			   const struct tap_graph_launch *launch);

/*
 * Gives the operations of a kernel that a launch of a graph repeated their places.
 * Returns whether that is possible.
 */
bool tap_graph_ops_place(struct tap_graph_ops *graphs, const struct tap_process *process,
			 uint64_t launch_id, struct tap_attribution_operation *operations,
			 size_t count);

/*
 * Whether nothing is to be concluded about the process at this time.  is_whole: no launch
 * is missing from the trace.
 */
bool tap_graph_ops_hide(const struct tap_graph_ops *graphs,
			const struct tap_process *process, int64_t time_ns,
			bool is_whole);

void tap_graph_ops_free(struct tap_graph_ops *graphs);

#endif
