/* SPDX-License-Identifier: MIT */
/*
 * Posts find their completions: the k-th signalled request of a send queue is its k-th
 * completion, and the k-th posted receive the k-th receive.
 *
 * Hides what requests without a completion of their own end with, in which order errors
 * flush, that a completion may be read before its post, and what is missing.
 */
#ifndef TAP_JOIN_RDMA_WR_H
#define TAP_JOIN_RDMA_WR_H

#include "join/model/wire.h"

#include <stddef.h>

struct tap_event;
struct tap_life;
struct tap_process;
struct tap_request;
struct tap_completion;
struct tap_srq;
struct tap_verbs;

/* A queue that requests are posted to. */
struct tap_work_queue {
	struct tap_request *first, *last; /* not completed, by seq */
	size_t count;
	struct tap_completion *early, **early_end; /* that wait for their posts */
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

/* Each takes an event of its kind, and returns 0 or -errno. */
int tap_wr_sends(struct tap_verbs *verbs, const struct tap_process *process,
		 struct tap_event *event, bool is_list);
int tap_wr_receives(struct tap_verbs *verbs, const struct tap_process *process,
		    struct tap_event *event, bool is_list);
int tap_wr_refused(struct tap_verbs *verbs, const struct tap_process *process,
		   struct tap_event *event);
int tap_wr_completions(struct tap_verbs *verbs, const struct tap_process *process,
		       struct tap_event *event);

/* Nothing completes in the queue any more.  Returns 0 or -errno. */
int tap_wr_end(struct tap_verbs *verbs, struct tap_work_queue *queue);

/* Frees what is kept of a queue: a reading was broken off, or is over. */
void tap_wr_forget(struct tap_verbs *verbs, struct tap_work_queue *queue);
void tap_wrs_free(struct tap_verbs *verbs);

#endif
