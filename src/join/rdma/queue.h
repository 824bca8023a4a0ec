/* SPDX-License-Identifier: MIT */
/*
 * A queue that requests are posted to: how far it has come.
 *
 * A number in a queue is a request's, an ordinal its completion's: what is not signalled
 * has no ordinal.
 */
#ifndef TAP_JOIN_RDMA_QUEUE_H
#define TAP_JOIN_RDMA_QUEUE_H

#include "common/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_completion;
struct tap_request;

/* All zero is a queue whose beginning was missed. */
struct tap_work_queue {
	TAP_LIST(struct tap_request) requests; /* not completed, by number */
	TAP_LIST(struct tap_completion) early; /* that wait for their posts */
	size_t early_count;
	uint64_t last_posted;	 /* largest ordinal that completions are counted in */
	uint64_t last_seq;	 /* of the requests */
	uint64_t posted_before;	 /* ordinals of before the recording */
	uint64_t last_completed; /* the completion's ordinal */
	uint64_t done_seq;	 /* the request that this one was, where has_done */
	bool has_done;
	bool has_races;
	bool has_hole; /* a post is missing */
	bool is_over;
	/* From the first error on, each request completes. */
	bool has_error;
	bool is_error_sure;
	uint64_t error_ordinal; /* of the completion */
	uint64_t error_seq;	/* of its request */
};

/* Before recording began, so many ordinals, requests and completions had been. */
static inline void tap_work_queue_resume(struct tap_work_queue *queue, uint64_t posted,
					 uint64_t requests, uint64_t completed)
{
	queue->posted_before = posted;
	queue->last_posted = posted;
	queue->last_seq = requests;
	queue->last_completed = completed;
}

/* Whether posts may be missing before the next one, which has this number. */
static inline bool tap_work_queue_has_hole_before(const struct tap_work_queue *queue,
						  uint64_t seq)
{
	return queue->has_hole || seq != queue->last_seq + 1;
}

/* Whether a request of this number, or one after it, was seen to complete. */
static inline bool tap_work_queue_has_passed(const struct tap_work_queue *queue,
					     uint64_t seq)
{
	return queue->done_seq >= seq;
}

#endif
