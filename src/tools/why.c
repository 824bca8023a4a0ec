/* SPDX-License-Identifier: MIT */
/* `ccltap why`: what is wrong with the program. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/command_line.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/reading.h"
#include "tools/terminal.h"

enum { KEY_JSON = TAP_KEY_OTHERS };

struct request {
	bool json;
	struct tap_reading reading;
};

static const struct argp_option options[] = {
	{"json", KEY_JSON, NULL, 0, "write one JSON object, for programs", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	if (key != KEY_JSON)
		return tap_reading_parse(&request->reading, key, arg, state);
	request->json = true;
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[TRACE...]",
	.doc = "Tells what is wrong with the program that was recorded into TRACE.",
};

static bt_value *make_params(const struct request *request)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_bool_entry(params, "json", request->json) &&
	    !bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO)) &&
	    tap_terminal_add_params(params))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

int tap_why_main(int argc, char **argv)
{
	struct request request = {0};

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	return tap_graph_run(request.reading.traces, request.reading.trace_count, "why",
			     make_params(&request), false);
}
