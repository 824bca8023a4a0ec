/* SPDX-License-Identifier: MIT */
/*
 * Events of the derived trace between the time when they are known and the time when they
 * are written, in order of time.
 *
 * Hides what an event waits for, since it cannot be changed once it is written: work on a
 * GPU that began earlier and is reported later; the kernel that a message served; the
 * rank of its process.  And for how long: the memory is bounded by how many events may
 * wait.
 */
#ifndef TAP_JOIN_VIEWS_DERIVED_QUEUE_H
#define TAP_JOIN_VIEWS_DERIVED_QUEUE_H

#include "join/base/heap.h"
#include "join/views/derived_mark.h"
#include "join/views/derived_place.h"

/* A span, from its begin until all of its events are written. */
struct tap_shown {
	unsigned int references;
	struct tap_shown *next; /* with the same id, in a damaged trace */
	struct tap_span *span;
	struct tap_subject subject;
	struct tap_shown *message; /* that a work request is a part of, or NULL */
	bool is_settled;	   /* no more will be known of what the span works for */
	bool is_ended;		   /* its end is in the queue, or written */
	int64_t bytes;		   /* counted as open */
};

/* An event that waits. */
struct tap_waiting {
	enum tap_mark_kind kind;
	const struct tap_process *process;
	struct tap_shown *shown;    /* of a span, else NULL */
	enum tap_span_state state;  /* of an end */
	bool is_end_bound;	    /* likewise */
	struct tap_mark_link *link; /* owned; of a link, else NULL */
};

struct tap_mark_queue {
	/* The owner sets these; the rest starts as zero. */
	struct tap_places *places;
	const struct tap_mark_taker *taker;

	struct tap_heap heap;
	uint64_t count;	 /* so far */
	int64_t last_ns; /* of the event written last */
	bool has_last;
	bool has_kernels;	/* that NCCL's messages may be of */
	struct tap_table by_id; /* spans that are open, or have events here */
};

/* Makes what is shown of a span that begins; NULL when memory is short. */
struct tap_shown *tap_mark_queue_open(struct tap_mark_queue *queue,
				      struct tap_span *span);
/* What is shown of this very span; NULL likewise. */
struct tap_shown *tap_mark_queue_of(const struct tap_mark_queue *queue,
				    const struct tap_span *span);
/* NULL: all of its events are written, or it was not shown. */
struct tap_shown *tap_mark_queue_find(const struct tap_mark_queue *queue,
				      const struct tap_process *process,
				      const struct tap_work *work, uint64_t call_id);
/* Nothing more comes of the span itself. */
void tap_mark_queue_close(struct tap_mark_queue *queue, struct tap_shown *shown);
/* The span is a part of this message. */
void tap_mark_queue_set_message(struct tap_mark_queue *queue, struct tap_shown *shown,
				struct tap_shown *message);

/*
 * Adds an event; writes those that wait for nothing any more, none of which is later than
 * the horizon.  Returns 0 or -errno.
 */
int tap_mark_queue_add(struct tap_mark_queue *queue, const struct tap_waiting *waiting,
		       int64_t time_ns, int64_t horizon_ns);
/* Writes all.  Returns 0 or -errno. */
int tap_mark_queue_finish(struct tap_mark_queue *queue);

/* Before the join is destroyed. */
void tap_mark_queue_free(struct tap_mark_queue *queue);

#endif
