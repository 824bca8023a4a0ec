/* SPDX-License-Identifier: MIT */
/*
 * How far a long reading is, told on standard error once a second.  Hides when that
 * is worth a line.
 */
#ifndef TAP_JOIN_BT_PROGRESS_H
#define TAP_JOIN_BT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* All zero is none that is wanted. */
struct tap_progress {
	bool is_wanted;
	bool has_shown;
	struct timespec shown; /* when it was told last */
};

void tap_progress_show(struct tap_progress *progress, uint64_t events);

/* Clears the line. */
void tap_progress_end(const struct tap_progress *progress);

#endif
