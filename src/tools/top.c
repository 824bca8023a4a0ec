/* SPDX-License-Identifier: MIT */
/* `ccltap top`: what the ranks of a recording with metrics do at the moment. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/counting.h"
#include "tools/message.h"
#include "tools/terminal.h"
#include "tools/top_look.h"
#include "tools/top_screen.h"
#include "tools/top_text.h"

enum { KEY_ONCE = 256, KEY_JSON, KEY_INTERVAL, KEY_SORT, KEY_REVERSE, KEY_FILTER };

#define SORTS "communicator, rank, operations, bytes, busbw, behind, last, errors, open"

struct request {
	const char *wanted; /* NULL: the only recording */
	bool is_once, is_json;
	struct tap_top_wish wish;
};

static const struct argp_option options[] = {
	{"once", KEY_ONCE, NULL, 0, "write one table, of two looks, and end", 0},
	{"json", KEY_JSON, NULL, 0, "with --once, as JSON", 0},
	{"interval", KEY_INTERVAL, "SECONDS", 0, "between two looks [1]", 0},
	{"sort", KEY_SORT, "COLUMN", 0, "by one of " SORTS " [communicator]", 0},
	{"reverse", KEY_REVERSE, NULL, 0, "in the reverse order", 0},
	{"filter", KEY_FILTER, "WORD", 0,
	 "only this rank, or what has these letters in its communicator, host or open call",
	 0},
	{0},
};

static error_t parse_interval(struct request *request, const char *arg)
{
	char *end;
	const double seconds = strtod(arg, &end);

	if (*arg >= '0' && *arg <= '9' && !*end && seconds >= 0.3 && seconds <= 3600) {
		request->wish.interval_s = seconds;
		return 0;
	}
	tap_message_write("interval \"%s\": give seconds from 0.3 to 3600", arg);
	return EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case KEY_ONCE:
		request->is_once = true;
		return 0;
	case KEY_JSON:
		request->is_json = true;
		return 0;
	case KEY_INTERVAL:
		return parse_interval(request, arg);
	case KEY_SORT:
		if (tap_top_key_parse(arg, &request->wish.key))
			return 0;
		tap_message_write("sort \"%s\": give one of " SORTS, arg);
		return EINVAL;
	case KEY_REVERSE:
		request->wish.is_reversed = true;
		return 0;
	case KEY_FILTER:
		if (strlen(arg) < sizeof(request->wish.filter)) {
			strcpy(request->wish.filter, arg);
			return 0;
		}
		tap_message_write("filter \"%s\": give up to 63 letters", arg);
		return EINVAL;
	case ARGP_KEY_ARG:
		if (request->wanted) {
			tap_message_write("one recording at a time: \"%s\" is too much",
					  arg);
			return EINVAL;
		}
		request->wanted = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[SESSION|FILE|DIR]",
	.doc = "Shows what the ranks do that \"ccltap record --metrics\" counts on this host: "
	       "operations, bytes, bus bandwidth, open calls, who is last.",
};

static int look(const struct tap_counting *counting, struct tap_top_table *table)
{
	char why[512];
	int ret = tap_top_look(counting, table, NULL, why, sizeof(why));

	if (!ret)
		return 0;
	if (ret == -EPIPE)
		tap_message_write("%s has ended", counting->session);
	else
		tap_message_write("%s", why);
	return TAP_EXIT_FAILURE;
}

static void wait_for(double seconds)
{
	const struct timespec time = {
		.tv_sec = (time_t) seconds,
		.tv_nsec = (long) ((seconds - (double) (time_t) seconds) * 1e9)};

	nanosleep(&time, NULL);
}

static int write_once(const struct tap_counting *counting, const struct request *request)
{
	const struct tap_top_wish *wish = &request->wish;
	struct tap_top_table table = {0};
	int ret = look(counting, &table);

	if (!ret) {
		wait_for(wish->interval_s);
		ret = look(counting, &table);
	}
	if (!ret) {
		tap_top_table_sort(&table, wish->key, wish->is_reversed);
		if (request->is_json)
			tap_top_text_write_json(stdout, &table, counting->session,
						wish->filter);
		else
			tap_top_text_write(stdout, &table, counting->session,
					   wish->filter, tap_terminal_size().columns);
		if (fflush(stdout) == EOF || ferror(stdout)) {
			tap_message_write("cannot write to the standard output: %s",
					  strerror(errno));
			ret = TAP_EXIT_FAILURE;
		}
	}
	tap_top_table_free(&table);
	return ret;
}

int tap_top_main(int argc, char **argv)
{
	struct request request = {.wish.interval_s = 1};
	struct tap_countings found = {0};
	int ret;

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	if (request.is_json && !request.is_once) {
		tap_message_write("--json is for --once: give both");
		return TAP_EXIT_USAGE;
	}
	tap_countings_find(&found, request.wanted);
	/* On a terminal the user chooses one of several. */
	ret = 0;
	if (request.is_once || found.of.count < 2 || found.error)
		ret = tap_countings_check(&found, request.wanted, "after \"ccltap top\"");
	if (!ret && request.is_once)
		ret = write_once(&found.of.items[0], &request);
	else if (!ret)
		ret = tap_top_screen_run(&found, &request.wish);
	tap_vec_free(&found.of);
	return ret;
}
