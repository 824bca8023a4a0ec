/* SPDX-License-Identifier: MIT */
/*
 * Finds what a launch of a CUDA graph repeats: the calls of the capture that made the
 * graph.
 *
 * Hides how captures become graphs and graphs become executable graphs, and when the
 * calls in a graph are uncertain: another stream joins a capture through CUDA events,
 * which the trace does not record.
 */
#ifndef TAP_JOIN_GPU_CUDA_GRAPH_H
#define TAP_JOIN_GPU_CUDA_GRAPH_H

#include "join/model/span.h"

enum tap_graph_known {
	TAP_GRAPH_UNKNOWN, /* its creation was not seen */
	TAP_GRAPH_IN_PART, /* it may contain more */
	TAP_GRAPH_EXACT,
};

/* The contents of a graph. */
struct tap_graph {
	enum tap_graph_known known;
	uint64_t capture_id; /* capture that made it, from 1 in each process; 0: none */
	uint64_t calls;	     /* captured calls */
	uint64_t kernels;    /* kernels among these calls */
};

/* Empty when all zero. */
struct tap_graphs {
	struct tap_table captures; /* by (process, stream) */
	struct tap_table graphs;   /* by (process, address) */
	struct tap_table execs;	   /* the same */
	struct tap_table counts; /* of captures and calls in joined streams, by process */
};

/*
 * Takes a captured call, on `stream` if has_stream.  Sets *ret to the capture that it
 * certainly belongs to, or to NULL where the trace does not say.  Returns 0 or -ENOMEM.
 */
int tap_graphs_captured(struct tap_graphs *graphs, const struct tap_span *span,
			bool has_stream, uint64_t stream, const struct tap_graph **ret);

/*
 * Takes an ended call: it may begin or end a capture, or make, change or destroy a graph.
 * Returns 0 or -ENOMEM.
 */
int tap_graphs_ended(struct tap_graphs *graphs, const struct tap_span *span);

/*
 * What a launch of `exec` repeats, as certain as the losses allow; NULL where the
 * creation of `exec` was not seen.
 */
const struct tap_graph *tap_graphs_find(const struct tap_graphs *graphs,
					const struct tap_loss *loss,
					const struct tap_process *process, uint64_t exec);

const char *tap_graph_known_name(enum tap_graph_known known);

void tap_graphs_free(struct tap_graphs *graphs);

#endif
