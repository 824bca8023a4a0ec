/* SPDX-License-Identifier: MIT */
/*
 * A table of an export is an array of columns: one line for each, with its name, its type
 * and where its value is found.
 *
 * Hides how a row is written as CSV and as JSON, so that all tables of both formats write
 * a value, and an unknown one, alike.
 */
#ifndef TAP_JOIN_EXPORT_COLUMN_H
#define TAP_JOIN_EXPORT_COLUMN_H

#include "join/base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No other type: each is one of DuckDB, of Parquet and of Spark. */
enum tap_export_type { TAP_EXPORT_INTEGER, TAP_EXPORT_TEXT, TAP_EXPORT_BOOLEAN };

struct tap_export_value {
	bool is_known;
	int64_t number;	  /* of an integer or a boolean; of a key, its 64 bits */
	const char *text; /* of a text: bytes of a trace; NULL: the number, in digits */
};

struct tap_export_column {
	const char *name; /* NULL at the end of an array */
	enum tap_export_type type;
	struct tap_export_value (*value)(const struct tap_export_column *column,
					 const void *row);
	const char *field; /* of a value that is a field of the row: its name */
	size_t at;	   /* of one that is a member of the row: where */
	bool has_least;	   /* smaller numbers are unknown */
	int64_t least;
};

struct tap_export_table {
	const char *name;
	const struct tap_export_column *columns;
};

/* An integer or a boolean, and one that may be unknown. */
static inline struct tap_export_value tap_export_number(int64_t number)
{
	return (struct tap_export_value){.is_known = true, .number = number};
}

static inline struct tap_export_value tap_export_number_if(bool is_known, int64_t number)
{
	return (struct tap_export_value){.is_known = is_known, .number = number};
}

/* A negative number is unknown; 0 is. */
static inline struct tap_export_value tap_export_not_negative(int64_t number)
{
	return tap_export_number_if(number >= 0, number);
}

static inline struct tap_export_value tap_export_not_zero(uint64_t number)
{
	return tap_export_number_if(number, (int64_t) number);
}

static inline struct tap_export_value tap_export_text(const char *text)
{
	return (struct tap_export_value){.is_known = text && *text, .text = text};
}

/* A field of a list, NULL: unknown.  As a text, an enumeration is its label. */
struct tap_export_value tap_export_field(const struct tap_export_column *column,
					 const struct tap_fields *fields,
					 const struct tap_field *field);

/* Each adds a line: the names of the columns, the row as CSV, the row as JSON. */
void tap_export_add_names(struct tap_buffer *line,
			  const struct tap_export_column *columns);
void tap_export_add_csv(struct tap_buffer *line, const struct tap_export_column *columns,
			const void *row);
void tap_export_add_json(struct tap_buffer *line, struct tap_json *json,
			 const struct tap_export_column *columns, const void *row);

/* Adds "TABLE,COLUMN,TYPE", a line for each column, with the types of SQL. */
void tap_export_add_types(struct tap_buffer *line, const struct tap_export_table *table);

#endif
