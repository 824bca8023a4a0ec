/* SPDX-License-Identifier: MIT */
/* One line, overwritten each time. */
#include "join/bt/progress.h"

#include <stdio.h>

void tap_progress_show(struct tap_progress *progress, uint64_t events)
{
	struct timespec now;

	if (!progress->is_wanted)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == progress->shown.tv_sec)
		return;
	/* The first call only starts the clock: short readings show nothing. */
	if (progress->shown.tv_sec) {
		fprintf(stderr, "\r%.1f million events read", (double) events / 1e6);
		progress->has_shown = true;
	}
	progress->shown = now;
}

void tap_progress_end(const struct tap_progress *progress)
{
	if (progress->has_shown)
		fprintf(stderr, "\r\033[K");
}
