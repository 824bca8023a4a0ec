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
 * Adds a field, which has value 0, and returns it, valid until the next
 * addition; NULL when the list is full or memory is short.
 */
struct tap_field *tap_fields_add(struct tap_fields *fields, const char *name,
				 enum tap_field_kind kind);

/*
 * Each adds a field with a value: a number, a number shown as 0x..., a text that ends
 * with 0.
 */
struct tap_field *tap_fields_add_unsigned(struct tap_fields *fields, const char *name,
					  uint64_t value);
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

/* The first field of this name, or NULL. */
const struct tap_field *tap_fields_find(const struct tap_fields *fields,
					const char *name);

/* The text of a TAP_FIELD_STRING, ended by 0. */
const char *tap_fields_string(const struct tap_fields *fields,
			      const struct tap_field *field);

/* The elements of a TAP_FIELD_ARRAY. */
const uint64_t *tap_fields_array(const struct tap_fields *fields,
				 const struct tap_field *field);

/* The string of this name, or NULL when there is none or it is not a string. */
const char *tap_fields_get_string(const struct tap_fields *fields, const char *name);

/*
 * Gets the integer of this name into *value.  Returns 0, -ENOENT when there is none,
 * -EINVAL when the field is no integer or its value does not fit.
 */
int tap_fields_get_unsigned(const struct tap_fields *fields, const char *name,
			    uint64_t *value);
int tap_fields_get_signed(const struct tap_fields *fields, const char *name,
			  int64_t *value);

/* The integer of this name; 0 when there is none or it is negative. */
uint64_t tap_fields_number(const struct tap_fields *fields, const char *name);

/*
 * Copies the field of this name, unless `from` has none, the field is an array, or `to`
 * has a field of that name.  Returns 0 or -ENOMEM.
 */
int tap_fields_copy(struct tap_fields *to, const struct tap_fields *from,
		    const char *name);

#endif
