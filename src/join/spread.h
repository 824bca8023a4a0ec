/* SPDX-License-Identifier: MIT */
/*
 * How durations are spread: percentiles to an eighth, in the same memory whatever the
 * length of the trace.
 */
#ifndef TAP_JOIN_SPREAD_H
#define TAP_JOIN_SPREAD_H

#include <stdint.h>

#define TAP_SPREAD_STEPS_LOG2 3
#define TAP_SPREAD_STEPS (1 << TAP_SPREAD_STEPS_LOG2)
#define TAP_SPREAD_SIZES ((64 - TAP_SPREAD_STEPS_LOG2 + 1) * TAP_SPREAD_STEPS)

/* All zero is none. */
struct tap_spread {
	uint64_t count;
	int64_t max_ns;
	uint64_t sizes[TAP_SPREAD_SIZES];
};

/* One that is less than 0, of a damaged trace, is passed over. */
void tap_spread_add(struct tap_spread *spread, int64_t ns);

/* At least so many of a hundred are not longer; -1: there is none. */
int64_t tap_spread_percentile(const struct tap_spread *spread, unsigned int percent);

/* -1: there is none. */
int64_t tap_spread_max(const struct tap_spread *spread);

#endif
