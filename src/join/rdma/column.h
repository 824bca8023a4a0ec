/* SPDX-License-Identifier: MIT */
/*
 * Numbers of an event, and columns of them where it is of several requests.
 *
 * Hides how a field is found: fields come in the order in which they are asked for, as a
 * rule, so that the next one is looked for behind the last.
 */
#ifndef TAP_JOIN_RDMA_COLUMN_H
#define TAP_JOIN_RDMA_COLUMN_H

#include "join/model/event.h"

struct tap_reader {
	const struct tap_fields *fields;
	size_t next;
};

/* An array, or the plain number of an event without arrays. */
struct tap_column {
	const uint64_t *elements;
	size_t count;
	uint64_t number;
};

/* The number of this name, 0 where there is none. */
uint64_t tap_read_number(struct tap_reader *reader, const char *name);
/* The same without an order. */
uint64_t tap_event_number(const struct tap_event *event, const char *name);

struct tap_column tap_read_column(struct tap_reader *reader, const char *name);

/* Element i, 0 where there is none. */
static inline uint64_t tap_column_at(const struct tap_column *column, size_t i)
{
	if (!column->elements)
		return column->number;
	return i < column->count ? column->elements[i] : 0;
}

#endif
