/* SPDX-License-Identifier: MIT */
/*
 * The options about call stacks, which several verbs share: how deep to record them, and
 * how to show them. Hides their wording and their defaults.
 */
#ifndef TAP_TOOLS_STACKS_H
#define TAP_TOOLS_STACKS_H

#include <argp.h>
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* Number of frames; the tracer reads the variable in the program. */
#define TAP_STACKS_VARIABLE "CCLTAP_STACKS"

/*
 * The option for verbs that record. Returns its argument, or the default depth for NULL;
 * NULL after a line on stderr when the argument is no depth.
 */
#define TAP_STACKS_RECORD_OPTION(key) \
	{ \
		"stacks", key, "DEPTH", OPTION_ARG_OPTIONAL, \
			"record the call stack of each call, up to DEPTH frames, 1 to 64 [16]", \
			0 \
	}
const char *tap_stacks_depth(const char *argument);

/* For verbs that show stacks. A tap_stacks_view is the input of tap_stacks_argp. */
struct tap_stacks_view {
	bool is_wanted;
	const char *modules;
	const char *debug_path;
};
extern const struct argp tap_stacks_argp;

/* Adds the view to the parameters of a sink; false when out of memory. */
bool tap_stacks_add_params(const struct tap_stacks_view *view, bt_value *params);

#endif
