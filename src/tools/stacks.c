/* SPDX-License-Identifier: MIT */
/* The options about call stacks, and their parameters for a sink. */
#include "tools/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/message.h"

static const char usual_depth[] = "16";

const char *tap_stacks_depth(const char *argument)
{
	unsigned long depth;

	if (!argument)
		return usual_depth;
	depth = strtoul(argument, NULL, 10);
	if (*argument && !argument[strspn(argument, "0123456789")] && depth >= 1 &&
	    depth <= 64)
		return argument;
	tap_message_write("depth of stacks \"%s\": give a number of frames from 1 to 64",
			  argument);
	return NULL;
}

enum { KEY_STACKS = 512, KEY_MODULES, KEY_DEBUG_PATH };

static const struct argp_option options[] = {
	{"stacks", KEY_STACKS, NULL, 0, "show the call stacks that were recorded", 0},
	{"modules", KEY_MODULES, "DIR", 0,
	 "with --stacks: look for the program and its libraries in DIR first", 0},
	{"debug-path", KEY_DEBUG_PATH, "DIR", 0,
	 "with --stacks: look for debug information in DIR too", 0},
	{0},
};

/* A wrong folder would otherwise only show as missing names. */
static error_t check_folder(const char *path)
{
	struct stat status;

	if (!stat(path, &status) && S_ISDIR(status.st_mode))
		return 0;
	tap_message_write("%s is no folder that can be read", path);
	return EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tap_stacks_view *view = state->input;

	switch (key) {
	case KEY_STACKS:
		view->is_wanted = true;
		return 0;
	case KEY_MODULES:
		view->modules = arg;
		return check_folder(arg);
	case KEY_DEBUG_PATH:
		view->debug_path = arg;
		return check_folder(arg);
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tap_stacks_argp = {.options = options, .parser = parse};

bool tap_stacks_add_params(const struct tap_stacks_view *view, bt_value *params)
{
	return !bt_value_map_insert_bool_entry(params, "stacks", view->is_wanted) &&
	       (!view->modules ||
		!bt_value_map_insert_string_entry(params, "modules", view->modules)) &&
	       (!view->debug_path ||
		!bt_value_map_insert_string_entry(params, "debug-path",
						  view->debug_path));
}
