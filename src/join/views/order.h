/* SPDX-License-Identifier: MIT */
/*
 * Brings spans, which come when they end, in order of their beginning, for a person who
 * reads them.
 *
 * Hides how spans are held back until no earlier one is open, at most a fixed number of
 * them: beyond that the order no longer waits for an earlier call that is still open, and
 * its line comes late.  A span on a GPU is known only after its end: spans that began
 * after it are held as well, until no earlier work on a GPU is awaited.
 */
#ifndef TAP_JOIN_VIEWS_ORDER_H
#define TAP_JOIN_VIEWS_ORDER_H

#include "join/base/heap.h"
#include "join/model/span.h"

struct tap_context;

/* Takes the next span in order.  Returns 0 or -errno. */
typedef int (*tap_order_take)(void *data, struct tap_span *span);

struct tap_order {
	struct tap_span **ring;
	size_t size;
	size_t first;
	size_t count;
	struct tap_heap runs; /* on a GPU, by their beginnings */
	uint64_t run_count;
	int64_t last_ns; /* the beginning of the latest span given to take */
	const struct tap_context *context;
	tap_order_take take;
	void *data;
};

/* Holds at most size (at least 1) spans.  Returns 0 or -ENOMEM. */
int tap_order_init(struct tap_order *order, size_t size,
		   const struct tap_context *context, tap_order_take take, void *data);

/* A span has begun.  Returns 0 or what take returned. */
int tap_order_begun(struct tap_order *order, struct tap_span *span);

/* A span has ended.  Returns 0 or what take returned. */
int tap_order_ended(struct tap_order *order, struct tap_span *span);

/* A span on a GPU has ended.  Returns 0, -ENOMEM or what take returned. */
int tap_order_ran(struct tap_order *order, struct tap_span *span);

/* Gives all that is held, after the last span.  Returns 0 or what take returned. */
int tap_order_finish(struct tap_order *order);

/* Drops what is held; call it before the join is destroyed. */
void tap_order_free(struct tap_order *order);

#endif
