/* SPDX-License-Identifier: MIT */
/*
 * The columns of the report's tables: each is one line of an array with its key in JSON,
 * its header and width in the text, its unit, and the source of its values.  Text and
 * JSON use the same lines; a column without a key is only in the text, one without a
 * header only in JSON.
 *
 * Hides how a value of each unit is printed, what replaces an unknown value, and how
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
	TAP_UNIT_SPEED,	   /* the same; the text chooses the unit */
	TAP_UNIT_DURATION, /* nanoseconds; the text chooses the unit */
	TAP_UNIT_SHORT,	   /* the same, with three digits at most */
	TAP_UNIT_PERCENT,
	TAP_UNIT_HEX,
	TAP_UNIT_NAME, /* a string of the trace */
	TAP_UNIT_TEXT, /* what .text writes; an empty text is null in JSON */
};

struct tap_value {
	bool is_unknown;    /* "-" in the text, null in JSON */
	bool is_rounded;    /* a duration with two significant digits: */
	uint64_t number;    /* except of a name */
	const char *string; /* of a name; NULL unknown */
};

struct tap_column {
	const char *key;    /* in JSON; NULL: only in the text */
	const char *header; /* in the text; NULL: only in JSON */
	size_t width; /* in the text; names and texts are aligned left, the rest right */
	enum tap_unit unit;
	struct tap_value (*value)(const struct tap_column *column, const void *row);
	void (*text)(struct tap_buffer *buffer, const void *row);
	size_t at;		       /* offset of the value in the row */
	unsigned int percent;	       /* of a percentile */
	const struct tap_column *part; /* of the member at `at`; key: its object */
};

/* The end of an array of columns. */
#define TAP_COLUMNS_END \
	{ \
		0 \
	}

/* The offset of a member; compiling fails where the member has another type. */
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

/* The result of a function, as a value or as text. */
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

/* A member that is a const struct tap_name *: the call's name, or its layer. */
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
/* Columns of the same row, shared by several tables. */
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
/* A value; a negative number is unknown. */
struct tap_value tap_value_not_negative(int64_t number);

/* Adds "2.4 s", "24 s" or "240 ms": a duration in as few digits as a person compares. */
void tap_columns_add_short(struct tap_buffer *line, uint64_t ns);
/* Adds "2.4 GB/s", likewise. */
void tap_columns_add_speed(struct tap_buffer *line, uint64_t bytes_per_second);

/* "p50_ns", "p99_ns" and "max_ns" of a struct tap_spread, for JSON. */
extern const struct tap_column tap_spread_columns[];

/* Adds headers or cells without a newline, or members to the open object. */
void tap_columns_add_headers(struct tap_buffer *line, const struct tap_column *columns);
void tap_columns_add_cells(struct tap_buffer *line, const struct tap_column *columns,
			   const void *row);
void tap_columns_add_members(struct tap_json *json, const struct tap_column *columns,
			     const void *row);

/*
 * Adds headers and a line for each row, or an array with the key that has an object for
 * each row.
 */
void tap_columns_add_text(struct tap_buffer *line, const struct tap_column *columns,
			  const struct tap_rows *rows);
void tap_columns_add_json(struct tap_json *json, const char *key,
			  const struct tap_column *columns, const struct tap_rows *rows);
/*
 * Adds headers and the first rows in at most `lines` lines, of which the last says how
 * many others there are.
 */
void tap_columns_add_top(struct tap_buffer *line, const struct tap_column *columns,
			 const struct tap_rows *rows, size_t lines);
/* Adds the text and an empty line; nothing where there are no rows. */
void tap_columns_add_section(struct tap_buffer *line, const struct tap_column *columns,
			     const struct tap_rows *rows);

#endif
