/* SPDX-License-Identifier: MIT */
/* `ccltap report`: how often each function was called, and for how long. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "tools/command_line.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/reading.h"
#include "tools/stacks.h"
#include "tools/terminal.h"
#include "tools/commands.h"

enum { KEY_JSON = TAP_KEY_OTHERS };

struct request {
	bool json;
	struct tap_stacks_view stacks;
	struct tap_reading reading;
};

static const struct argp_option options[] = {
	{"json", KEY_JSON, NULL, 0, "write one JSON object, for programs", 0},
	{"output", 'o', "FILE", 0, "write to FILE, which must not exist", 0},
	{"overwrite", TAP_KEY_OVERWRITE, NULL, 0, "replace the file of --output", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &request->stacks;
		break;
	case KEY_JSON:
		request->json = true;
		return 0;
	}
	return tap_reading_parse(&request->reading, key, arg, state);
}

static const struct argp_child children[] = {{.argp = &tap_stacks_argp}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "[TRACE...]",
	.doc = "Sums up the calls in TRACE, a folder that was recorded into; without it, the newest recording here.",
};

static bt_value *make_params(const struct request *request)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_bool_entry(params, "json", request->json) &&
	    !bt_value_map_insert_string_entry(params, "output",
					      request->reading.output) &&
	    !bt_value_map_insert_bool_entry(params, "overwrite",
					    request->reading.overwrite) &&
	    !bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO)) &&
	    tap_terminal_add_params(params) &&
	    tap_stacks_add_params(&request->stacks, params))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

int tap_report_main(int argc, char **argv)
{
	struct request request = {.reading.output = "-"};

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	return tap_graph_run(request.reading.traces, request.reading.trace_count,
			     "report", make_params(&request), false);
}
