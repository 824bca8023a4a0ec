/* SPDX-License-Identifier: MIT */
/*
 * The rows of one table of the report: sums that are found by a pair of numbers while
 * they are counted, and shown in the order in which they were added or sorted.
 *
 * Hides how rows are found, allocated and kept.
 */
#ifndef TAP_JOIN_REPORT_ROWS_H
#define TAP_JOIN_REPORT_ROWS_H

#include "join/base/table.h"

/* All zero is none. */
struct tap_rows {
	struct tap_table by_pair;
	void **all;
	size_t count, room;
};

/* The row of a pair, or NULL. */
void *tap_rows_find(const struct tap_rows *rows, uint64_t a, uint64_t b);

/*
 * Adds a row of so many bytes, all zero, which the pair finds from now on, in place of
 * another one.  NULL when memory is short.
 */
void *tap_rows_add(struct tap_rows *rows, uint64_t a, uint64_t b, size_t size);

/* Both: the row of a pair, which is added where there is none. */
void *tap_rows_get(struct tap_rows *rows, uint64_t a, uint64_t b, size_t size);

/* How two numbers are in order, for a comparison. */
static inline int tap_rows_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* compare is that of qsort(): it has pointers to pointers to rows. */
void tap_rows_sort(struct tap_rows *rows, int (*compare)(const void *, const void *));

/* Frees the rows, too; what they point to is the caller's. */
void tap_rows_free(struct tap_rows *rows);

#endif
