/* SPDX-License-Identifier: MIT */
/*
 * The options about call stacks, which several verbs share: how deep they are recorded,
 * and how they are shown.
 */
#ifndef TAP_TOOLS_STACKS_H
#define TAP_TOOLS_STACKS_H

#include <argp.h>
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* The tracer reads it in the program; the number of frames. */
#define TAP_STACKS_VARIABLE "CCLTAP_STACKS"

/*
 * The option for verbs that record.  Returns its argument, or the usual depth for NULL;
 * NULL after a line on stderr when it is no depth.
 */
#define TAP_STACKS_RECORD_OPTION(key) \
	{ \
		"stacks", key, "DEPTH", OPTION_ARG_OPTIONAL, \
			"record the call stack of each call, up to DEPTH frames, 1 to 64 [16]", \
			0 \
	}
const char *tap_stacks_depth(const char *argument);

/* For verbs that show: how, and its options, whose input that is. */
struct tap_stacks_view {
	bool is_wanted;
	const char *modules;
	const char *debug_path;
};
extern const struct argp tap_stacks_argp;

/* Adds it to the parameters of a sink; false when memory is short. */
bool tap_stacks_add_params(const struct tap_stacks_view *view, bt_value *params);

#endif
