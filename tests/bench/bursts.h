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

static inline int bursts_compare(const void *left, const void *right)
{
	double a = *(const double *) left, b = *(const double *) right;

	return (a > b) - (a < b);
}

/*
 * Prints the ns per turn of the burst that a tenth of all bursts undercut; other
 * programs only ever add to a burst.  One burst more runs first and is not timed: it
 * has the first call, which is slow.  pause_us lets LTTng's consumer empty the buffers.
 * Returns an exit status.
 */
static inline int bursts_print(void (*burst)(long turns), long count, long turns,
			       long pause_us)
{
	const struct timespec pause = {0, pause_us * 1000};
	double *ns = count > 0 ? calloc((size_t) count, sizeof(*ns)) : NULL;
	double begin;
	long i;

	if (!ns)
		return 1;
	burst(turns);
	for (i = 0; i < count; i++) {
		if (pause_us)
			nanosleep(&pause, NULL);
		begin = bursts_now_ns();
		burst(turns);
		ns[i] = (bursts_now_ns() - begin) / (double) turns;
	}
	qsort(ns, (size_t) count, sizeof(*ns), bursts_compare);
	printf("%.4f\n", ns[count / 10]);
	free(ns);
	return 0;
}

#endif
