/* SPDX-License-Identifier: MIT */
/*
 * Reads the numeric fields of an event, and arrays of numbers where one event describes
 * several requests.
 *
 * Hides how a field is found: callers ask for fields mostly in the event's order, so each
 * search starts behind the field found last.
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

/* The numeric field `name`, 0 where the event has none. */
uint64_t tap_read_number(struct tap_reader *reader, const char *name);
/* The same, by a search from the first field. */
uint64_t tap_event_number(const struct tap_event *event, const char *name);

struct tap_column tap_read_column(struct tap_reader *reader, const char *name);

/* Element i, 0 beyond the end; a plain number stands for every i. */
static inline uint64_t tap_column_at(const struct tap_column *column, size_t i)
{
	if (!column->elements)
		return column->number;
	return i < column->count ? column->elements[i] : 0;
}

#endif
