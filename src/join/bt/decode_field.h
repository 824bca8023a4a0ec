/* SPDX-License-Identifier: MIT */
/*
 * Decodes babeltrace2's fields into the reader's.
 *
 * Hides their classes: each is examined once.
 */
#ifndef TAP_JOIN_BT_DECODE_FIELD_H
#define TAP_JOIN_BT_DECODE_FIELD_H

#include "join/base/field.h"

#include <babeltrace2/babeltrace.h>

/* The labels of values below this are looked up once. */
#define TAP_LABELS_KEPT 32

/* The plan for one member of a class of events. */
struct tap_field_plan {
	const char *name;
	uint64_t head; /* tap_field_head() of the name */
	bt_field_class_type type;
	bt_field_class_type element; /* of an array */
	bool is_hex;
	uint32_t labels_asked; /* a bit for each value below TAP_LABELS_KEPT */
	const char *labels[TAP_LABELS_KEPT];
};

/* Fills in a plan that is all zero; the name outlives it. */
void tap_field_plan_set(struct tap_field_plan *plan, const char *name,
			const bt_field_class *class);

/* Adds the field to a list.  Returns false when a list cannot hold it. */
bool tap_field_plan_add(struct tap_field_plan *plan, const bt_field *field,
			struct tap_fields *fields);

static inline bool tap_field_is_unsigned(bt_field_class_type type)
{
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

#endif
