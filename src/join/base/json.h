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

#include "join/base/buffer.h"
#include "join/base/field.h"

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
 * name is NULL in an array and for the outermost container.  No name may occur twice in
 * one object.
 */
void tap_json_open(struct tap_json *json, const char *name, char bracket);
void tap_json_close(struct tap_json *json);
/* A NULL string is null. */
void tap_json_string(struct tap_json *json, const char *name, const char *value);
/* Writes json->text as a string and empties it. */
void tap_json_text(struct tap_json *json, const char *name);
void tap_json_unsigned(struct tap_json *json, const char *name, uint64_t value);
void tap_json_signed(struct tap_json *json, const char *name, int64_t value);
/* A negative value is unknown: null. */
void tap_json_not_negative(struct tap_json *json, const char *name, int64_t value);
void tap_json_hex(struct tap_json *json, const char *name, uint64_t value);
/* Writes a key or an address; 0 is unknown: null. */
void tap_json_key(struct tap_json *json, const char *name, uint64_t key);
void tap_json_bool(struct tap_json *json, const char *name, bool value);
void tap_json_null(struct tap_json *json, const char *name);

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
