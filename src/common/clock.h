/* SPDX-License-Identifier: MIT */
/*
 * The clock by which the tracer and the command measure durations.  It hides which clock that
 * is and its unit.
 */
#ifndef TAP_COMMON_CLOCK_H
#define TAP_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define TAP_SECOND_NS INT64_C(1000000000)

/* CLOCK_MONOTONIC, in nanoseconds; errno is kept. */
static inline int64_t tap_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * TAP_SECOND_NS + now.tv_nsec;
}

static inline int64_t tap_now_ms(void)
{
	return tap_now_ns() / 1000000;
}

#endif
