/* SPDX-License-Identifier: MIT */
/*
 * Writes the JSON of the views.
 *
 * Hides which container is open, which characters are escaped, how values that JSON lacks
 * are written, which bytes of a damaged trace are replaced, and that memory was short, so
 * that the caller checks once per line.
 */
#ifndef TAP_JOIN_BASE_JSON_H
#define TAP_JOIN_BASE_JSON_H

#include "common/compiler.h"
#include "join/base/buffer.h"
#include "join/base/field.h"

#include <string.h>

/* Nested containers: the report has nine. */
#define TAP_JSON_DEPTH 10

/* All zero is empty. */
struct tap_json {
	struct tap_buffer line;	      /* as far as it is written */
	struct tap_buffer text;	      /* a string being built, see tap_json_text() */
	char closing[TAP_JSON_DEPTH]; /* of each open container */
	unsigned int depth;
	bool has_before; /* a comma goes before the next value */
};

/*
 * For the functions below.  tap_json_add_name() adds the comma and the name before a
 * value and returns the line; the others add a value to the line.
 */
struct tap_buffer *tap_json_add_name(struct tap_json *json, const char *name);
void tap_json_add_string(struct tap_buffer *line, const char *value);
/* With bytes 0 in it, and one behind the length. */
void tap_json_add_bytes(struct tap_buffer *line, const char *value, size_t length);
void tap_json_add_text(struct tap_json *json);
void tap_json_add_not_negative(struct tap_buffer *line, int64_t value);
void tap_json_add_hex(struct tap_buffer *line, uint64_t value);
void tap_json_add_key(struct tap_buffer *line, uint64_t key);
void tap_json_add_bracket(struct tap_json *json, char bracket);

/*
 * Half of a line is names, and most of these are constants of ours, which need no escape:
 * a few instructions copy them.
 */
static inline tap_within struct tap_buffer *tap_json_name(struct tap_json *json,
							  const char *name)
{
	struct tap_buffer *line = &json->line;
	size_t length;
	char *at;

	if (!__builtin_constant_p(name && strlen(name)) || !name)
		return tap_json_add_name(json, name);
	length = strlen(name);
	at = tap_buffer_reserve(line, length + 4);
	if (!at)
		return line;
	line->used += length + 3 + json->has_before;
	*at = ',';
	at += json->has_before;
	json->has_before = true;
	at[0] = '"';
	memcpy(at + 1, name, length);
	at[length + 1] = '"';
	at[length + 2] = ':';
	return line;
}

/*
 * name is NULL in an array and for the outermost container.  No name may occur twice in
 * one object.
 */
static inline tap_within void tap_json_open(struct tap_json *json, const char *name,
					    char bracket)
{
	tap_json_name(json, name);
	tap_json_add_bracket(json, bracket);
}

void tap_json_close(struct tap_json *json);

/* A NULL string is null. */
static inline tap_within void tap_json_string(struct tap_json *json, const char *name,
					      const char *value)
{
	tap_json_add_string(tap_json_name(json, name), value);
}

/* Writes json->text as a string and empties it. */
static inline tap_within void tap_json_text(struct tap_json *json, const char *name)
{
	tap_json_name(json, name);
	tap_json_add_text(json);
}

static inline tap_within void tap_json_unsigned(struct tap_json *json, const char *name,
						uint64_t value)
{
	tap_buffer_add_unsigned(tap_json_name(json, name), value);
}

static inline tap_within void tap_json_signed(struct tap_json *json, const char *name,
					      int64_t value)
{
	tap_buffer_add_signed(tap_json_name(json, name), value);
}

/* A negative value is unknown: null. */
static inline tap_within void tap_json_not_negative(struct tap_json *json,
						    const char *name, int64_t value)
{
	tap_json_add_not_negative(tap_json_name(json, name), value);
}

static inline tap_within void tap_json_hex(struct tap_json *json, const char *name,
					   uint64_t value)
{
	tap_json_add_hex(tap_json_name(json, name), value);
}

/* Writes a key or an address; 0 is unknown: null. */
static inline tap_within void tap_json_key(struct tap_json *json, const char *name,
					   uint64_t key)
{
	tap_json_add_key(tap_json_name(json, name), key);
}

static inline tap_within void tap_json_bool(struct tap_json *json, const char *name,
					    bool value)
{
	tap_buffer_add_string(tap_json_name(json, name), value ? "true" : "false");
}

static inline tap_within void tap_json_null(struct tap_json *json, const char *name)
{
	tap_buffer_add_string(tap_json_name(json, name), "null");
}

/*
 * Writes a field: integers as integers, addresses as "0x..." strings, enumerations as
 * their label, or as an integer when the value has none.
 */
void tap_json_field(struct tap_json *json, const struct tap_fields *fields,
		    const struct tap_field *field);

/* Closes the outermost container and adds it and a newline to line. */
void tap_json_end_line(struct tap_json *json, struct tap_buffer *line);

void tap_json_free(struct tap_json *json);

#endif
