/* SPDX-License-Identifier: MIT */
/* Each value is checked against a table. */
#include "join/bt/param.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct reading {
	bt_self_component *self;
	struct tap_param *params;
	size_t count;
};

/* NULL: the value is no number. */
static const char *number_as_string(struct tap_param *param, const bt_value *value)
{
	if (bt_value_is_signed_integer(value))
		snprintf(param->number, sizeof(param->number), "%" PRId64,
			 bt_value_integer_signed_get(value));
	else if (bt_value_is_unsigned_integer(value))
		snprintf(param->number, sizeof(param->number), "%" PRIu64,
			 bt_value_integer_unsigned_get(value));
	else
		return NULL;
	return param->number;
}

static bt_value_map_foreach_entry_const_func_status
read_param(const char *name, const bt_value *value, void *data)
{
	struct reading *reading = data;
	struct tap_param *param = NULL;
	size_t i;

	const bool is_bool = bt_value_is_bool(value);

	/* Of two with one name, one is yes or no: "comm" of a report. */
	for (i = 0; i < reading->count; i++)
		if (!strcmp(reading->params[i].name, name) &&
		    (!param || is_bool == (reading->params[i].kind == TAP_PARAM_BOOL)))
			param = &reading->params[i];
	if (!param) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			reading->self, "There is no parameter \"%s\"", name);
		return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
	}
	switch (param->kind) {
	case TAP_PARAM_BOOL:
		if (!bt_value_is_bool(value)) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
				reading->self, "Parameter \"%s\" is not yes or no", name);
			return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
		}
		param->boolean = bt_value_bool_get(value);
		break;
	case TAP_PARAM_COUNT:
		if (bt_value_is_signed_integer(value))
			param->count = bt_value_integer_signed_get(value);
		else if (bt_value_is_unsigned_integer(value) &&
			 bt_value_integer_unsigned_get(value) < INT64_MAX)
			param->count = (int64_t) bt_value_integer_unsigned_get(value);
		else
			param->count = 0;
		if (param->count < 1 || param->count > INT32_MAX) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
				reading->self,
				"Parameter \"%s\" is not a number from 1 to %d", name,
				INT32_MAX);
			return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
		}
		break;
	case TAP_PARAM_STRING:
		/* "rank=2" is a number to babeltrace2. */
		param->string = number_as_string(param, value);
		if (param->string)
			break;
		if (!bt_value_is_string(value)) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
				reading->self, "Parameter \"%s\" is not a string", name);
			return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
		}
		param->string = bt_value_string_get(value);
		break;
	}
	return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

bool tap_params_read(bt_self_component *self, const bt_value *from,
		     struct tap_param *params, size_t count)
{
	struct reading reading = {.self = self, .params = params, .count = count};

	return bt_value_map_foreach_entry_const(from, read_param, &reading) ==
	       BT_VALUE_MAP_FOREACH_ENTRY_CONST_STATUS_OK;
}

bool tap_params_take_filters(bt_self_component *self, const struct tap_param *params,
			     struct tap_filters *filters)
{
	const char *value, *problem;
	size_t i;
	int ret;

	for (i = 0; i < TAP_FILTERS; i++) {
		value = params[i].boolean ? "yes" : params[i].string;
		ret = value ? tap_filters_set(filters, i, value, &problem) : 0;
		if (!ret)
			continue;
		if (ret == -ENOMEM)
			problem = "out of memory";
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			self, "Filter %s, \"%s\": %s", params[i].name, value, problem);
		tap_filters_free(filters);
		return false;
	}
	return true;
}
