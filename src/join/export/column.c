/* SPDX-License-Identifier: MIT */
/* CSV as RFC 4180 has it: a text with a comma, a quote or a line end is in quotes. */
#include "join/export/column.h"

/* U+FFFD, for what is no character. */
#define NO_CHARACTER "\xef\xbf\xbd"

/* ---- Fields ---- */

static struct tap_export_value number_of(const struct tap_export_column *column,
					 const struct tap_field *field)
{
	const int64_t number = field->kind == TAP_FIELD_SIGNED ? field->value.i
							       : (int64_t) field->value.u;

	return tap_export_number_if(!column->has_least || number >= column->least,
				    number);
}

struct tap_export_value tap_export_field(const struct tap_export_column *column,
					 const struct tap_fields *fields,
					 const struct tap_field *field)
{
	if (!field || field->kind == TAP_FIELD_REAL || field->kind == TAP_FIELD_ARRAY)
		return tap_export_number_if(false, 0);
	if (field->kind != TAP_FIELD_STRING)
		return column->type == TAP_EXPORT_TEXT && field->label
			       ? tap_export_text(field->label)
			       : number_of(column, field);
	return column->type == TAP_EXPORT_TEXT
		       ? tap_export_text(tap_fields_string(fields, field))
		       : tap_export_number_if(false, 0);
}

/* ---- CSV ---- */

void tap_export_add_names(struct tap_buffer *line,
			  const struct tap_export_column *columns)
{
	const struct tap_export_column *column;

	for (column = columns; column->name; column++) {
		if (column != columns)
			tap_buffer_add_char(line, ',');
		tap_buffer_add_string(line, column->name);
	}
	tap_buffer_add_char(line, '\n');
}

/* Whether the bytes up to the end are characters, none of which needs quotes. */
static bool is_plain(const char *text)
{
	const unsigned char *at = (const unsigned char *) text;

	while (*at > ' ' && *at < 127 && *at != '"' && *at != ',')
		at++;
	return !*at;
}

static void add_quoted(struct tap_buffer *line, const char *text)
{
	size_t length;

	tap_buffer_add_char(line, '"');
	for (; *text; text += length) {
		length = tap_buffer_character_length((const unsigned char *) text);
		if (*text == '"')
			tap_buffer_add_char(line, '"');
		if (length)
			tap_buffer_add(line, text, length);
		else
			tap_buffer_add_string(line, NO_CHARACTER);
		length += !length;
	}
	tap_buffer_add_char(line, '"');
}

static void add_cell(struct tap_buffer *line, const struct tap_export_column *column,
		     const struct tap_export_value *value)
{
	if (column->type == TAP_EXPORT_BOOLEAN)
		tap_buffer_add_string(line, value->number ? "true" : "false");
	else if (!value->text)
		tap_buffer_add_signed(line, value->number);
	else if (is_plain(value->text))
		tap_buffer_add_string(line, value->text);
	else
		add_quoted(line, value->text);
}

void tap_export_add_csv(struct tap_buffer *line, const struct tap_export_column *columns,
			const void *row)
{
	const struct tap_export_column *column;

	for (column = columns; column->name; column++) {
		const struct tap_export_value value = column->value(column, row);

		if (column != columns)
			tap_buffer_add_char(line, ',');
		if (value.is_known)
			add_cell(line, column, &value);
	}
	tap_buffer_add_char(line, '\n');
}

/* ---- JSON ---- */

/* A number in a column of texts. */
static void add_digits(struct tap_json *json, const char *name, int64_t number)
{
	tap_buffer_add_signed(&json->text, number);
	tap_json_text(json, name);
}

void tap_export_add_json(struct tap_buffer *line, struct tap_json *json,
			 const struct tap_export_column *columns, const void *row)
{
	const struct tap_export_column *column;

	tap_json_open(json, NULL, '{');
	for (column = columns; column->name; column++) {
		const struct tap_export_value value = column->value(column, row);

		if (!value.is_known)
			tap_json_null(json, column->name);
		else if (column->type == TAP_EXPORT_BOOLEAN)
			tap_json_bool(json, column->name, value.number);
		else if (value.text)
			tap_json_string(json, column->name, value.text);
		else if (column->type == TAP_EXPORT_INTEGER)
			tap_json_signed(json, column->name, value.number);
		else
			add_digits(json, column->name, value.number);
	}
	tap_json_end_line(json, line);
}

/* ---- Types ---- */

void tap_export_add_types(struct tap_buffer *line, const struct tap_export_table *table)
{
	static const char *const types[] = {[TAP_EXPORT_INTEGER] = "BIGINT",
					    [TAP_EXPORT_TEXT] = "VARCHAR",
					    [TAP_EXPORT_BOOLEAN] = "BOOLEAN"};
	const struct tap_export_column *column;

	for (column = table->columns; column->name; column++) {
		tap_buffer_add_string(line, table->name);
		tap_buffer_add_char(line, ',');
		tap_buffer_add_string(line, column->name);
		tap_buffer_add_char(line, ',');
		tap_buffer_add_string(line, types[column->type]);
		tap_buffer_add_char(line, '\n');
	}
}
