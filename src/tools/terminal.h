/* SPDX-License-Identifier: MIT */
/*
 * The terminal that a person reads standard output on. Hides how its size and its colours
 * are known, and what is assumed where standard output is none.
 */
#ifndef TAP_TOOLS_TERMINAL_H
#define TAP_TOOLS_TERMINAL_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

struct tap_terminal_size {
	unsigned int columns, lines;
};

/*
 * What fits the terminal of standard output, whose last line is the prompt's; COLUMNS and
 * LINES count before. 100 columns and 24 lines where standard output is no terminal.
 */
struct tap_terminal_size tap_terminal_size(void);

/*
 * Whether standard output is a terminal that shows colours, and the user has nothing
 * against them (NO_COLOR).
 */
bool tap_terminal_has_colour(void);

/*
 * Adds "columns", "lines" and "colour" to the parameters of a sink; false: no memory. There
 * is no colour where "output" is among them already and is not standard output.
 */
bool tap_terminal_add_params(bt_value *params);

#endif
