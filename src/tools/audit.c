/* SPDX-License-Identifier: MIT */
/* `ccltap audit`: what a program really does with its collective library. */
#include <argp.h>
#include <stdbool.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/reading.h"
#include "tools/snapshots.h"
#include "tools/why_look.h"

enum { KEY_JSON = TAP_KEY_OTHERS, KEY_FULL };

struct request {
	struct tap_why why;
	struct tap_reading reading;
};

static const struct argp_option options[] = {
	{"full", KEY_FULL, NULL, 0, "show all remarks, and a table for each subject", 0},
	{"json", KEY_JSON, NULL, 0, "write one JSON object with all, for programs", 0},
	{"output", 'o', "FILE", 0, "write to FILE, which must not exist", 0},
	{"overwrite", TAP_KEY_OVERWRITE, NULL, 0, "replace the file of --output", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case KEY_FULL:
		request->why.is_full = true;
		return 0;
	case KEY_JSON:
		request->why.is_json = true;
		return 0;
	}
	return tap_reading_parse(&request->reading, key, arg, state);
}

static const struct argp_child children[] = {{.argp = &tap_snapshots_argp}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "[TRACE...]",
	.doc = "Tells what the program that was recorded into TRACE does with its collective "
	       "library; without TRACE, the newest recording here."
	       "\v"
	       "The exit status is 0 when there is nothing to mend, 1 when there is something, "
	       "and 2 when the trace does not tell, or because TRACE or the command line is no "
	       "good.",
};

int tap_audit_main(int argc, char **argv)
{
	struct request request = {.reading.output = "-"};
	struct tap_why *why = &request.why;

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_VERDICT_NONE;
	why->sink = "audit";
	why->folders = request.reading.traces;
	why->count = request.reading.trace_count;
	why->output = request.reading.output;
	why->overwrite = request.reading.overwrite;
	tap_child_fill_standard();
	return tap_why_look(why, isatty(STDERR_FILENO));
}
