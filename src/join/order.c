/* SPDX-License-Identifier: MIT */
/* A ring of spans in order of beginning, whose head waits for its end. */
#include "join/order.h"

#include "join/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tap_order_init(struct tap_order *order, size_t size, struct tap_join *join,
		   tap_order_take take, void *data)
{
	memset(order, 0, sizeof(*order));
	order->ring = malloc(size * sizeof(struct tap_span *));
	if (!order->ring)
		return -ENOMEM;
	order->size = size;
	order->join = join;
	order->take = take;
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
	tap_span_put(order->join, span);
}

static int flush(struct tap_order *order)
{
	int ret = 0;

	while (!ret && order->count && first(order)->state != TAP_SPAN_RUNNING) {
		ret = order->take(order->data, first(order));
		drop_first(order);
	}
	return ret;
}

int tap_order_begun(struct tap_order *order, struct tap_span *span)
{
	int ret = 0;

	if (order->count == order->size) {
		/* The head is open, else it would have gone. */
		first(order)->is_late = true;
		drop_first(order);
		ret = flush(order);
	}
	order->ring[(order->first + order->count++) % order->size] = tap_span_get(span);
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
	free(order->ring);
	memset(order, 0, sizeof(*order));
}
