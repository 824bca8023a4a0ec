/* SPDX-License-Identifier: MIT */
/*
 * The parameters of the components: names, kinds and defaults in a table.
 *
 * Hides how babeltrace2 passes them, and how a wrong one is reported.
 */
#ifndef TAP_JOIN_BT_PARAM_H
#define TAP_JOIN_BT_PARAM_H

#include "join/views/filters.h"

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

/* Defaults: about 200 MB when they are exhausted, which only a damaged trace does. */
#define TAP_PARAM_OPEN_CALLS 262144
#define TAP_PARAM_HELD_OPERATIONS 65536

/* A parameter's type, and its default, which a given value replaces. */
struct tap_param {
	const char *name;
	enum { TAP_PARAM_BOOL, TAP_PARAM_COUNT, TAP_PARAM_STRING } kind;
	bt_bool boolean;
	int64_t count;	    /* at least 1 */
	const char *string; /* NULL: not given */
	char number[24];    /* of a string that is given as a number */
};

/* The parameters of the filters, in a table from this index on. */
#define TAP_PARAM_FILTERS(at) \
	[(at) + TAP_FILTER_RANK] = {.name = "rank", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_HOST] = {.name = "host", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_COMM] = {.name = "comm", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_OP] = {.name = "op", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_LAYER] = {.name = "layer", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_CALL] = {.name = "call", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_BEGIN] = {.name = "begin", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_END] = {.name = "end", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_LAST] = {.name = "last", .kind = TAP_PARAM_STRING}, \
	[(at) + TAP_FILTER_ERRORS] = {.name = "errors", .kind = TAP_PARAM_BOOL}, \
	[(at) + TAP_FILTER_SLOWEST] = {.name = "slowest", .kind = TAP_PARAM_STRING}

/*
 * Reads the parameters.  Returns whether all values are right; otherwise it reports the
 * cause.
 */
bool tap_params_read(bt_self_component *self, const bt_value *from,
		     struct tap_param *params, size_t count);

/*
 * Sets the filters from the parameters of TAP_PARAM_FILTERS, of which params is the first.
 * Returns whether they are right; otherwise it reports the cause.
 */
bool tap_params_take_filters(bt_self_component *self, const struct tap_param *params,
			     struct tap_filters *filters);

#endif
