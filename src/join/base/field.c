/* SPDX-License-Identifier: MIT */
/* Typed lists of fields: two arrays that grow and are reused. */
#include "join/base/field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

/* The least memory for strings and arrays: even one of length 0 has an address. */
#define DATA_MIN 64

void tap_fields_clear(struct tap_fields *fields)
{
	fields->count = 0;
	fields->data_used = 0;
}

void tap_fields_free(struct tap_fields *fields)
{
	free(fields->list);
	free(fields->data);
	memset(fields, 0, sizeof(*fields));
}

static bool is_equal(const struct tap_fields *a, const struct tap_field *left,
		     const struct tap_fields *b, const struct tap_field *right)
{
	size_t length = left->value.data.length;

	if (left->kind != right->kind || strcmp(left->name, right->name))
		return false;
	if (left->kind != TAP_FIELD_STRING && left->kind != TAP_FIELD_ARRAY)
		return left->value.u == right->value.u;
	if (left->kind == TAP_FIELD_ARRAY)
		length *= sizeof(uint64_t);
	return left->value.data.length == right->value.data.length &&
	       !memcmp(a->data + left->value.data.offset,
		       b->data + right->value.data.offset, length);
}

bool tap_fields_are_equal(const struct tap_fields *a, const struct tap_fields *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!is_equal(a, &a->list[i], b, &b->list[i]))
			return false;
	return true;
}

void tap_fields_swap(struct tap_fields *a, struct tap_fields *b)
{
	struct tap_fields kept = *a;

	*a = *b;
	*b = kept;
}

struct tap_field *tap_fields_add_headed(struct tap_fields *fields, const char *name,
					uint64_t head, enum tap_field_kind kind)
{
	struct tap_field *field;

	if (fields->count == TAP_FIELD_COUNT_MAX)
		return NULL;
	if (tap_array_reserve(fields->list, fields->room, fields->count + 1))
		return NULL;
	field = &fields->list[fields->count++];
	memset(field, 0, sizeof(*field));
	field->head = head;
	field->name = name;
	field->kind = kind;
	return field;
}

/*
 * Adds a field with room for size bytes.  Returns NULL, and adds no field, when memory is
 * short.
 */
static struct tap_field *add_data(struct tap_fields *fields, const char *name,
				  enum tap_field_kind kind, size_t size)
{
	size_t offset = (fields->data_used + 7) & ~(size_t) 7;
	struct tap_field *field;

	if (tap_array_reserve(fields->data, fields->data_room,
			      offset + size > DATA_MIN ? offset + size : DATA_MIN))
		return NULL;
	field = tap_fields_add(fields, name, kind);
	if (!field)
		return NULL;
	field->value.data.offset = offset;
	fields->data_used = offset + size;
	return field;
}

struct tap_field *tap_fields_add_hex(struct tap_fields *fields, const char *name,
				     uint64_t value)
{
	struct tap_field *field = tap_fields_add_unsigned(fields, name, value);

	if (field)
		field->is_hex = true;
	return field;
}

struct tap_field *tap_fields_add_text(struct tap_fields *fields, const char *name,
				      const char *text)
{
	return tap_fields_add_string(fields, name, text, strlen(text));
}

struct tap_field *tap_fields_add_string(struct tap_fields *fields, const char *name,
					const char *string, size_t length)
{
	size_t kept = length < TAP_FIELD_STRING_MAX ? length : TAP_FIELD_STRING_MAX;
	struct tap_field *field = add_data(fields, name, TAP_FIELD_STRING, kept + 1);

	if (!field)
		return NULL;
	memcpy(fields->data + field->value.data.offset, string, kept);
	fields->data[field->value.data.offset + kept] = '\0';
	field->value.data.length = kept;
	field->is_cut = kept != length;
	return field;
}

struct tap_field *tap_fields_add_array(struct tap_fields *fields, const char *name,
				       uint64_t length, uint64_t **elements)
{
	size_t kept = length < TAP_FIELD_ARRAY_MAX ? length : TAP_FIELD_ARRAY_MAX;
	struct tap_field *field =
		add_data(fields, name, TAP_FIELD_ARRAY, kept * sizeof(**elements));

	if (!field)
		return NULL;
	field->value.data.length = kept;
	field->is_cut = kept != length;
	*elements = (uint64_t *) (fields->data + field->value.data.offset);
	return field;
}

const struct tap_field *tap_fields_find_headed(const struct tap_fields *fields,
					       const char *name, uint64_t head)
{
	const struct tap_field *field = fields->list;
	size_t left;

	/* A head that ends with a zero is all of the name. */
	for (left = fields->count; left; left--, field++)
		if (field->head == head &&
		    (!((const char *) &head)[7] || !strcmp(field->name + 8, name + 8)))
			return field;
	return NULL;
}

const char *tap_fields_string(const struct tap_fields *fields,
			      const struct tap_field *field)
{
	return fields->data + field->value.data.offset;
}

const uint64_t *tap_fields_array(const struct tap_fields *fields,
				 const struct tap_field *field)
{
	return (const uint64_t *) (fields->data + field->value.data.offset);
}

int tap_field_get_unsigned(const struct tap_field *field, uint64_t *value)
{
	if (!field)
		return -ENOENT;
	if (field->kind == TAP_FIELD_SIGNED ? field->value.i < 0
					    : field->kind != TAP_FIELD_UNSIGNED)
		return -EINVAL;
	*value = field->value.u;
	return 0;
}

int tap_field_get_signed(const struct tap_field *field, int64_t *value)
{
	if (!field)
		return -ENOENT;
	if (field->kind == TAP_FIELD_UNSIGNED ? field->value.u > INT64_MAX
					      : field->kind != TAP_FIELD_SIGNED)
		return -EINVAL;
	*value = field->value.i;
	return 0;
}

int tap_fields_copy_field(struct tap_fields *to, const struct tap_fields *from,
			  const struct tap_field *field)
{
	const char *name = field->name, *string;
	struct tap_field *copy;

	if (tap_fields_find_headed(to, name, field->head))
		return 0;
	if (field->kind == TAP_FIELD_STRING) {
		string = tap_fields_string(from, field);
		return tap_fields_add_string(to, name, string, strlen(string)) ? 0
									       : -ENOMEM;
	}
	if (field->kind == TAP_FIELD_ARRAY)
		return 0;
	copy = tap_fields_add_headed(to, name, field->head, field->kind);
	if (!copy)
		return -ENOMEM;
	copy->is_hex = field->is_hex;
	copy->value = field->value;
	return 0;
}
