/* SPDX-License-Identifier: MIT */
/*
 * Where on its row a span is drawn: spans that overlap without one being in the
 * other get lanes of their own, and one that is in another lies above it.
 *
 * A beginning is told when it comes, long before its end is known.  So a span lies
 * above another only where it is known beforehand to end first: calls of one
 * thread do, and what a thread pushes and pops.  Hides how that is decided and what
 * is kept, which is as much as is open at once.
 */
#ifndef TAP_JOIN_VIEWS_LANE_H
#define TAP_JOIN_VIEWS_LANE_H

#include "join/model/span.h"

/* All zero is no row. */
struct tap_lanes {
	struct tap_table by_thread; /* rows, by (process, thread) */
	struct tap_row *unused;
	struct tap_table by_stream; /* of the GPU, by (process, device and stream) */
};

/* Sets the span's place; before anything of it is drawn.  Returns 0 or -ENOMEM. */
int tap_lanes_begin(struct tap_lanes *lanes, struct tap_span *span);

/* The same of a span that ran on a GPU, whose end is known. */
int tap_lanes_place(struct tap_lanes *lanes, struct tap_span *span);

/* The span is over; its place is free for others, and still tells lane and depth. */
void tap_lanes_end(struct tap_lanes *lanes, struct tap_span *span);

void tap_lanes_free(struct tap_lanes *lanes);

#endif
