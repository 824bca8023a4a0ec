/* SPDX-License-Identifier: MIT */
/*
 * The columns of an export's tables, as its file columns.csv has them. Hides that file,
 * and how a statement tells DuckDB the columns of a table.
 */
#ifndef TAP_TOOLS_COLUMNS_H
#define TAP_TOOLS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TAP_COLUMNS_FILE "columns.csv"

struct tap_column {
	char table[32], name[64], type[16];
};

/* All zero is none. */
struct tap_columns {
	struct tap_column *all; /* those of a table together */
	size_t count, room;
};

/* Returns 0, or an errno: ENOENT where the folder is no export. */
int tap_columns_read(struct tap_columns *columns, const char *folder);
void tap_columns_free(struct tap_columns *columns);

/* The first column of the table that is the next; NULL: there is none. Begin with NULL.
 */
const struct tap_column *tap_columns_next(const struct tap_columns *columns,
					  const struct tap_column *table);

/* Adds "a, b, " and "{'a': 'BIGINT', 'b': 'VARCHAR'}" of a table. */
void tap_columns_add_names(FILE *statements, const struct tap_columns *columns,
			   const struct tap_column *table);
void tap_columns_add_types(FILE *statements, const struct tap_columns *columns,
			   const struct tap_column *table);

/* Adds how a CSV file of a table is written: ", delim=',', ...". */
void tap_columns_add_csv(FILE *statements, const struct tap_columns *columns,
			 const struct tap_column *table);

#endif
