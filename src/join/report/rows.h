/* SPDX-License-Identifier: MIT */
/*
 * The rows of one table of the report: sums that are found by a pair of numbers while
 * they are counted, and shown in the order in which they were added, or sorted.
 *
 * Hides how rows are found, allocated and stored.
 */
#ifndef TAP_JOIN_REPORT_ROWS_H
#define TAP_JOIN_REPORT_ROWS_H

#include "join/base/table.h"

#include <stdbool.h>

/* All zero is empty. */
struct tap_rows {
	struct tap_table by_pair;
	void **all;
	size_t count, room;
};

/* The row of a pair, or NULL. */
void *tap_rows_find(const struct tap_rows *rows, uint64_t a, uint64_t b);

/*
 * Adds a row of `size` zero bytes, which the pair finds from now on, instead of another
 * row.  NULL when memory is short.
 */
void *tap_rows_add(struct tap_rows *rows, uint64_t a, uint64_t b, size_t size);

/* The row of a pair, added when there is none.  NULL when memory is short. */
void *tap_rows_get(struct tap_rows *rows, uint64_t a, uint64_t b, size_t size);

/* Compares two numbers, for qsort(). */
static inline int tap_rows_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Sorts the rows. compare is that of qsort(): its arguments point to pointers to rows. */
void tap_rows_sort(struct tap_rows *rows, int (*compare)(const void *, const void *));

/*
 * Drops the rows of which keeps() says no; no row is looked up or added after that.
 */
void tap_rows_keep(struct tap_rows *rows,
		   bool (*keeps)(const void *row, const void *data), const void *data);

/* Frees the table and the rows, but not what the rows point to. */
void tap_rows_free(struct tap_rows *rows);

#endif
