/* SPDX-License-Identifier: MIT */
/*
 * How far a send or receive queue has come: its posts and completions.
 *
 * A request has a number in its queue, a completion an ordinal; an unsignalled request
 * has no ordinal.  Hides how requests and completions before the recording are counted.
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
	TAP_LIST(struct tap_request) requests; /* open, by number */
	TAP_LIST(struct tap_completion) early; /* completions read before their posts */
	size_t early_count;
	uint64_t last_posted;	 /* largest ordinal of a posted request */
	uint64_t last_seq;	 /* largest number of a posted request */
	uint64_t posted_before;	 /* ordinals posted before the recording */
	uint64_t last_completed; /* largest completed ordinal */
	uint64_t done_seq;	 /* number of that request, valid if has_done */
	bool has_done;
	bool has_races;
	bool has_hole; /* a post is missing */
	bool is_over;
	/* After the first error every request completes, signalled or not. */
	bool has_error;
	bool is_error_sure;
	uint64_t error_ordinal; /* of the first failed completion */
	uint64_t error_seq;	/* of its request */
};

/* Starts a queue that had these counts before recording began. */
static inline void tap_work_queue_resume(struct tap_work_queue *queue, uint64_t posted,
					 uint64_t requests, uint64_t completed)
{
	queue->posted_before = posted;
	queue->last_posted = posted;
	queue->last_seq = requests;
	queue->last_completed = completed;
}

/* Whether posts before request `seq`, the next one, may be missing. */
static inline bool tap_work_queue_has_hole_before(const struct tap_work_queue *queue,
						  uint64_t seq)
{
	return queue->has_hole || seq != queue->last_seq + 1;
}

/* Whether request `seq` or a later one was seen to complete. */
static inline bool tap_work_queue_has_passed(const struct tap_work_queue *queue,
					     uint64_t seq)
{
	return queue->done_seq >= seq;
}

#endif
