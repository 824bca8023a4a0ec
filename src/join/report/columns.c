/* SPDX-License-Identifier: MIT */
/* A column is shown by its unit; the columns of a part are shown in its place. */
#include "join/report/columns.h"

#include "join/views/view.h"

#define BYTES_IN_MB 1000000

static bool is_end(const struct tap_column *column)
{
	return !column->value && !column->text && !column->part;
}

/* The place in the row that the column reads. */
static const void *place(const struct tap_column *column, const void *row)
{
	return (const char *) row + column->at;
}

struct tap_value tap_value_number(const struct tap_column *column, const void *row)
{
	const uint64_t *number = place(column, row);

	return (struct tap_value){.number = *number};
}

struct tap_value tap_value_name(const struct tap_column *column, const void *row)
{
	const char *const *name = place(column, row);

	return (struct tap_value){.is_unknown = !*name, .string = *name};
}

struct tap_value tap_value_process(const struct tap_column *column, const void *row)
{
	const struct tap_process *const *process = place(column, row);

	if (!*process)
		return (struct tap_value){.is_unknown = true};
	return (struct tap_value){.number = (*process)->number};
}

struct tap_value tap_value_call(const struct tap_column *column, const void *row)
{
	const struct tap_name *const *name = place(column, row);

	return (struct tap_value){.string = (*name)->name};
}

struct tap_value tap_value_layer(const struct tap_column *column, const void *row)
{
	const struct tap_name *const *name = place(column, row);

	return (struct tap_value){.string = (*name)->layer};
}

struct tap_value tap_value_not_negative(int64_t number)
{
	return (struct tap_value){.is_unknown = number < 0, .number = (uint64_t) number};
}

struct tap_value tap_value_percentile(const struct tap_column *column, const void *row)
{
	const struct tap_spread *spread = place(column, row);
	struct tap_value value;

	if (column->percent == 100)
		return tap_value_not_negative(tap_spread_max(spread));
	value = tap_value_not_negative(tap_spread_percentile(spread, column->percent));
	value.is_rounded = !tap_spread_is_exact(spread);
	return value;
}

const struct tap_column tap_spread_columns[] = {
	{.key = "p50_ns", .value = tap_value_percentile, .percent = 50},
	{.key = "p99_ns", .value = tap_value_percentile, .percent = 99},
	{.key = "max_ns", .value = tap_value_percentile, .percent = 100},
	TAP_COLUMNS_END,
};

/* ---- Text ---- */

struct scale {
	uint64_t unit;
	const char *name;
};

static const struct scale durations[] = {{1000000000, " s"},
					 {1000000, " ms"},
					 {1000, " us"},
					 {1, " ns"}};
static const struct scale speeds[] = {{1000000000, " GB/s"},
				      {1000000, " MB/s"},
				      {1000, " kB/s"},
				      {1, " B/s"}};

/* Adds a number in the largest unit that fits, and a decimal where it is below ten. */
static void add_scaled(struct tap_buffer *line, const struct scale *scale,
		       uint64_t number)
{
	while (scale->unit > 1 && number < scale->unit)
		scale++;
	tap_buffer_add_unsigned(line, number / scale->unit);
	if (scale->unit > 1 && number / scale->unit < 10) {
		tap_buffer_add_char(line, '.');
		tap_buffer_add_unsigned(line, number % scale->unit / (scale->unit / 10));
	}
	tap_buffer_add_string(line, scale->name);
}

void tap_columns_add_short(struct tap_buffer *line, uint64_t ns)
{
	add_scaled(line, durations, ns);
}

void tap_columns_add_speed(struct tap_buffer *line, uint64_t bytes_per_second)
{
	add_scaled(line, speeds, bytes_per_second);
}

/* Adds "~1.2 ms": a duration rounded to two digits. */
static void add_about(struct tap_buffer *line, uint64_t ns)
{
	tap_buffer_add_char(line, '~');
	add_scaled(line, durations, tap_spread_round(ns));
}

static void add_known(struct tap_buffer *line, enum tap_unit unit,
		      const struct tap_value *value)
{
	switch (unit) {
	case TAP_UNIT_RATE:
		tap_buffer_add_unsigned(line, value->number / BYTES_IN_MB);
		break;
	case TAP_UNIT_DURATION:
		if (value->is_rounded)
			add_about(line, value->number);
		else
			tap_view_add_duration(line, (int64_t) value->number);
		break;
	case TAP_UNIT_SHORT:
		tap_columns_add_short(line, value->number);
		break;
	case TAP_UNIT_SPEED:
		tap_columns_add_speed(line, value->number);
		break;
	case TAP_UNIT_PERCENT:
		tap_buffer_add_unsigned(line, value->number);
		tap_buffer_add_char(line, '%');
		break;
	case TAP_UNIT_HEX:
		tap_buffer_add_hex(line, value->number);
		break;
	case TAP_UNIT_NAME:
		tap_buffer_add_visible(line, value->string);
		break;
	default:
		tap_buffer_add_unsigned(line, value->number);
	}
}

static void add_value(struct tap_buffer *line, const struct tap_column *column,
		      const void *row)
{
	const struct tap_value value = column->value(column, row);

	if (value.is_unknown)
		tap_buffer_add_char(line, '-');
	else
		add_known(line, column->unit, &value);
}

static bool is_left(const struct tap_column *column)
{
	return column->unit == TAP_UNIT_NAME || column->unit == TAP_UNIT_TEXT;
}

/* Adds a cell, or with row NULL the header. */
static void add_content(struct tap_buffer *line, const struct tap_column *column,
			const void *row)
{
	if (!row)
		tap_buffer_add_string(line, column->header);
	else if (column->text)
		column->text(line, row);
	else
		add_value(line, column, row);
}

static void add_cell(struct tap_buffer *line, const struct tap_column *column,
		     const void *row, bool is_first)
{
	const size_t start = line->used, gap = is_left(column) && !is_first ? 2 : 0;

	tap_buffer_fill(line, start, gap, ' ');
	add_content(line, column, row);
	if (!is_left(column))
		tap_buffer_align_right(line, start, column->width);
	else if (column->width)
		tap_buffer_fill(line, start, gap + column->width, ' ');
	else if (line->used == start + gap)
		line->used = start; /* an empty cell, with none after it */
}

static void add_line(struct tap_buffer *line, const struct tap_column *columns,
		     const void *row, bool *is_first)
{
	const struct tap_column *column;

	for (column = columns; !is_end(column); column++) {
		if (column->part) {
			add_line(line, column->part, row ? place(column, row) : NULL,
				 is_first);
		} else if (column->header) {
			add_cell(line, column, row, *is_first);
			*is_first = false;
		}
	}
}

void tap_columns_add_headers(struct tap_buffer *line, const struct tap_column *columns)
{
	bool is_first = true;

	add_line(line, columns, NULL, &is_first);
}

void tap_columns_add_cells(struct tap_buffer *line, const struct tap_column *columns,
			   const void *row)
{
	bool is_first = true;

	add_line(line, columns, row, &is_first);
}

void tap_columns_add_text(struct tap_buffer *line, const struct tap_column *columns,
			  const struct tap_rows *rows)
{
	size_t i;

	tap_columns_add_headers(line, columns);
	tap_buffer_add_char(line, '\n');
	for (i = 0; i < rows->count; i++) {
		tap_columns_add_cells(line, columns, rows->all[i]);
		tap_buffer_add_char(line, '\n');
	}
}

void tap_columns_add_top(struct tap_buffer *line, const struct tap_column *columns,
			 const struct tap_rows *rows, size_t lines)
{
	struct tap_rows shown = *rows;

	if (rows->count + 1 > lines)
		shown.count = lines > 2 ? lines - 2 : 0;
	tap_columns_add_text(line, columns, &shown);
	if (shown.count == rows->count)
		return;
	tap_buffer_add_string(line, "  and ");
	tap_buffer_add_unsigned(line, rows->count - shown.count);
	tap_buffer_add_string(line, " more\n");
}

void tap_columns_add_section(struct tap_buffer *line, const struct tap_column *columns,
			     const struct tap_rows *rows)
{
	if (!rows->count)
		return;
	tap_columns_add_text(line, columns, rows);
	tap_buffer_add_char(line, '\n');
}

/* ---- JSON ---- */

static void add_text_member(struct tap_json *json, const struct tap_column *column,
			    const void *row)
{
	column->text(&json->text, row);
	if (json->text.used || json->text.is_short)
		tap_json_text(json, column->key);
	else
		tap_json_null(json, column->key);
}

static void add_member(struct tap_json *json, const struct tap_column *column,
		       const void *row)
{
	struct tap_value value;

	if (column->text) {
		add_text_member(json, column, row);
		return;
	}
	value = column->value(column, row);
	if (value.is_unknown)
		tap_json_null(json, column->key);
	else if (column->unit == TAP_UNIT_NAME)
		tap_json_string(json, column->key, value.string);
	else if (column->unit == TAP_UNIT_HEX)
		tap_json_hex(json, column->key, value.number);
	else
		tap_json_unsigned(json, column->key, value.number);
}

void tap_columns_add_members(struct tap_json *json, const struct tap_column *columns,
			     const void *row)
{
	const struct tap_column *column;

	for (column = columns; !is_end(column); column++) {
		if (!column->part && column->key)
			add_member(json, column, row);
		if (!column->part)
			continue;
		if (column->key)
			tap_json_open(json, column->key, '{');
		tap_columns_add_members(json, column->part, place(column, row));
		if (column->key)
			tap_json_close(json);
	}
}

void tap_columns_add_json(struct tap_json *json, const char *key,
			  const struct tap_column *columns, const struct tap_rows *rows)
{
	size_t i;

	tap_json_open(json, key, '[');
	for (i = 0; i < rows->count; i++) {
		tap_json_open(json, NULL, '{');
		tap_columns_add_members(json, columns, rows->all[i]);
		tap_json_close(json);
	}
	tap_json_close(json);
}
