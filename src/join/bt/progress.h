/* SPDX-License-Identifier: MIT */
/*
 * The progress of a long reading, shown on standard error once a second.
 *
 * Hides when that is worth a line.
 */
#ifndef TAP_JOIN_BT_PROGRESS_H
#define TAP_JOIN_BT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* All zero shows nothing. */
struct tap_progress {
	bool is_wanted;
	bool has_shown;
	struct timespec shown; /* the time of the last line */
};

void tap_progress_show(struct tap_progress *progress, uint64_t events);

/* Clears the line. */
void tap_progress_end(const struct tap_progress *progress);

#endif
