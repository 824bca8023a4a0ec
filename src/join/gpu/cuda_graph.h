/* SPDX-License-Identifier: MIT */
/*
 * What a launch of a CUDA graph repeats: the calls of the capture that it was made by.
 *
 * Hides how captures become graphs and graphs what can be launched, and when nobody can
 * say which calls went into which: those of another stream join a capture by events,
 * which the trace does not tell.
 */
#ifndef TAP_JOIN_GPU_CUDA_GRAPH_H
#define TAP_JOIN_GPU_CUDA_GRAPH_H

#include "join/model/span.h"

enum tap_graph_known {
	TAP_GRAPH_UNKNOWN, /* how it was made was not seen */
	TAP_GRAPH_IN_PART, /* there may be more in it */
	TAP_GRAPH_EXACT,
};

/* What is in a graph. */
struct tap_graph {
	enum tap_graph_known known;
	uint64_t capture_id; /* that it was made by, from 1 in each process; 0 none */
	uint64_t calls;	     /* that were captured */
	uint64_t kernels;    /* of these */
};

/* All zero is none. */
struct tap_graphs {
	struct tap_table captures; /* by (process, stream) */
	struct tap_table graphs;   /* by (process, address) */
	struct tap_table execs;	   /* the same */
	struct tap_table counts; /* of captures and of streams that joined, by process */
};

/*
 * A call that was captured, on this stream if has_stream.  Gives the capture that it
 * surely went into, NULL: that is not told.  Returns 0 or -ENOMEM.
 */
int tap_graphs_captured(struct tap_graphs *graphs, const struct tap_span *span,
			bool has_stream, uint64_t stream, const struct tap_graph **ret);

/* A call that is no work has ended: it may make or end a graph.  Returns 0 or -ENOMEM. */
int tap_graphs_ended(struct tap_graphs *graphs, const struct tap_span *span);

/*
 * What a launch of this one repeats, as far as the losses allow to say; NULL: how it was
 * made was not seen.
 */
const struct tap_graph *tap_graphs_find(const struct tap_graphs *graphs,
					const struct tap_loss *loss,
					const struct tap_process *process, uint64_t exec);

const char *tap_graph_known_name(enum tap_graph_known known);

void tap_graphs_free(struct tap_graphs *graphs);

#endif
