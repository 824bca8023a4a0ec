/* SPDX-License-Identifier: MIT */
/* An array of pointers, since a row keeps its address, and a table of the same rows. */
#include "join/report/rows.h"

#include "common/vec.h"

#include <stdlib.h>
#include <string.h>

void *tap_rows_find(const struct tap_rows *rows, uint64_t a, uint64_t b)
{
	return tap_table_find(&rows->by_pair, a, b);
}

void *tap_rows_add(struct tap_rows *rows, uint64_t a, uint64_t b, size_t size)
{
	void *row;

	if (tap_array_reserve(rows->all, rows->room, rows->count + 1))
		return NULL;
	row = calloc(1, size);
	if (!row)
		return NULL;
	if (tap_table_set(&rows->by_pair, a, b, row)) {
		free(row);
		return NULL;
	}
	rows->all[rows->count++] = row;
	return row;
}

void *tap_rows_get(struct tap_rows *rows, uint64_t a, uint64_t b, size_t size)
{
	void *row = tap_rows_find(rows, a, b);

	return row ? row : tap_rows_add(rows, a, b, size);
}

void tap_rows_sort(struct tap_rows *rows, int (*compare)(const void *, const void *))
{
	if (rows->count)
		qsort(rows->all, rows->count, sizeof(*rows->all), compare);
}

void tap_rows_keep(struct tap_rows *rows,
		   bool (*keeps)(const void *row, const void *data), const void *data)
{
	size_t i, kept = 0;

	for (i = 0; i < rows->count; i++)
		if (keeps(rows->all[i], data))
			rows->all[kept++] = rows->all[i];
		else
			free(rows->all[i]);
	rows->count = kept;
}

void tap_rows_free(struct tap_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		free(rows->all[i]);
	free(rows->all);
	tap_table_free(&rows->by_pair);
	memset(rows, 0, sizeof(*rows));
}
