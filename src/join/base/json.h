/* SPDX-License-Identifier: MIT */
/*
 * What the views say, as JSON.  Hides which container is being filled, what must
 * be escaped, the values that JSON lacks, what a damaged trace may put into a
 * string, and that memory was short, so that it is asked once per line.
 */
#ifndef TAP_JOIN_BASE_JSON_H
#define TAP_JOIN_BASE_JSON_H

#include "join/base/buffer.h"
#include "join/base/field.h"

/* Containers within each other: the report has nine. */
#define TAP_JSON_DEPTH 10

/* All zero is nothing. */
struct tap_json {
	struct tap_buffer line;	      /* what is there of it */
	struct tap_buffer text;	      /* a string on its way, see tap_json_text() */
	char closing[TAP_JSON_DEPTH]; /* of each open container */
	unsigned int depth;
	bool has_before; /* the next value follows another one: a comma goes between */
};

/*
 * name is NULL in an array and for the outermost container.  In one object no
 * name comes twice.
 */
void tap_json_open(struct tap_json *json, const char *name, char bracket);
void tap_json_close(struct tap_json *json);
/* A NULL string is null. */
void tap_json_string(struct tap_json *json, const char *name, const char *value);
/* What was put together in json->text, which is then empty. */
void tap_json_text(struct tap_json *json, const char *name);
void tap_json_unsigned(struct tap_json *json, const char *name, uint64_t value);
void tap_json_signed(struct tap_json *json, const char *name, int64_t value);
/* What is negative is not known: null. */
void tap_json_not_negative(struct tap_json *json, const char *name, int64_t value);
void tap_json_hex(struct tap_json *json, const char *name, uint64_t value);
/* A key, an address: 0 is not known, null. */
void tap_json_key(struct tap_json *json, const char *name, uint64_t key);
void tap_json_bool(struct tap_json *json, const char *name, bool value);
void tap_json_null(struct tap_json *json, const char *name);

/*
 * One field: integers as integers, addresses as "0x..." strings, enumerations
 * as their label, or as an integer when the value has none.
 */
void tap_json_field(struct tap_json *json, const struct tap_fields *fields,
		    const struct tap_field *field);

/* Closes the outermost container and adds it and a newline to line. */
void tap_json_end_line(struct tap_json *json, struct tap_buffer *line);

void tap_json_free(struct tap_json *json);

#endif
