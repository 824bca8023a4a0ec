/* SPDX-License-Identifier: MIT */
/*
 * The options that choose what a view shows, the same for every verb that reads traces.
 * Hides their wording, and that the reader and not the command understands their values.
 */
#ifndef TAP_TOOLS_FILTERS_H
#define TAP_TOOLS_FILTERS_H

#include <argp.h>
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#define TAP_FILTER_OPTIONS 11

/* What the user gave; the input of tap_filters_argp. All zero is nothing. */
struct tap_filters_view {
	const char *values[TAP_FILTER_OPTIONS];
};
extern const struct argp tap_filters_argp;

/* As --comm, for a verb that has an option of this name, too. */
void tap_filters_set_comm(struct tap_filters_view *view, const char *value);

/* As --rank, --begin and --end, each NULL: not given. */
void tap_filters_set_focus(struct tap_filters_view *view, const char *rank,
			   const char *begin, const char *end);
/* Whether the user gave one of these. */
bool tap_filters_have_focus(const struct tap_filters_view *view);

/* Adds the filters to the parameters of a sink; false when out of memory. */
bool tap_filters_add_params(const struct tap_filters_view *view, bt_value *params);

#endif
