/* SPDX-License-Identifier: MIT */
/* The options of the filters; each is a parameter of the same name. */
#include "tools/filters.h"

#include <stddef.h>

/* The keys of options begin here, in the order of their values. */
enum { KEY_FIRST = 768, KEY_COMM = KEY_FIRST + 2, KEY_BEGIN = KEY_FIRST + 6, KEY_END };

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to show, each alone or several together:", 2},
	{"rank", KEY_FIRST, "LIST", 0, "these ranks of the job, as 0,2-5", 2},
	{"host", KEY_FIRST + 1, "NAME", 0, "this host", 2},
	{"comm", KEY_COMM, "KEY|NAME", 0,
	 "the communicator whose key begins so (0x1f2e), or that has this name", 2},
	{"op", KEY_FIRST + 3, "LIST", 0,
	 "operations of these numbers, as 5 or 5..6, and what was launched for them", 2},
	{"layer", KEY_FIRST + 4, "LIST", 0,
	 "some of nccl, cuda, gpu, verbs, net and nvtx", 2},
	{"call", KEY_FIRST + 5, "PATTERN", 0, "calls of this name, as 'nccl*'", 2},
	{"begin", KEY_BEGIN, "TIME", 0,
	 "from this time on: seconds since the first event, or a time of day", 2},
	{"end", KEY_END, "TIME", 0, "until this time", 2},
	{"last", KEY_FIRST + 8, "DURATION", 0, "the last seconds, or 200ms, 5min", 2},
	{"errors", KEY_FIRST + 9, NULL, 0,
	 "what failed, never returned or was not completed", 2},
	{"slowest", KEY_FIRST + 10, "N", 0, "the N longest", 2},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tap_filters_view *view = state->input;

	if (key < KEY_FIRST || key >= KEY_FIRST + TAP_FILTER_OPTIONS)
		return ARGP_ERR_UNKNOWN;
	view->values[key - KEY_FIRST] = arg ? arg : "";
	return 0;
}

const struct argp tap_filters_argp = {.options = options, .parser = parse};

void tap_filters_set_comm(struct tap_filters_view *view, const char *value)
{
	view->values[KEY_COMM - KEY_FIRST] = value;
}

void tap_filters_set_focus(struct tap_filters_view *view, const char *rank,
			   const char *begin, const char *end)
{
	view->values[0] = rank;
	view->values[KEY_BEGIN - KEY_FIRST] = begin;
	view->values[KEY_END - KEY_FIRST] = end;
}

bool tap_filters_have_focus(const struct tap_filters_view *view)
{
	return view->values[0] || view->values[KEY_BEGIN - KEY_FIRST] ||
	       view->values[KEY_END - KEY_FIRST];
}

bool tap_filters_add_params(const struct tap_filters_view *view, bt_value *params)
{
	const struct argp_option *option;
	const char *value;

	for (option = &options[1]; option->name; option++) {
		value = view->values[option->key - KEY_FIRST];
		if (!value)
			continue;
		if (option->arg ? bt_value_map_insert_string_entry(params, option->name,
								   value)
				: bt_value_map_insert_bool_entry(params, option->name,
								 BT_TRUE))
			return false;
	}
	return true;
}
