/* SPDX-License-Identifier: MIT */
/*
 * The columns of the report's tables: each is one line of an array that says how it is
 * called in JSON, what stands above it in the text, how wide it is there, in which unit
 * its values are and where they come from.  Text and JSON are made of the same lines; one
 * without a key is in the text alone, one without a header in JSON alone.
 *
 * Hides how a value of each unit is printed, what stands where it is unknown, and how
 * cells and headers are aligned.
 */
#ifndef TAP_JOIN_REPORT_COLUMNS_H
#define TAP_JOIN_REPORT_COLUMNS_H

#include "join/base/json.h"
#include "join/base/spread.h"
#include "join/model/span.h"
#include "join/report/rows.h"

#include <stddef.h>

enum tap_unit {
	TAP_UNIT_COUNT,
	TAP_UNIT_BYTES,
	TAP_UNIT_RATE,	   /* bytes in a second; the text has MB/s */
	TAP_UNIT_DURATION, /* nanoseconds; the text chooses the unit */
	TAP_UNIT_HEX,
	TAP_UNIT_NAME, /* a string of the trace */
	TAP_UNIT_TEXT, /* what .text writes; nothing is null in JSON */
};

struct tap_value {
	bool is_unknown;    /* "-" in the text, null in JSON */
	bool is_rounded;    /* a duration of which two digits are known: "~1.2 ms" */
	uint64_t number;    /* but of a name */
	const char *string; /* of a name; NULL unknown */
};

struct tap_column {
	const char *key;    /* in JSON; NULL: the text alone has it */
	const char *header; /* in the text; NULL: JSON alone has it */
	size_t width;	    /* in the text; names and texts stand left, the rest right */
	enum tap_unit unit;
	struct tap_value (*value)(const struct tap_column *column, const void *row);
	void (*text)(struct tap_buffer *buffer, const void *row);
	size_t at;		       /* of the value in the row */
	unsigned int percent;	       /* of a percentile */
	const struct tap_column *part; /* columns of what is at `at`; key: its object */
};

/* The end of an array of columns. */
#define TAP_COLUMNS_END \
	{ \
		0 \
	}

/* The offset of a member; does not compile where it is of another type. */
#define TAP_MEMBER(row, member, type) \
	(offsetof(row, member) + \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((row *) 0)->member), \
						      type) \
				 ? 1 \
				 : -1]))

/* A member of the row: a uint64_t, or a string. */
#define TAP_COLUMN(key_, header_, width_, unit_, row, member) \
	{ \
		.key = (key_), .header = (header_), .width = (width_), .unit = (unit_), \
		.value = tap_value_number, .at = TAP_MEMBER(row, member, uint64_t) \
	}
#define TAP_COLUMN_NAME(key_, header_, width_, row, member) \
	{ \
		.key = (key_), .header = (header_), .width = (width_), \
		.unit = TAP_UNIT_NAME, .value = tap_value_name, \
		.at = TAP_MEMBER(row, member, char *) \
	}

/* What a function finds out, as a value or as text. */
#define TAP_COLUMN_VALUE(key_, header_, width_, unit_, function) \
	{ \
		.key = (key_), .header = (header_), .width = (width_), .unit = (unit_), \
		.value = (function) \
	}
#define TAP_COLUMN_TEXT(key_, header_, width_, function) \
	{ \
		.key = (key_), .header = (header_), .width = (width_), \
		.unit = TAP_UNIT_TEXT, .text = (function) \
	}

/* A member that is a const struct tap_process *: its number, for JSON; NULL unknown. */
#define TAP_COLUMN_PROCESS(key_, row, member) \
	{ \
		.key = (key_), .value = tap_value_process, \
		.at = TAP_MEMBER(row, member, const struct tap_process *) \
	}

/* A member that is a const struct tap_name *: what a call is called, and its layer. */
#define TAP_COLUMN_CALL(key_, row, member) \
	{ \
		.key = (key_), .unit = TAP_UNIT_NAME, .value = tap_value_call, \
		.at = TAP_MEMBER(row, member, const struct tap_name *) \
	}
#define TAP_COLUMN_LAYER(key_, row, member) \
	{ \
		.key = (key_), .unit = TAP_UNIT_NAME, .value = tap_value_layer, \
		.at = TAP_MEMBER(row, member, const struct tap_name *) \
	}

/* A percentile of a member that is a struct tap_spread; 100 is the longest. */
#define TAP_COLUMN_PERCENTILE(key_, header_, width_, percent_, row, member) \
	{ \
		.key = (key_), .header = (header_), .width = (width_), \
		.unit = TAP_UNIT_DURATION, .value = tap_value_percentile, \
		.at = TAP_MEMBER(row, member, struct tap_spread), .percent = (percent_) \
	}

/* The columns of a member, in an object of their own where there is a key. */
#define TAP_COLUMN_PART(key_, columns, row, member) \
	{ \
		.key = (key_), .part = (columns), .at = offsetof(row, member) \
	}
/* Columns of the same row that several tables have. */
#define TAP_COLUMNS_OF(columns) \
	{ \
		.part = (columns) \
	}

struct tap_value tap_value_number(const struct tap_column *column, const void *row);
struct tap_value tap_value_name(const struct tap_column *column, const void *row);
struct tap_value tap_value_process(const struct tap_column *column, const void *row);
struct tap_value tap_value_call(const struct tap_column *column, const void *row);
struct tap_value tap_value_layer(const struct tap_column *column, const void *row);
struct tap_value tap_value_percentile(const struct tap_column *column, const void *row);
/* One that is less than 0 is unknown. */
struct tap_value tap_value_not_negative(int64_t number);

/* "p50_ns", "p99_ns" and "max_ns" of a struct tap_spread, for JSON. */
extern const struct tap_column tap_spread_columns[];

/* Headers or cells without a newline; the members of an object that is open. */
void tap_columns_add_headers(struct tap_buffer *line, const struct tap_column *columns);
void tap_columns_add_cells(struct tap_buffer *line, const struct tap_column *columns,
			   const void *row);
void tap_columns_add_members(struct tap_json *json, const struct tap_column *columns,
			     const void *row);

/* Headers and a line for each row; with a key an array with an object for each. */
void tap_columns_add_text(struct tap_buffer *line, const struct tap_column *columns,
			  const struct tap_rows *rows);
void tap_columns_add_json(struct tap_json *json, const char *key,
			  const struct tap_column *columns, const struct tap_rows *rows);
/* The text with an empty line after it; nothing where there are no rows. */
void tap_columns_add_section(struct tap_buffer *line, const struct tap_column *columns,
			     const struct tap_rows *rows);

#endif
