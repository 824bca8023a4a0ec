/* SPDX-License-Identifier: MIT */
/* `ccltap timeline`: the calls of a recording, one by one. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/vec.h"
#include "tools/command_line.h"
#include "tools/filters.h"
#include "tools/focus.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/reading.h"
#include "tools/snapshots.h"
#include "tools/stacks.h"
#include "tools/terminal.h"
#include "tools/commands.h"

enum { KEY_ABSOLUTE = TAP_KEY_OTHERS, KEY_ALL, KEY_TREE, KEY_FINDING, KEY_LINKS, KEY_MERGE };

struct request {
	const char *format;
	bool absolute;
	bool all;
	bool tree;
	bool links;
	TAP_VEC(const char *) merged; /* files of a profiler */
	struct tap_stacks_view stacks;
	struct tap_filters_view filters;
	struct tap_focus focus;
	struct tap_reading reading;
};

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0,
	 "text, for people (default), jsonl, for programs, perfetto, for ui.perfetto.dev, json or "
	 "json.gz, for chrome://tracing, or ctf, a trace for viewers",
	 0},
	{"output", 'o', "FILE", 0,
	 "write to FILE, which must not exist; ctf: to a folder, which may be empty", 0},
	{"overwrite", TAP_KEY_OVERWRITE, NULL, 0, "replace the file of --output", 0},
	{"absolute", KEY_ABSOLUTE, NULL, 0,
	 "text: times of day instead of seconds since the first event", 0},
	{"all", KEY_ALL, NULL, 0,
	 "text: a line for each polling call, as ncclCommGetAsyncError", 0},
	{"tree", KEY_TREE, NULL, 0,
	 "text, jsonl: each operation of all ranks as one tree, with its critical path",
	 0},
	{"links", KEY_LINKS, NULL, 0,
	 "ctf: the links between spans, too, which a plug-in of Trace Compass draws as arrows",
	 0},
	{"merge", KEY_MERGE, "PYTORCH.json[.gz]", 0,
	 "json, json.gz: with the trace that PyTorch's profiler wrote of a rank in the same run; for each rank, once more",
	 0},
	{"finding", KEY_FINDING, "N", 0,
	 "the ranks at fault in the Nth finding of \"ccltap why\", and its interval, alone", 0},
	{0},
};

static const char *const formats[] = {"text", "jsonl",	 "perfetto",
				      "json", "json.gz", "ctf"};

static bool is_format(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(name, formats[i]))
			return true;
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &request->stacks;
		state->child_inputs[1] = &request->filters;
		break;
	case 'f':
		if (!is_format(arg)) {
			tap_message_write("format \"%s\" is not known: choose text, jsonl, "
					  "perfetto, json, json.gz or ctf",
					  arg);
			return EINVAL;
		}
		request->format = arg;
		return 0;
	case KEY_ABSOLUTE:
		request->absolute = true;
		return 0;
	case KEY_ALL:
		request->all = true;
		return 0;
	case KEY_TREE:
		request->tree = true;
		return 0;
	case KEY_LINKS:
		request->links = true;
		return 0;
	case KEY_MERGE:
		return tap_vec_add(&request->merged, (const char *) arg) ? ENOMEM : 0;
	case KEY_FINDING:
		request->focus.finding = arg;
		return 0;
	}
	return tap_reading_parse(&request->reading, key, arg, state);
}

static const struct argp_child children[] = {
	{.argp = &tap_stacks_argp}, {.argp = &tap_filters_argp}, {.argp = &tap_snapshots_argp}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "[TRACE...]",
	.doc = "Shows the calls in TRACE, a folder that was recorded into, in order; without it, those of the newest recording here.",
};

/* Whether the lines are read while they are written: to a terminal or a pipe. */
static bool is_streamed(const struct request *request)
{
	struct stat status;

	return !strcmp(request->reading.output, "-") && !fstat(STDOUT_FILENO, &status) &&
	       !S_ISREG(status.st_mode);
}

/* The files, one in each line. */
static bool add_merged(const struct request *request, bt_value *params)
{
	char *text = NULL;
	size_t size, i;
	bool is_added;
	FILE *file;

	if (!request->merged.count)
		return true;
	file = open_memstream(&text, &size);
	if (!file)
		return false;
	for (i = 0; i < request->merged.count; i++)
		fprintf(file, "%s%s", i ? "\n" : "", request->merged.items[i]);
	is_added = !fclose(file) &&
		   !bt_value_map_insert_string_entry(params, "merge", text);
	free(text);
	return is_added;
}

static bt_value *make_params(const struct request *request)
{
	bt_value *params = bt_value_map_create();

	if (params &&
	    !bt_value_map_insert_string_entry(params, "format", request->format) &&
	    !bt_value_map_insert_string_entry(params, "output",
					      request->reading.output) &&
	    !bt_value_map_insert_bool_entry(params, "overwrite",
					    request->reading.overwrite) &&
	    !bt_value_map_insert_bool_entry(params, "absolute", request->absolute) &&
	    !bt_value_map_insert_bool_entry(params, "all", request->all) &&
	    !bt_value_map_insert_bool_entry(params, "tree", request->tree) &&
	    /* Streamed lines show the progress themselves. */
	    !bt_value_map_insert_bool_entry(params, "progress",
					    isatty(STDERR_FILENO) &&
						    !is_streamed(request)) &&
	    add_merged(request, params) && tap_terminal_add_params(params) &&
	    tap_stacks_add_params(&request->stacks, params) &&
	    tap_filters_add_params(&request->filters, params))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

/* Writes traces of the calls instead of a file. Returns an exit status. */
static int write_traces(const struct request *request)
{
	bt_value *params;

	if (!strcmp(request->reading.output, "-")) {
		tap_message_write("format ctf is a folder of files: name it with -o");
		return TAP_EXIT_USAGE;
	}
	if (request->reading.overwrite || request->absolute || request->all ||
	    request->tree || request->stacks.is_wanted) {
		tap_message_write("format ctf has no --overwrite, --absolute, --all, "
				  "--tree or --stacks");
		return TAP_EXIT_USAGE;
	}
	params = bt_value_map_create();
	if (params &&
	    (bt_value_map_insert_bool_entry(params, "loss", BT_TRUE) ||
	     bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO)) ||
	     bt_value_map_insert_bool_entry(params, "links", request->links) ||
	     !tap_filters_add_params(&request->filters, params)))
		BT_VALUE_PUT_REF_AND_RESET(params);
	return tap_graph_write(request->reading.traces, request->reading.trace_count,
			       request->reading.output, params);
}

/* A file that is read is not what the output replaces. */
static bool is_output(const struct request *request, const char *path)
{
	struct stat output, merged;

	return !stat(request->reading.output, &output) && !stat(path, &merged) &&
	       output.st_dev == merged.st_dev && output.st_ino == merged.st_ino;
}

/* Whether the files can be merged into what is written; else says so. */
static bool can_merge(const struct request *request, bool is_json)
{
	const char *path;
	size_t i;

	for (i = 0; i < request->merged.count; i++) {
		path = request->merged.items[i];
		if (!is_json) {
			tap_message_write("--merge is for formats json and json.gz");
			return false;
		}
		if (strchr(path, '\n')) {
			tap_message_write("--merge: a name with a newline cannot be read");
			return false;
		}
		if (is_output(request, path)) {
			tap_message_write("--merge: %s is the output, too: choose another "
					  "name for that", path);
			return false;
		}
	}
	return true;
}

/* Whether the options go together; else says so. */
static bool is_sensible(const struct request *request)
{
	const bool is_gzip = !strcmp(request->format, "json.gz");
	const bool is_perfetto = !strcmp(request->format, "perfetto");
	const bool is_sliced = is_gzip || is_perfetto || !strcmp(request->format, "json");

	if (!can_merge(request, is_sliced && !is_perfetto))
		return false;
	if (request->focus.finding && tap_filters_have_focus(&request->filters)) {
		tap_message_write("--finding chooses ranks and times: it has no --rank, "
				  "--begin or --end");
		return false;
	}
	if (request->links && strcmp(request->format, "ctf") != 0) {
		tap_message_write("--links is for format ctf: the other formats have them");
		return false;
	}
	if (is_sliced && (request->absolute || request->all || request->tree ||
			  request->stacks.is_wanted)) {
		tap_message_write("format %s has no --absolute, --all, --tree or "
				  "--stacks",
				  request->format);
		return false;
	}
	if ((is_gzip || is_perfetto) && !strcmp(request->reading.output, "-") &&
	    isatty(STDOUT_FILENO)) {
		tap_message_write("format %s is not for terminals: name a file with -o",
				  request->format);
		return false;
	}
	if (request->tree &&
	    (request->absolute || request->all || request->stacks.is_wanted)) {
		tap_message_write("--tree has no --absolute, --all or --stacks");
		return false;
	}
	return true;
}

static int run(struct request *request)
{
	int ret = 0;

	if (!is_sensible(request))
		return TAP_EXIT_USAGE;
	if (request->focus.finding)
		ret = tap_focus_find(&request->focus, request->reading.traces,
				     request->reading.trace_count, &request->filters);
	if (ret)
		return ret;
	if (!strcmp(request->format, "ctf"))
		return write_traces(request);
	return tap_graph_run(request->reading.traces, request->reading.trace_count,
			     "timeline", make_params(request), is_streamed(request));
}

int tap_timeline_main(int argc, char **argv)
{
	struct request request = {.format = "text", .reading.output = "-"};
	int ret = TAP_EXIT_USAGE;

	if (!tap_command_line_parse(&argp, argc, argv, 0, &request))
		ret = run(&request);
	tap_vec_free(&request.merged);
	return ret;
}
