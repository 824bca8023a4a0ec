/* SPDX-License-Identifier: MIT */
/* Values by the type of their class; labels are looked up once. */
#include "join/bt/decode_field.h"

static bool is_integer_hex(const bt_field_class *class)
{
	return bt_field_class_integer_get_preferred_display_base(class) ==
	       BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
}

void tap_field_plan_set(struct tap_field_plan *plan, const char *name,
			const bt_field_class *class)
{
	plan->name = name;
	plan->head = tap_field_head(name);
	plan->type = bt_field_class_get_type(class);
	if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		class = bt_field_class_array_borrow_element_field_class_const(class);
		plan->element = bt_field_class_get_type(class);
		if (bt_field_class_type_is(plan->element, BT_FIELD_CLASS_TYPE_INTEGER))
			plan->is_hex = is_integer_hex(class);
	} else if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_INTEGER) &&
		   !bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_ENUMERATION)) {
		plan->is_hex = is_integer_hex(class);
	}
}

static const char *ask_label(const bt_field *field, bool is_plain)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t count = 0;

	if (is_plain)
		bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &count);
	else
		bt_field_enumeration_signed_get_mapping_labels(field, &labels, &count);
	return count ? labels[0] : NULL;
}

static const char *find_label(struct tap_field_plan *plan, const bt_field *field,
			      uint64_t value)
{
	bool is_plain = tap_field_is_unsigned(plan->type);

	if (value >= TAP_LABELS_KEPT)
		return ask_label(field, is_plain);
	if (!(plan->labels_asked & (UINT32_C(1) << value))) {
		plan->labels[value] = ask_label(field, is_plain);
		plan->labels_asked |= UINT32_C(1) << value;
	}
	return plan->labels[value];
}

static bool add_array(struct tap_fields *fields, const struct tap_field_plan *plan,
		      const bt_field *field)
{
	struct tap_field *added;
	uint64_t i, *elements;

	if (!bt_field_class_type_is(plan->element, BT_FIELD_CLASS_TYPE_INTEGER))
		return false;
	added = tap_fields_add_array(fields, plan->name, bt_field_array_get_length(field),
				     &elements);
	if (!added)
		return false;
	added->is_hex = plan->is_hex;
	added->is_signed = !tap_field_is_unsigned(plan->element);
	for (i = 0; i < added->value.data.length; i++) {
		const bt_field *element =
			bt_field_array_borrow_element_field_by_index_const(field, i);

		elements[i] =
			added->is_signed
				? (uint64_t) bt_field_integer_signed_get_value(element)
				: bt_field_integer_unsigned_get_value(element);
	}
	return true;
}

static bool add_integer(struct tap_fields *fields, struct tap_field_plan *plan,
			const bt_field *field)
{
	bool is_plain = tap_field_is_unsigned(plan->type);
	struct tap_field *added =
		tap_fields_add_headed(fields, plan->name, plan->head,
				      is_plain ? TAP_FIELD_UNSIGNED : TAP_FIELD_SIGNED);

	if (!added)
		return false;
	added->is_hex = plan->is_hex;
	if (is_plain)
		added->value.u = bt_field_integer_unsigned_get_value(field);
	else
		added->value.i = bt_field_integer_signed_get_value(field);
	if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_ENUMERATION))
		added->label = find_label(plan, field, added->value.u);
	return true;
}

bool tap_field_plan_add(struct tap_field_plan *plan, const bt_field *field,
			struct tap_fields *fields)
{
	struct tap_field *added;

	if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_INTEGER))
		return add_integer(fields, plan, field);
	if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_STRING))
		return tap_fields_add_string(fields, plan->name,
					     bt_field_string_get_value(field),
					     bt_field_string_get_length(field));
	if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_ARRAY))
		return add_array(fields, plan, field);
	if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_REAL)) {
		added = tap_fields_add(fields, plan->name, TAP_FIELD_REAL);
		if (!added)
			return false;
		if (bt_field_class_type_is(plan->type,
					   BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
			added->value.real =
				(double) bt_field_real_single_precision_get_value(field);
		else
			added->value.real =
				bt_field_real_double_precision_get_value(field);
		return true;
	}
	if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_BOOL)) {
		added = tap_fields_add(fields, plan->name, TAP_FIELD_UNSIGNED);
		if (added)
			added->value.u = bt_field_bool_get_value(field) ? 1 : 0;
		return added;
	}
	return false;
}
