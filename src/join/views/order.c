/* SPDX-License-Identifier: MIT */
/* A ring of spans in order of beginning, whose head waits for its end. */
#include "join/views/order.h"

#include "join/model/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tap_order_init(struct tap_order *order, size_t size,
		   const struct tap_context *context, tap_order_take take, void *data)
{
	memset(order, 0, sizeof(*order));
	order->ring = malloc(size * sizeof(struct tap_span *));
	if (!order->ring)
		return -ENOMEM;
	order->size = size;
	order->context = context;
	order->take = take;
	order->last_ns = INT64_MIN;
	order->data = data;
	return 0;
}

static struct tap_span *first(const struct tap_order *order)
{
	return order->ring[order->first];
}

static void drop_first(struct tap_order *order)
{
	struct tap_span *span = first(order);

	order->first = (order->first + 1) % order->size;
	order->count--;
	tap_span_put(span);
}

static int64_t begin_of(const struct tap_span *span)
{
	return span->state == TAP_SPAN_BEGIN_LOST ? span->end_ns : span->begin_ns;
}

static int take_first(struct tap_order *order)
{
	int ret = 0;

	if (first(order)->state == TAP_SPAN_RUNNING) {
		first(order)->is_late = true;
	} else {
		if (begin_of(first(order)) > order->last_ns)
			order->last_ns = begin_of(first(order));
		ret = order->take(order->data, first(order));
	}
	drop_first(order);
	return ret;
}

static int take_run(struct tap_order *order)
{
	struct tap_span *span = tap_heap_first(&order->runs)->value;
	int ret;

	tap_heap_pop(&order->runs);
	if (span->begin_ns < order->last_ns)
		span->is_late = true;
	else
		order->last_ns = span->begin_ns;
	ret = order->take(order->data, span);
	tap_span_put(span);
	return ret;
}

/* Whether the next span ran on a GPU. */
static bool is_run_next(const struct tap_order *order)
{
	const struct tap_heap_item *run = tap_heap_first(&order->runs);

	return run && (!order->count || run->time_ns < begin_of(first(order)));
}

/* Gives the next span, or stops waiting for its end. */
static int take_next(struct tap_order *order)
{
	return is_run_next(order) ? take_run(order) : take_first(order);
}

static int flush(struct tap_order *order)
{
	const int64_t horizon_ns = tap_context_horizon(order->context);
	int ret = 0;

	while (!ret && (order->count || order->runs.count)) {
		if (is_run_next(order)) {
			if (tap_heap_first(&order->runs)->time_ns > horizon_ns)
				break;
		} else if (first(order)->state == TAP_SPAN_RUNNING ||
			   begin_of(first(order)) > horizon_ns) {
			break;
		}
		ret = take_next(order);
	}
	return ret;
}

int tap_order_begun(struct tap_order *order, struct tap_span *span)
{
	int ret = 0;

	/*
	 * The head is open or waits for the GPU: otherwise flush() would have given it.
	 */
	while (!ret && order->count == order->size)
		ret = take_next(order);
	if (!ret)
		ret = flush(order);
	if (ret)
		return ret;
	order->ring[(order->first + order->count++) % order->size] = tap_span_get(span);
	return 0;
}

int tap_order_ran(struct tap_order *order, struct tap_span *span)
{
	const struct tap_heap_item item = {.time_ns = span->begin_ns,
					   .order = order->run_count++,
					   .value = span};
	int ret = 0;

	while (!ret && order->runs.count >= order->size)
		ret = take_next(order);
	if (ret)
		return ret;
	ret = tap_heap_push(&order->runs, &item);
	if (ret)
		return ret;
	tap_span_get(span);
	return flush(order);
}

int tap_order_finish(struct tap_order *order)
{
	int ret = 0;

	while (!ret && (order->count || order->runs.count))
		ret = take_next(order);
	return ret;
}

int tap_order_ended(struct tap_order *order, struct tap_span *span)
{
	int ret;

	if (span->is_late)
		return order->take(order->data, span);
	if (span->state == TAP_SPAN_BEGIN_LOST) {
		ret = tap_order_begun(order, span);
		if (ret)
			return ret;
	}
	return flush(order);
}

void tap_order_free(struct tap_order *order)
{
	while (order->count)
		drop_first(order);
	for (; order->runs.count; tap_heap_pop(&order->runs))
		tap_span_put(tap_heap_first(&order->runs)->value);
	tap_heap_free(&order->runs);
	free(order->ring);
	memset(order, 0, sizeof(*order));
}
