/* SPDX-License-Identifier: MIT */
/* `ccltap report`: what a run was like, in one screen or in tables. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/command_line.h"
#include "tools/filters.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/place.h"
#include "tools/reading.h"
#include "tools/snapshots.h"
#include "tools/stacks.h"
#include "tools/terminal.h"
#include "tools/commands.h"

enum { KEY_JSON = TAP_KEY_OTHERS, KEY_DIFF, KEY_HTML, KEY_TABLES };

/* The tables, as the parameters of the sink name them; their keys begin at KEY_TABLES. */
enum { FULL, CALLS, COMM, NET, GPU, TABLES };
static const char *const tables[TABLES] = {"full", "calls", "comm", "net", "gpu"};

struct request {
	bool json;
	const char *html; /* the page to write */
	bool tables[TABLES];
	char *other; /* that TRACE is compared with */
	struct tap_stacks_view stacks;
	struct tap_filters_view filters;
	struct tap_reading reading;
};

static const struct argp_option options[] = {
	{"full", KEY_TABLES + FULL, NULL, 0, "show all tables", 0},
	{"calls", KEY_TABLES + CALLS, NULL, 0, "show the tables of calls", 0},
	{"comm", KEY_TABLES + COMM, "KEY|NAME", OPTION_ARG_OPTIONAL,
	 "show the tables of communicators; or choose one, as below", 0},
	{"net", KEY_TABLES + NET, NULL, 0, "show the tables of the network", 0},
	{"gpu", KEY_TABLES + GPU, NULL, 0, "show the tables of the GPUs and their driver",
	 0},
	{"diff", KEY_DIFF, "OTHER", 0, "say what changed since the trace OTHER", 0},
	{"html", KEY_HTML, "FILE", 0,
	 "write a page for a browser to FILE, which must not exist: findings, charts, a timeline",
	 0},
	{"json", KEY_JSON, NULL, 0, "write one JSON object with all, for programs", 0},
	{"output", 'o', "FILE", 0, "write to FILE, which must not exist", 0},
	{"overwrite", TAP_KEY_OVERWRITE, NULL, 0,
	 "replace the file of --output or --html", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &request->stacks;
		state->child_inputs[1] = &request->filters;
		break;
	case KEY_JSON:
		request->json = true;
		return 0;
	case KEY_DIFF:
		request->other = arg;
		return 0;
	case KEY_HTML:
		request->html = arg;
		return 0;
	case KEY_TABLES + COMM:
		/* A table, and with a value a filter. */
		if (arg)
			tap_filters_set_comm(&request->filters, arg);
		request->tables[COMM] |= !arg;
		return 0;
	case KEY_TABLES ... KEY_TABLES + COMM - 1:
	case KEY_TABLES + COMM + 1 ... KEY_TABLES + TABLES - 1:
		request->tables[key - KEY_TABLES] = true;
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
	.doc = "Sums up TRACE, a folder that was recorded into; without it, the newest recording here: "
	       "in one screen what is wrong, the collectives and the ranks; or in tables all that was "
	       "counted.",
};

/* "trace", or "a, b": what the page is of. */
static char *make_title(const struct request *request)
{
	char *title = NULL;
	size_t size;
	FILE *file = open_memstream(&title, &size);
	int i;

	if (!file)
		return NULL;
	for (i = 0; i < request->reading.trace_count; i++)
		fprintf(file, "%s%s", i ? ", " : "", request->reading.traces[i]);
	return fclose(file) ? NULL : title;
}

static bool add_page(const struct request *request, bt_value *params)
{
	char *title;
	bool is_added;

	if (!request->html)
		return true;
	title = make_title(request);
	is_added = title &&
		   !bt_value_map_insert_string_entry(params, "page", tap_place_page()) &&
		   !bt_value_map_insert_string_entry(params, "title", title) &&
		   (!request->other ||
		    !bt_value_map_insert_string_entry(params, "baseline-name",
						      request->other));
	free(title);
	return is_added;
}

/* Whether the page can be written as it is asked for; else one line says why not. */
static bool is_page_possible(const struct request *request)
{
	char path[PATH_MAX];
	size_t i;

	if (!request->html)
		return true;
	for (i = 0; i < TABLES && !request->tables[i]; i++)
		continue;
	if (i < TABLES || request->json || request->stacks.is_wanted ||
	    strcmp(request->reading.output, "-") != 0) {
		tap_message_write(
			"--html FILE is a page of its own: leave out --json, --output, "
			"--stacks and tables");
		return false;
	}
	snprintf(path, sizeof(path), "%s/page.html", tap_place_page());
	if (!access(path, R_OK))
		return true;
	tap_message_write(
		"cannot read %s, the template of the page: %s; install ccltap anew, or set "
		"CCLTAP_PAGEDIR",
		path, strerror(errno));
	return false;
}

/* The sink refuses it, too, but after the reading of the audit. */
static bool is_page_there(const struct request *request)
{
	struct stat status;

	if (!request->html || request->reading.overwrite ||
	    stat(request->html, &status) || !S_ISREG(status.st_mode))
		return false;
	tap_message_write("%s exists: choose another name or overwrite it",
			  request->html);
	return true;
}

static bool add_tables(const struct request *request, bt_value *params)
{
	bool is_none = true;
	size_t i;

	for (i = 0; i < TABLES; i++) {
		is_none = is_none && !request->tables[i];
		if (request->tables[i] &&
		    bt_value_map_insert_bool_entry(params, tables[i], BT_TRUE))
			return false;
	}
	/* The first screen has no stacks. */
	return !is_none || !request->stacks.is_wanted ||
	       !bt_value_map_insert_bool_entry(params, "calls", true);
}

static bt_value *make_params(const struct request *request)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_bool_entry(params, "json", request->json) &&
	    !bt_value_map_insert_string_entry(params, "output",
					      request->html ? request->html
							    : request->reading.output) &&
	    !bt_value_map_insert_bool_entry(params, "overwrite",
					    request->reading.overwrite) &&
	    !bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO)) &&
	    tap_terminal_add_params(params) && add_tables(request, params) &&
	    add_page(request, params) &&
	    tap_stacks_add_params(&request->stacks, params) &&
	    tap_filters_add_params(&request->filters, params))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

/* What other readings found, in files in memory; each NULL: there is none. */
struct readings {
	const char *baseline; /* the measures of another trace */
	const char *audit;
};

/* Reads the trace, with what other readings found. */
static int read_trace(const struct request *request, const struct readings *readings)
{
	bt_value *params = make_params(request);

	if (params &&
	    ((readings->baseline && bt_value_map_insert_string_entry(
					    params, "baseline", readings->baseline)) ||
	     (readings->audit &&
	      bt_value_map_insert_string_entry(params, "audit", readings->audit)))) {
		bt_value_put_ref(params);
		params = NULL;
	}
	return tap_graph_run(request->reading.traces, request->reading.trace_count,
			     "report", params, false);
}

/* Has a sink write into a new file in memory, whose path it sets. Returns an exit status. */
static int read_into(char *const *traces, int count, const char *sink,
		     const char *const *flags, char path[64], int *fd)
{
	bt_value *params = bt_value_map_create();

	tap_child_fill_standard();
	*fd = memfd_create("ccltap-report", MFD_CLOEXEC);
	if (*fd < 0) {
		tap_message_write("cannot begin: %s", strerror(errno));
		bt_value_put_ref(params);
		return TAP_EXIT_FAILURE;
	}
	snprintf(path, 64, "/proc/self/fd/%d", *fd);
	for (; params && *flags; flags++)
		if (bt_value_map_insert_bool_entry(params, *flags, true))
			BT_VALUE_PUT_REF_AND_RESET(params);
	if (params &&
	    (bt_value_map_insert_string_entry(params, "output", path) ||
	     bt_value_map_insert_bool_entry(params, "overwrite", true) ||
	     bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO))))
		BT_VALUE_PUT_REF_AND_RESET(params);
	return tap_graph_run(traces, count, sink, params, false);
}

/*
 * Reads the other trace into measures, which the last reading compares with its own; and
 * for a page the trace itself for its audit, which is always of all of it.
 */
static int report(struct request *request)
{
	static const char *const measures[] = {"measures", NULL},
				 *const brief[] = {"json", "brief", NULL};
	struct readings readings = {0};
	char baseline[64], audit[64];
	int baseline_fd = -1, audit_fd = -1, status = 0;

	if (request->other) {
		status = read_into(&request->other, 1, "report", measures, baseline,
				   &baseline_fd);
		readings.baseline = baseline;
	}
	if (!status && request->html) {
		status = read_into(request->reading.traces, request->reading.trace_count,
				   "audit", brief, audit, &audit_fd);
		if (!status)
			readings.audit = audit;
		/* A trace that cannot be read has no page, either. */
		if (status == TAP_EXIT_FAILURE) {
			tap_message_write("the page says nothing of the audit, whose "
					  "reading failed");
			status = 0;
		}
	}
	if (!status)
		status = read_trace(request, &readings);
	if (baseline_fd >= 0)
		close(baseline_fd);
	if (audit_fd >= 0)
		close(audit_fd);
	return status;
}

int tap_report_main(int argc, char **argv)
{
	struct request request = {.reading.output = "-"};

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	if (!is_page_possible(&request))
		return TAP_EXIT_USAGE;
	if (is_page_there(&request))
		return TAP_EXIT_FAILURE;
	return report(&request);
}
