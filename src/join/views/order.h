/* SPDX-License-Identifier: MIT */
/*
 * Spans come when they end; a person reads them in order of their beginning.
 * This holds them back until none that began earlier is open, at most a fixed
 * number of them: an earlier call that is still open then is not waited for,
 * and its line comes late.  What ran on a GPU is known when it has ended: what began
 * after it may have, too, is held as well, until nothing of the kind is awaited.
 */
#ifndef TAP_JOIN_VIEWS_ORDER_H
#define TAP_JOIN_VIEWS_ORDER_H

#include "join/base/heap.h"
#include "join/model/span.h"

struct tap_context;

/* Takes a span whose turn it is.  Returns 0 or -errno. */
typedef int (*tap_order_take)(void *data, struct tap_span *span);

struct tap_order {
	struct tap_span **ring;
	size_t size;
	size_t first;
	size_t count;
	struct tap_heap runs; /* of the GPU, by their beginnings */
	uint64_t run_count;
	int64_t last_ns;       /* the beginning of the latest that was given */
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

/* A span of the GPU, which has ended.  Returns 0, -ENOMEM or what take returned. */
int tap_order_ran(struct tap_order *order, struct tap_span *span);

/* No span comes any more.  Returns 0 or what take returned. */
int tap_order_finish(struct tap_order *order);

/* Gives back what is held; before the join is destroyed. */
void tap_order_free(struct tap_order *order);

#endif
