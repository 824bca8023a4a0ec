/* SPDX-License-Identifier: MIT */
/*
 * Where on its row a span is drawn: spans that overlap without nesting get separate
 * lanes, a nested span lies above the one around it.
 *
 * Hides how that is decided, long before the end of a span is known: a span lies above
 * another only where it is certain to end first, as calls of one thread do, and ranges
 * that a thread pushes and pops.  The memory is bounded by the number of spans that are
 * open at once.
 */
#ifndef TAP_JOIN_VIEWS_LANE_H
#define TAP_JOIN_VIEWS_LANE_H

#include "join/model/span.h"

/* What the spans of a lane share, so that the upper one ends before the lower. */
enum {
	TAP_NEST_NOWHERE, /* nothing: the span is alone in its lane */
	TAP_NEST_AMONG_CALLS,
	TAP_NEST_ANYWHERE,  /* the span ends when it begins */
	TAP_NEST_IN_DOMAIN, /* and above: a hash of the domain */
};
uint64_t tap_lanes_nest(const struct tap_span *span);

/* All zero is no row. */
struct tap_lanes {
	struct tap_table by_thread; /* rows, by (process, thread) */
	struct tap_row *unused;
	/* Of the GPU, by (process, device and stream), or of a connection. */
	struct tap_table by_stream;
};

/* Sets the span's place, before the span is drawn.  Returns 0 or -ENOMEM. */
int tap_lanes_begin(struct tap_lanes *lanes, struct tap_span *span);

/* Sets the place of a span that is known late, with its end.  Returns 0 or -ENOMEM. */
int tap_lanes_place(struct tap_lanes *lanes, struct tap_span *span);

/* Frees the span's place for others when it is over; lane and depth stay readable. */
void tap_lanes_end(struct tap_lanes *lanes, struct tap_span *span);

void tap_lanes_free(struct tap_lanes *lanes);

#endif
