/* SPDX-License-Identifier: MIT */
/* One line on standard error, overwritten each time. */
#include "tools/percent.h"

#include <stdio.h>
#include <unistd.h>

/* Whether a second has passed since then. */
static bool is_past(const struct timespec *then, const struct timespec *now)
{
	return now->tv_sec - then->tv_sec > 1 ||
	       (now->tv_sec - then->tv_sec == 1 && now->tv_nsec >= then->tv_nsec);
}

static void write_line(const char *line, int length)
{
	/* If nobody reads stderr, there is nobody left to inform. */
	if (write(STDERR_FILENO, line, (size_t) length) < 0)
		return;
}

void tap_percent_begin(struct tap_percent *percent)
{
	clock_gettime(CLOCK_MONOTONIC, &percent->begun);
	percent->changed = percent->begun;
}

void tap_percent_show(struct tap_percent *percent, uint64_t read, uint64_t all)
{
	struct timespec now;
	char line[32];

	/* Nothing is known of streams without an index until they end. */
	if (!percent->is_wanted || !all || !read)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!is_past(&percent->changed, &now))
		return;
	percent->changed = now;
	percent->is_shown = true;
	write_line(line, snprintf(line, sizeof(line), "\r%.0f %% read",
				  read < all ? 100.0 * (double) read / (double) all
					     : 100.0));
}

void tap_percent_clear(struct tap_percent *percent)
{
	static const char clear[] = "\r\033[K";

	if (percent->is_shown)
		write_line(clear, sizeof(clear) - 1);
	percent->is_shown = false;
}
