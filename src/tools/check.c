/* SPDX-License-Identifier: MIT */
/* `ccltap check`: how far a recording can be trusted. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/command_line.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/pager.h"
#include "tools/commands.h"
#include "tools/reading.h"
#include "tools/snapshots.h"
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

static const struct argp_child children[] = {{.argp = &tap_snapshots_argp}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "[TRACE...]",
	.doc = "Tells how far TRACE, a folder that was recorded into, can be trusted; "
	       "without it, the newest recording here."
	       "\v"
	       "The exit status is 1 when the verdict is bad, so not when it is incomplete: "
	       "then a rank of the program is missing, and nothing of the trace.",
};

static bt_value *make_params(const struct request *request, const char *output)
{
	bt_value *params = bt_value_map_create();

	/* The terminal first: the output is a file, and is shown there afterwards. */
	if (params && tap_terminal_add_params(params) &&
	    !bt_value_map_insert_bool_entry(params, "json", request->json) &&
	    !bt_value_map_insert_string_entry(params, "output", output) &&
	    !bt_value_map_insert_bool_entry(params, "overwrite", true) &&
	    !bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO)))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

/* Whether the first line has the verdict "bad", in colour perhaps. */
static bool has_bad_verdict(const char *line)
{
	static const char before[] = "verdict: ";

	return strstr(line, "\"verdict\":\"bad\"") ||
	       (!strncmp(line, before, strlen(before)) && strstr(line, "bad"));
}

/* Copies the view's output and reads the verdict, which stands first. */
static int show(FILE *file)
{
	char line[4096];
	bool is_bad = false, is_first = true;

	tap_pager_begin();
	while (fgets(line, sizeof(line), file)) {
		if (is_first)
			is_bad = has_bad_verdict(line);
		is_first = false;
		fputs(line, stdout);
	}
	if (fflush(stdout) && !(errno == EPIPE && tap_pager_is_running())) {
		tap_message_write("cannot write standard output: %s", strerror(errno));
		return TAP_EXIT_FAILURE;
	}
	return is_bad ? TAP_EXIT_FAILURE : 0;
}

int tap_check_main(int argc, char **argv)
{
	struct request request = {0};
	char path[64];
	int status, fd;
	FILE *file;

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	tap_child_fill_standard();
	fd = memfd_create("ccltap-check", MFD_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		tap_message_write("cannot begin: %s", strerror(errno));
		return TAP_EXIT_FAILURE;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = tap_graph_run(request.reading.traces, request.reading.trace_count,
			       "check", make_params(&request, path), false);
	if (!status)
		status = show(file);
	fclose(file);
	return status;
}
