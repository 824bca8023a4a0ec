/* SPDX-License-Identifier: MIT */
/*
 * Matches completions to posts: the k-th completion of a send queue belongs to its k-th
 * signalled request, the k-th completed receive to the k-th posted one.
 *
 * Hides the order in which errors flush requests, completions that are read before the
 * event of their post, and the choice between requests with the same wr_id.
 */
#ifndef TAP_JOIN_RDMA_COMPLETION_H
#define TAP_JOIN_RDMA_COMPLETION_H

#include "join/rdma/outcome.h"

struct tap_completions {
	/* The owner sets these; the rest starts as zero. */
	struct tap_context *context;
	struct tap_qps *qps;
	struct tap_requests *requests;
	const struct tap_outcomes *outcomes;

	TAP_LIST(struct tap_completion) unused;
};

/* All return 0 or -errno. */

/* Takes an event that describes polled completions. */
int tap_completions_take(struct tap_completions *completions,
			 const struct tap_process *process,
			 const struct tap_event *event);
/* Call after posts to the queue: matches completions that waited for them. */
int tap_completions_retry(struct tap_completions *completions,
			  struct tap_work_queue *queue);
/* Call when the queue is over: ends every request that is left in it. */
int tap_completions_end(struct tap_completions *completions,
			struct tap_work_queue *queue);

/* Drops completions that wait for their posts. */
void tap_completions_forget(struct tap_completions *completions,
			    struct tap_work_queue *queue);
void tap_completions_free(struct tap_completions *completions);

#endif
