/* SPDX-License-Identifier: MIT */
/* A binary heap in an array. */
#include "join/base/heap.h"

#include <errno.h>
#include <stdbool.h>

static bool is_before(const struct tap_heap_item *a, const struct tap_heap_item *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->order < b->order;
}

int tap_heap_push(struct tap_heap *heap, const struct tap_heap_item *item)
{
	size_t i;

	if (tap_vec_reserve(heap, heap->count + 1))
		return -ENOMEM;
	for (i = heap->count++; i && is_before(item, &heap->items[(i - 1) / 2]);
	     i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = *item;
	return 0;
}

const struct tap_heap_item *tap_heap_first(const struct tap_heap *heap)
{
	return heap->count ? &heap->items[0] : NULL;
}

void tap_heap_replace_first(struct tap_heap *heap, const struct tap_heap_item *item)
{
	struct tap_heap_item moving = *item;
	size_t i = 0, child;

	for (child = 1; child < heap->count; child = 2 * i + 1) {
		if (child + 1 < heap->count &&
		    is_before(&heap->items[child + 1], &heap->items[child]))
			child++;
		if (!is_before(&heap->items[child], &moving))
			break;
		heap->items[i] = heap->items[child];
		i = child;
	}
	heap->items[i] = moving;
}

void tap_heap_pop(struct tap_heap *heap)
{
	heap->count--;
	if (heap->count)
		tap_heap_replace_first(heap, &heap->items[heap->count]);
}

void tap_heap_free(struct tap_heap *heap)
{
	tap_vec_free(heap);
}
