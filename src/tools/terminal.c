/* SPDX-License-Identifier: MIT */
/* What the kernel knows of standard output's terminal, and the environment of its colours. */
#include "tools/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_COLUMNS 100
#define USUAL_LINES 24

/* A number of the environment; 0: there is none. */
static unsigned int number_of(const char *variable)
{
	const char *value = getenv(variable);
	long number = value ? strtol(value, NULL, 10) : 0;

	return number > 0 && number < 10000 ? (unsigned int) number : 0;
}

struct tap_terminal_size tap_terminal_size(void)
{
	struct tap_terminal_size size = {.columns = number_of("COLUMNS"),
					 .lines = number_of("LINES")};
	struct winsize window = {0};

	/* A terminal that nobody told its size has 0 of both. */
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) < 0)
		window = (struct winsize){0};
	if (!size.columns)
		size.columns = window.ws_col ? window.ws_col : USUAL_COLUMNS;
	if (!size.lines)
		size.lines = window.ws_row > 1 ? window.ws_row - 1u : USUAL_LINES;
	return size;
}

bool tap_terminal_has_colour(void)
{
	const char *refused = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(refused && *refused) && term && *term &&
	       strcmp(term, "dumb");
}

bool tap_terminal_add_params(bt_value *params)
{
	const struct tap_terminal_size size = tap_terminal_size();
	const bt_value *output = bt_value_map_borrow_entry_value_const(params, "output");
	const bool is_shown = !output || !strcmp(bt_value_string_get(output), "-");

	return !bt_value_map_insert_signed_integer_entry(params, "columns",
							 size.columns) &&
	       !bt_value_map_insert_signed_integer_entry(params, "lines", size.lines) &&
	       !bt_value_map_insert_bool_entry(params, "colour",
					       is_shown && tap_terminal_has_colour());
}
