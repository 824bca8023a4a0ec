/* SPDX-License-Identifier: MIT */
/* Each search begins where the last one ended. */
#include "join/rdma/column.h"

#include <string.h>

static const struct tap_field *read_field(struct tap_reader *reader, const char *name)
{
	const struct tap_field *field;
	size_t i, at = reader->next, count = reader->fields->count;

	for (i = 0; i < count; i++) {
		if (at >= count)
			at = 0;
		field = &reader->fields->list[at++];
		/* Most names differ in their first letter. */
		if (*field->name == *name && !strcmp(field->name, name)) {
			reader->next = at;
			return field;
		}
	}
	return NULL;
}

static uint64_t number_of(const struct tap_field *field)
{
	return field && (field->kind == TAP_FIELD_UNSIGNED ||
			 field->kind == TAP_FIELD_SIGNED)
		       ? field->value.u
		       : 0;
}

uint64_t tap_read_number(struct tap_reader *reader, const char *name)
{
	return number_of(read_field(reader, name));
}

uint64_t tap_event_number(const struct tap_event *event, const char *name)
{
	return number_of(tap_fields_find(&event->fields, name));
}

struct tap_column tap_read_column(struct tap_reader *reader, const char *name)
{
	const struct tap_field *field = read_field(reader, name);
	struct tap_column column = {.number = number_of(field)};

	if (field && field->kind == TAP_FIELD_ARRAY) {
		column.elements = tap_fields_array(reader->fields, field);
		column.count = field->value.data.length;
	}
	return column;
}
