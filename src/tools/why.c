/* SPDX-License-Identifier: MIT */
/* `ccltap why`: what is wrong with the program. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/commands.h"
#include "tools/command_line.h"
#include "tools/filters.h"
#include "tools/message.h"
#include "tools/parts.h"
#include "tools/reading.h"
#include "tools/snapshots.h"
#include "tools/why_look.h"
#include "tools/why_watch.h"

enum { KEY_JSON = TAP_KEY_OTHERS, KEY_WATCH };

/* Seconds between two looks, and the longest pause that makes sense. */
#define USUAL_PAUSE 2
#define LONGEST_PAUSE 86400

struct request {
	struct tap_why why;
	unsigned pause_s; /* 0: look once */
	struct tap_filters_view filters;
	struct tap_reading reading;
};

static const struct argp_option options[] = {
	{"json", KEY_JSON, NULL, 0, "write one JSON object, for programs", 0},
	{"output", 'o', "FILE", 0, "write to FILE, which must not exist", 0},
	{"overwrite", TAP_KEY_OVERWRITE, NULL, 0, "replace the file of --output", 0},
	{"watch", KEY_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
	 "look again every so often [2], until what was wrong is well or the recording ends",
	 0},
	{0},
};

static error_t parse_pause(const char *text, unsigned *ret_seconds)
{
	char *end = NULL;
	unsigned long seconds = text ? strtoul(text, &end, 10) : USUAL_PAUSE;

	*ret_seconds = (unsigned) seconds;
	if (!text || (*text >= '0' && *text <= '9' && !*end && seconds >= 1 &&
		      seconds <= LONGEST_PAUSE))
		return 0;
	tap_message_write("\"%s\": give a whole number of seconds, from 1 to %d", text,
			  LONGEST_PAUSE);
	return EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &request->filters;
		break;
	case KEY_JSON:
		request->why.is_json = true;
		return 0;
	case KEY_WATCH:
		return parse_pause(arg, &request->pause_s);
	}
	return tap_reading_parse(&request->reading, key, arg, state);
}

static const struct argp_child children[] = {
	{.argp = &tap_filters_argp}, {.argp = &tap_snapshots_argp}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "[TRACE...]",
	.doc = "Tells what is wrong with the program that was recorded, or is being recorded, "
	       "into TRACE."
	       "\v"
	       "The exit status is 0 when nothing is wrong, 1 when something is, and 2 when "
	       "that cannot be told: because of what the trace lacks, or because TRACE or the "
	       "command line is no good.",
};

int tap_why_main(int argc, char **argv)
{
	struct request request = {.reading.output = "-"};
	struct tap_why *why = &request.why;

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_VERDICT_NONE;
	why->folders = request.reading.traces;
	why->count = request.reading.trace_count;
	why->output = request.reading.output;
	why->overwrite = request.reading.overwrite;
	why->filters = &request.filters;
	tap_child_fill_standard();
	if (!request.pause_s) {
		tap_parts_wish(&(struct tap_parts_wish){
			.wants_look = !tap_snapshots_is_chosen()});
		return tap_why_look(why, isatty(STDERR_FILENO));
	}
	if (strcmp(why->output, "-")) {
		tap_message_write("--watch writes to standard output, not to a file");
		return TAP_VERDICT_NONE;
	}
	return tap_why_watch(why, request.pause_s);
}
