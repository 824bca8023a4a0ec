/* SPDX-License-Identifier: MIT */
/* JSON is written at once, with no tree in between: a trace has millions of lines. */
#include "join/base/json.h"

#include <math.h>

#define PLAIN_MAX 256 /* bytes */

/* ASCII that needs no escape in a string. */
static const bool is_plain[256] = {
	[' '] = true,
	['!'] = true,
	['#' ... '['] = true,
	[']' ... 0x7f] = true,
};

static void add_escaped(struct tap_buffer *line, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	static const char letters[] = {
		['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
	};
	const char letter[] = {'\\', letters[c]};
	const char code[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};

	if (letters[c])
		tap_buffer_add(line, letter, sizeof(letter));
	else
		tap_buffer_add(line, code, sizeof(code));
}

/*
 * Adds a string of any bytes; bytes that are not UTF-8 become U+FFFD. Two names may
 * thereby become equal, which the CTF that is read forbids: readers of JSON take the
 * later value.
 */
static void add_mended(struct tap_buffer *line, const char *string)
{
	const unsigned char *s = (const unsigned char *) string;

	while (*s) {
		size_t length = tap_buffer_character_length(s);

		if (is_plain[*s] || length > 1)
			tap_buffer_add(line, (const char *) s, length);
		else if (length)
			add_escaped(line, *s);
		else
			tap_buffer_add_string(line, "\xef\xbf\xbd");
		s += length ? length : 1;
	}
}

/*
 * Adds a quoted string.  Nearly all strings are short and plain: the function copies them
 * in one pass while it checks them.
 */
static void add_quoted(struct tap_buffer *line, const char *string)
{
	char *at = tap_buffer_reserve(line, 1 + PLAIN_MAX);
	size_t i;

	if (!at)
		return;
	*at++ = '"';
	for (i = 0; i < PLAIN_MAX && is_plain[(unsigned char) string[i]]; i++)
		at[i] = string[i];
	line->used += 1 + i;
	add_mended(line, string + i);
	tap_buffer_add_char(line, '"');
}

struct tap_buffer *tap_json_add_name(struct tap_json *json, const char *name)
{
	struct tap_buffer *line = &json->line;

	if (json->has_before)
		tap_buffer_add_char(line, ',');
	json->has_before = true;
	if (name) {
		add_quoted(line, name);
		tap_buffer_add_char(line, ':');
	}
	return line;
}

void tap_json_add_bracket(struct tap_json *json, char bracket)
{
	tap_buffer_add_char(&json->line, bracket);
	json->closing[json->depth++] = bracket == '{' ? '}' : ']';
	json->has_before = false;
}

void tap_json_close(struct tap_json *json)
{
	tap_buffer_add_char(&json->line, json->closing[--json->depth]);
	json->has_before = true;
}

void tap_json_add_text(struct tap_json *json)
{
	struct tap_buffer *text = &json->text;

	tap_buffer_add_char(text, '\0');
	if (text->is_short)
		json->line.is_short = true;
	else
		add_quoted(&json->line, text->data);
	text->used = 0;
}

void tap_json_add_string(struct tap_buffer *line, const char *value)
{
	if (value)
		add_quoted(line, value);
	else
		tap_buffer_add_string(line, "null");
}

void tap_json_add_bytes(struct tap_buffer *line, const char *value, size_t length)
{
	const char *end = value + length;

	tap_buffer_add_char(line, '"');
	for (;; value++) {
		add_mended(line, value);
		value += strlen(value);
		if (value >= end)
			break;
		add_escaped(line, 0);
	}
	tap_buffer_add_char(line, '"');
}

void tap_json_add_not_negative(struct tap_buffer *line, int64_t value)
{
	if (value < 0)
		tap_buffer_add_string(line, "null");
	else
		tap_buffer_add_signed(line, value);
}

void tap_json_add_hex(struct tap_buffer *line, uint64_t value)
{
	tap_buffer_add_char(line, '"');
	tap_buffer_add_hex(line, value);
	tap_buffer_add_char(line, '"');
}

void tap_json_add_key(struct tap_buffer *line, uint64_t key)
{
	if (key)
		tap_json_add_hex(line, key);
	else
		tap_buffer_add_string(line, "null");
}

static void add_integer(struct tap_json *json, const char *name, bool is_hex,
			bool is_signed, uint64_t value)
{
	if (is_hex)
		tap_json_hex(json, name, value);
	else if (is_signed)
		tap_json_signed(json, name, (int64_t) value);
	else
		tap_json_unsigned(json, name, value);
}

void tap_json_field(struct tap_json *json, const struct tap_fields *fields,
		    const struct tap_field *field)
{
	size_t i;

	switch (field->kind) {
	case TAP_FIELD_UNSIGNED:
	case TAP_FIELD_SIGNED:
		if (field->label)
			tap_json_string(json, field->name, field->label);
		else
			add_integer(json, field->name, field->is_hex,
				    field->kind == TAP_FIELD_SIGNED, field->value.u);
		break;
	case TAP_FIELD_REAL:
		/* JSON has neither infinity nor NaN. */
		if (isfinite(field->value.real))
			tap_buffer_add_real(tap_json_add_name(json, field->name),
					    field->value.real);
		else
			tap_json_null(json, field->name);
		break;
	case TAP_FIELD_STRING:
		tap_json_string(json, field->name, tap_fields_string(fields, field));
		break;
	case TAP_FIELD_ARRAY:
		tap_json_open(json, field->name, '[');
		for (i = 0; i < field->value.data.length; i++)
			add_integer(json, NULL, field->is_hex, field->is_signed,
				    tap_fields_array(fields, field)[i]);
		tap_json_close(json);
		break;
	}
}

void tap_json_end_line(struct tap_json *json, struct tap_buffer *line)
{
	tap_json_close(json);
	json->has_before = false;
	tap_buffer_add_char(&json->line, '\n');
	if (json->line.is_short)
		line->is_short = true;
	else
		tap_buffer_add(line, json->line.data, json->line.used);
	json->line.used = 0;
}

void tap_json_free(struct tap_json *json)
{
	tap_buffer_free(&json->line);
	tap_buffer_free(&json->text);
}
