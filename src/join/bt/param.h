/* SPDX-License-Identifier: MIT */
/*
 * The parameters of the components: names, kinds and defaults in a table.
 *
 * Hides how babeltrace2 passes them, and how a wrong one is reported.
 */
#ifndef TAP_JOIN_BT_PARAM_H
#define TAP_JOIN_BT_PARAM_H

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
};

/*
 * Reads the parameters.  Returns whether all values are right; otherwise it reports the
 * cause.
 */
bool tap_params_read(bt_self_component *self, const bt_value *from,
		     struct tap_param *params, size_t count);

#endif
