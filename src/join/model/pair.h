/* SPDX-License-Identifier: MIT */
/*
 * Matches entries with exits, and makes spans of them.
 *
 * Hides what a missing event means for its neighbours, and that the memory of spans is
 * reused, so that a call costs no allocation.
 */
#ifndef TAP_JOIN_MODEL_PAIR_H
#define TAP_JOIN_MODEL_PAIR_H

#include "join/model/event.h"

/* Members that the owner does not set are zero at first. */
struct tap_pairs {
	/* Set by the owner; the functions return 0 or -errno. */
	size_t open_max;
	struct tap_loss *loss;
	int (*begun)(void *data, struct tap_span *span, const struct tap_event *event);
	int (*ended)(void *data, struct tap_span *span);
	void *data;

	struct tap_table open;		  /* by (process, call) */
	struct tap_table threads;	  /* by (process, tid) */
	TAP_LIST(struct tap_span) opened; /* in order of beginning */
	struct tap_span *unused;	  /* each by its open.after */
	struct tap_thread *free_threads;
};

/* Each returns 0 or -errno. */
int tap_pairs_entry(struct tap_pairs *pairs, struct tap_process *process,
		    struct tap_event *event);
int tap_pairs_exit(struct tap_pairs *pairs, struct tap_process *process,
		   struct tap_event *event);
/*
 * Ends the open calls of a process that is over, or of all processes when process is
 * NULL: they never returned.
 */
int tap_pairs_end_process(struct tap_pairs *pairs, const struct tap_process *process);

/*
 * Ends the open calls of a process for which is_returned says so; their exits are lost.
 */
int tap_pairs_returned(struct tap_pairs *pairs, const struct tap_process *process,
		       bool (*is_returned)(const void *data, const struct tap_span *span),
		       const void *data);

/*
 * Makes a span that is no call, with one reference of the caller's.  Returns NULL when
 * memory is short.
 */
struct tap_span *tap_pairs_make(struct tap_pairs *pairs,
				const struct tap_process *process,
				const struct tap_name *name, int64_t tid);

/* Each drops a reference to a span. */
void tap_span_put(struct tap_span *span);
void tap_pairs_put(struct tap_pairs *pairs, struct tap_span *span);

void tap_pairs_free(struct tap_pairs *pairs);

#endif
