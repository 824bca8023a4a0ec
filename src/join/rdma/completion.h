/* SPDX-License-Identifier: MIT */
/*
 * Completions find their posts: the k-th signalled request of a send queue has its k-th
 * completion, and the k-th posted receive the k-th receive.
 *
 * Hides in which order errors flush, that a completion may be read before its post, and
 * which one is meant where several have the same wr_id.
 */
#ifndef TAP_JOIN_RDMA_COMPLETION_H
#define TAP_JOIN_RDMA_COMPLETION_H

#include "join/rdma/outcome.h"

struct tap_completions {
	/* Set by the owner; the rest is zero at first. */
	struct tap_context *context;
	struct tap_qps *qps;
	struct tap_requests *requests;
	const struct tap_outcomes *outcomes;

	TAP_LIST(struct tap_completion) unused;
};

/* All return 0 or -errno. */

/* Takes an event of completions that were polled. */
int tap_completions_take(struct tap_completions *completions,
			 const struct tap_process *process,
			 const struct tap_event *event);
/* Requests were posted to the queue, which completions may have waited for. */
int tap_completions_retry(struct tap_completions *completions,
			  struct tap_work_queue *queue);
/* Nothing completes in the queue any more. */
int tap_completions_end(struct tap_completions *completions,
			struct tap_work_queue *queue);

/* Drops what waits for its posts. */
void tap_completions_forget(struct tap_completions *completions,
			    struct tap_work_queue *queue);
void tap_completions_free(struct tap_completions *completions);

#endif
