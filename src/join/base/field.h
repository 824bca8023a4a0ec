/* SPDX-License-Identifier: MIT */
/*
 * The fields of an event as a short typed list.
 *
 * Hides the arguments of a call, and how babeltrace2 stores them, from all other parts of
 * the reader.  The size of a list is bounded: a damaged trace may announce strings of
 * gigabytes.
 */
#ifndef TAP_JOIN_BASE_FIELD_H
#define TAP_JOIN_BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/compiler.h"

/* Longer strings and arrays are cut, and is_cut is set. */
#define TAP_FIELD_STRING_MAX 8192 /* bytes */
#define TAP_FIELD_ARRAY_MAX 1024  /* elements */
#define TAP_FIELD_COUNT_MAX 256	  /* fields of one list */

enum tap_field_kind {
	TAP_FIELD_UNSIGNED,
	TAP_FIELD_SIGNED,
	TAP_FIELD_REAL,
	TAP_FIELD_STRING,
	TAP_FIELD_ARRAY, /* of 64-bit integers */
};

struct tap_field {
	uint64_t head;	   /* tap_field_head() of the name */
	const char *name;  /* not owned; outlives the list */
	const char *label; /* the name of an enumeration's value, else NULL; not owned */
	enum tap_field_kind kind;
	bool is_hex;	/* an address or a mask: shown as 0x...; no enumeration */
	bool is_signed; /* elements of an array */
	bool is_cut;	/* the trace holds more of this string or array */
	union {
		uint64_t u; /* TAP_FIELD_UNSIGNED */
		int64_t i;  /* TAP_FIELD_SIGNED */
		double real;
		struct {
			size_t offset; /* into the list's data */
			size_t length; /* bytes without the final 0, or elements */
		} data;
	} value;
};

/* All zero is an empty list. */
struct tap_fields {
	struct tap_field *list;
	size_t count;
	size_t room;
	char *data; /* strings and arrays, each at a multiple of 8 */
	size_t data_used;
	size_t data_room;
};

/* Empties the list; its memory stays for the next use. */
void tap_fields_clear(struct tap_fields *fields);

/* Frees the memory of a list. */
void tap_fields_free(struct tap_fields *fields);

/* Exchanges two lists without copying them. */
void tap_fields_swap(struct tap_fields *a, struct tap_fields *b);

/* Whether both have the same names, kinds and values in the same order. */
bool tap_fields_are_equal(const struct tap_fields *a, const struct tap_fields *b);

/*
 * The first eight bytes of a name, or all of it with zeros behind it: nearly all names
 * differ in them.  Of a constant the compiler knows them.
 */
static inline tap_within uint64_t tap_field_head(const char *name)
{
	uint64_t head = 0;
	size_t i;

	if (__builtin_constant_p(strlen(name))) {
		memcpy(&head, name, strlen(name) < 8 ? strlen(name) : 8);
		return head;
	}
	for (i = 0; i < 8 && name[i]; i++)
		((char *) &head)[i] = name[i];
	return head;
}

/*
 * Adds a field, which has value 0, and returns it, valid until the next
 * addition; NULL when the list is full or memory is short.
 */
struct tap_field *tap_fields_add_headed(struct tap_fields *fields, const char *name,
					uint64_t head, enum tap_field_kind kind);

static inline tap_within struct tap_field *
tap_fields_add(struct tap_fields *fields, const char *name, enum tap_field_kind kind)
{
	return tap_fields_add_headed(fields, name, tap_field_head(name), kind);
}

/*
 * Each adds a field with a value: a number, a number shown as 0x..., a text that ends
 * with 0.
 */
static inline tap_within struct tap_field *
tap_fields_add_unsigned(struct tap_fields *fields, const char *name, uint64_t value)
{
	struct tap_field *field = tap_fields_add(fields, name, TAP_FIELD_UNSIGNED);

	if (field)
		field->value.u = value;
	return field;
}

struct tap_field *tap_fields_add_hex(struct tap_fields *fields, const char *name,
				     uint64_t value);
struct tap_field *tap_fields_add_text(struct tap_fields *fields, const char *name,
				      const char *text);

/* Adds a string of length bytes, cut when too long.  Returns the field or NULL. */
struct tap_field *tap_fields_add_string(struct tap_fields *fields, const char *name,
					const char *string, size_t length);

/*
 * Adds an array of length elements, cut when too long.  The caller stores the
 * value.data.length elements that are kept in *elements.  Returns the field or NULL.
 */
struct tap_field *tap_fields_add_array(struct tap_fields *fields, const char *name,
				       uint64_t length, uint64_t **elements);

/* The text of a TAP_FIELD_STRING, ended by 0. */
const char *tap_fields_string(const struct tap_fields *fields,
			      const struct tap_field *field);

/* The elements of a TAP_FIELD_ARRAY. */
const uint64_t *tap_fields_array(const struct tap_fields *fields,
				 const struct tap_field *field);

/* For the functions below; field may be NULL. */
const struct tap_field *tap_fields_find_headed(const struct tap_fields *fields,
					       const char *name, uint64_t head);
int tap_field_get_unsigned(const struct tap_field *field, uint64_t *value);
int tap_field_get_signed(const struct tap_field *field, int64_t *value);

/* The first field of this name, or NULL. */
static inline tap_within const struct tap_field *
tap_fields_find(const struct tap_fields *fields, const char *name)
{
	return tap_fields_find_headed(fields, name, tap_field_head(name));
}

/* The string of this name, or NULL when there is none or it is not a string. */
static inline tap_within const char *
tap_fields_get_string(const struct tap_fields *fields, const char *name)
{
	const struct tap_field *field = tap_fields_find(fields, name);

	return field && field->kind == TAP_FIELD_STRING ? tap_fields_string(fields, field)
							: NULL;
}

/*
 * Gets the integer of this name into *value.  Returns 0, -ENOENT when there is none,
 * -EINVAL when the field is no integer or its value does not fit.
 */
static inline tap_within int tap_fields_get_unsigned(const struct tap_fields *fields,
						     const char *name, uint64_t *value)
{
	return tap_field_get_unsigned(tap_fields_find(fields, name), value);
}

static inline tap_within int tap_fields_get_signed(const struct tap_fields *fields,
						   const char *name, int64_t *value)
{
	return tap_field_get_signed(tap_fields_find(fields, name), value);
}

/* The integer of this name; 0 when there is none or it is negative. */
static inline tap_within uint64_t tap_fields_number(const struct tap_fields *fields,
						    const char *name)
{
	uint64_t number = 0;

	tap_fields_get_unsigned(fields, name, &number);
	return number;
}

/* For the function below: of a field that `from` has. */
int tap_fields_copy_field(struct tap_fields *to, const struct tap_fields *from,
			  const struct tap_field *field);

/*
 * Copies the field of this name, unless `from` has none, the field is an array, or `to`
 * has a field of that name.  Returns 0 or -ENOMEM.
 */
static inline tap_within int
tap_fields_copy(struct tap_fields *to, const struct tap_fields *from, const char *name)
{
	const struct tap_field *field = tap_fields_find(from, name);

	return field ? tap_fields_copy_field(to, from, field) : 0;
}

#endif
