/* SPDX-License-Identifier: MIT */
/*
 * How durations are spread, in the same memory whatever the length of the trace: the
 * percentiles of few are exact, of more they are known to a tenth.
 *
 * Hides how they are kept, and how many digits of one mean something.
 */
#ifndef TAP_JOIN_BASE_SPREAD_H
#define TAP_JOIN_BASE_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#define TAP_SPREAD_STEPS_LOG2 3
#define TAP_SPREAD_STEPS (1 << TAP_SPREAD_STEPS_LOG2)
#define TAP_SPREAD_SIZES ((64 - TAP_SPREAD_STEPS_LOG2 + 1) * TAP_SPREAD_STEPS)

/* So many are kept themselves. */
#define TAP_SPREAD_FEW 32

/* All zero is none. */
struct tap_spread {
	uint64_t count;
	int64_t min_ns, max_ns;
	int64_t few[TAP_SPREAD_FEW]; /* all of them in order, as long as they fit */
	uint64_t sizes[TAP_SPREAD_SIZES];
};

/* One that is less than 0, of a damaged trace, is passed over. */
void tap_spread_add(struct tap_spread *spread, int64_t ns);

/*
 * So many of a hundred are not longer; -1: there is none.  Where it is not exact it is
 * rounded to the two digits that mean something.
 */
int64_t tap_spread_percentile(const struct tap_spread *spread, unsigned int percent);

/* Whether percentiles are exact. */
bool tap_spread_is_exact(const struct tap_spread *spread);

/* To two digits. */
uint64_t tap_spread_round(uint64_t ns);

/* -1: there is none. */
int64_t tap_spread_max(const struct tap_spread *spread);

#endif
