/* SPDX-License-Identifier: MIT */
/*
 * Times a loop in bursts, so that what disturbs a machine for a while disturbs few of
 * them.  Hides the clock and the choice of a burst; both sides of a ratio use it.
 */
#ifndef TAP_BENCH_BURSTS_H
#define TAP_BENCH_BURSTS_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bursts_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

/*
 * Prints the ns per turn of the quickest burst: other programs only ever add to one.  One
 * burst more runs first and is not timed: it has the first call, which is slow.  pause_us
 * lets LTTng's consumer empty the buffers.  Returns an exit status.
 */
static inline int bursts_print(void (*burst)(long turns), long count, long turns,
			       long pause_us)
{
	const struct timespec pause = {0, pause_us * 1000};
	double begin, took, least = 0;
	long i;

	if (count <= 0 || turns <= 0)
		return 1;
	burst(turns);
	for (i = 0; i < count; i++) {
		if (pause_us)
			nanosleep(&pause, NULL);
		begin = bursts_now_ns();
		burst(turns);
		took = bursts_now_ns() - begin;
		if (!i || took < least)
			least = took;
	}
	printf("%.4f\n", least / (double) turns);
	return 0;
}

#endif
