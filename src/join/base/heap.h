/* SPDX-License-Identifier: MIT */
/*
 * A priority queue ordered by time: the reader merges hundreds of streams, and finding
 * the next event must cost the logarithm of their number.
 *
 * Hides how the order is kept.
 */
#ifndef TAP_JOIN_BASE_HEAP_H
#define TAP_JOIN_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/vec.h"

struct tap_heap_item {
	int64_t time_ns;
	/* Decides between equal times, so that two readings agree; unique */
	uint64_t order;
	void *value;
};

/* All zero is an empty heap. */
struct tap_heap {
	TAP_VEC(struct tap_heap_item);
};

/* Adds an item.  Returns 0 or -ENOMEM. */
int tap_heap_push(struct tap_heap *heap, const struct tap_heap_item *item);

/* The earliest item, or NULL when there is none; valid until the next change. */
const struct tap_heap_item *tap_heap_first(const struct tap_heap *heap);

/* Puts another item in the place of the earliest; the heap is not empty. */
void tap_heap_replace_first(struct tap_heap *heap, const struct tap_heap_item *item);

/* Takes the earliest item out; the heap is not empty. */
void tap_heap_pop(struct tap_heap *heap);

void tap_heap_free(struct tap_heap *heap);

#endif
