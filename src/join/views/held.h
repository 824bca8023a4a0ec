/* SPDX-License-Identifier: MIT */
/*
 * Spans of which only the end of the trace decides whether they are shown: those of the
 * last seconds, the longest; and failures, which come with them.
 *
 * Hides which are kept where there is no room for all, and how a view gets them in the
 * order in which they would have come.
 */
#ifndef TAP_JOIN_VIEWS_HELD_H
#define TAP_JOIN_VIEWS_HELD_H

#include "join/model/context.h"
#include "join/views/filters.h"

struct tap_held_span {
	struct tap_span *span;
	int64_t end_ns; /* the end of the trace so far, for a span without one */
};

struct tap_held {
	const struct tap_filters *filters;
	TAP_VEC(struct tap_held_span) spans;
	size_t max;
	bool is_cut; /* there was no room for all */
};

/* Whether the filters can be decided only at the end. */
bool tap_held_is_needed(const struct tap_filters *filters);

/* Holds at most max spans. */
void tap_held_init(struct tap_held *held, const struct tap_filters *filters, size_t max);

/*
 * Holds a span that is over, and drops those that will not be shown.  Returns 0 or
 * -ENOMEM.
 */
int tap_held_add(struct tap_held *held, struct tap_span *span,
		 const struct tap_context *context);

/*
 * The trace is over: gives the beginnings and ends of the spans to the consumer, in order
 * of time.  Returns 0, -ENOMEM, or what the consumer returns.
 */
int tap_held_give(struct tap_held *held, const struct tap_context *context,
		  const struct tap_consumer *consumer, void *data);

/* Before the join is destroyed. */
void tap_held_free(struct tap_held *held);

#endif
