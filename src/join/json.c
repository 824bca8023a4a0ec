/* SPDX-License-Identifier: MIT */
/* One tree of json-c per line: built, written and freed. */
#include "join/json.h"

#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* json-c takes any bytes: what is not UTF-8 becomes U+FFFD here. */
static void add_mended(struct tap_buffer *text, const char *string)
{
	const unsigned char *s = (const unsigned char *) string;

	while (*s) {
		size_t length = tap_buffer_character_length(s);

		if (length)
			tap_buffer_add(text, (const char *) s, length);
		else
			tap_buffer_add_string(text, "\xef\xbf\xbd");
		s += length ? length : 1;
	}
}

/* Nearly all strings are names, which need no look at their encoding. */
static bool is_ascii(const char *string)
{
	const unsigned char *s = (const unsigned char *) string;

	while (*s && *s < 0x80)
		s++;
	return !*s;
}

static int add_mended_name(struct tap_json *json, struct json_object *to,
			   const char *name, struct json_object *value)
{
	int ret = -1;

	add_mended(&json->text, name);
	tap_buffer_add_char(&json->text, '\0');
	/* Two names may become one by it: the later value counts. */
	if (!json->text.is_short)
		ret = json_object_object_add(to, json->text.data, value);
	json->text.used = 0;
	return ret;
}

/* Takes the value, which may be NULL for null; false when memory is short. */
static bool add(struct tap_json *json, const char *name, struct json_object *value)
{
	struct json_object *to = json->open[json->depth - 1];
	int ret = -1;

	if (to && !name)
		ret = json_object_array_add(to, value);
	else if (to && is_ascii(name))
		ret = json_object_object_add_ex(to, name, value,
						JSON_C_OBJECT_ADD_KEY_IS_NEW |
							JSON_C_OBJECT_ADD_CONSTANT_KEY);
	else if (to)
		ret = add_mended_name(json, to, name, value);
	if (!ret)
		return true;
	json_object_put(value);
	json->is_short = true;
	return false;
}

/* The same for a value that is NULL only when memory is short. */
static bool add_made(struct tap_json *json, const char *name, struct json_object *value)
{
	if (value)
		return add(json, name, value);
	json->is_short = true;
	return false;
}

void tap_json_open(struct tap_json *json, const char *name, char bracket)
{
	struct json_object *container =
		bracket == '{' ? json_object_new_object() : json_object_new_array();

	if (json->depth && !add_made(json, name, container))
		container = NULL;
	if (!container)
		json->is_short = true;
	json->open[json->depth++] = container;
}

void tap_json_close(struct tap_json *json)
{
	json->depth--;
}

void tap_json_text(struct tap_json *json, const char *name)
{
	struct tap_buffer *text = &json->text;
	struct json_object *value = NULL;

	if (!text->is_short && text->used < INT_MAX)
		value = json_object_new_string_len(text->data, (int) text->used);
	text->used = 0;
	add_made(json, name, value);
}

void tap_json_string(struct tap_json *json, const char *name, const char *value)
{
	if (!value) {
		add(json, name, NULL);
	} else if (is_ascii(value)) {
		add_made(json, name, json_object_new_string(value));
	} else {
		add_mended(&json->text, value);
		tap_json_text(json, name);
	}
}

void tap_json_unsigned(struct tap_json *json, const char *name, uint64_t value)
{
	add_made(json, name, json_object_new_uint64(value));
}

void tap_json_signed(struct tap_json *json, const char *name, int64_t value)
{
	add_made(json, name, json_object_new_int64(value));
}

void tap_json_not_negative(struct tap_json *json, const char *name, int64_t value)
{
	if (value < 0)
		tap_json_null(json, name);
	else
		tap_json_signed(json, name, value);
}

void tap_json_hex(struct tap_json *json, const char *name, uint64_t value)
{
	tap_buffer_add_hex(&json->text, value);
	tap_json_text(json, name);
}

void tap_json_bool(struct tap_json *json, const char *name, bool value)
{
	add_made(json, name, json_object_new_boolean(value));
}

void tap_json_null(struct tap_json *json, const char *name)
{
	add(json, name, NULL);
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
			add_made(json, field->name,
				 json_object_new_double(field->value.real));
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
	const char *text = NULL;
	size_t length;

	if (!json->is_short)
		text = json_object_to_json_string_length(json->open[0],
							 JSON_C_TO_STRING_NOSLASHESCAPE,
							 &length);
	if (text)
		tap_buffer_add(line, text, length);
	else
		line->is_short = true;
	tap_buffer_add_char(line, '\n');
	json_object_put(json->open[0]);
	json->depth = 0;
}

void tap_json_free(struct tap_json *json)
{
	if (json->depth)
		json_object_put(json->open[0]);
	tap_buffer_free(&json->text);
}
