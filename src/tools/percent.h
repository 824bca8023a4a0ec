/* SPDX-License-Identifier: MIT */
/*
 * How far a long reading is, in per cent, on a line of the terminal. Hides when that is
 * worth a line, and that the line must be gone before anything else is written.
 */
#ifndef TAP_TOOLS_PERCENT_H
#define TAP_TOOLS_PERCENT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* All zero shows nothing. */
struct tap_percent {
	bool is_wanted;
	bool is_shown;
	struct timespec begun, changed;
};

void tap_percent_begin(struct tap_percent *percent);

/* Changes the line, once a second at most; 0 is not known yet. */
void tap_percent_show(struct tap_percent *percent, uint64_t read, uint64_t all);

/* Clears the line. */
void tap_percent_clear(struct tap_percent *percent);

#endif
