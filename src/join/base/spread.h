/* SPDX-License-Identifier: MIT */
/*
 * The distribution of durations, in memory that does not grow with the trace: percentiles
 * of few durations are exact, those of more are within a tenth.
 *
 * Hides how the durations are stored, and how many digits of a percentile are
 * significant.
 */
#ifndef TAP_JOIN_BASE_SPREAD_H
#define TAP_JOIN_BASE_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#define TAP_SPREAD_STEPS_LOG2 3
#define TAP_SPREAD_STEPS (1 << TAP_SPREAD_STEPS_LOG2)
#define TAP_SPREAD_SIZES ((64 - TAP_SPREAD_STEPS_LOG2 + 1) * TAP_SPREAD_STEPS)

/* Up to so many durations are stored exactly. */
#define TAP_SPREAD_FEW 32

/* All zero is empty. */
struct tap_spread {
	uint64_t count;
	int64_t min_ns, max_ns;
	int64_t few[TAP_SPREAD_FEW]; /* all durations in order, as long as they fit */
	uint64_t sizes[TAP_SPREAD_SIZES];
};

/* Adds a duration; a negative one, from a damaged trace, is ignored. */
void tap_spread_add(struct tap_spread *spread, int64_t ns);

/* Adds all durations of another spread. */
void tap_spread_add_up(struct tap_spread *spread, const struct tap_spread *other);

/* The durations that sizes[size] counts: from the first up to, but not, the second. */
void tap_spread_range(unsigned int size, uint64_t *ret_from_ns, uint64_t *ret_to_ns);

/*
 * The duration that `percent` of a hundred do not exceed; -1: there is none.  Where
 * percentiles are not exact, rounded to the two significant digits.
 */
int64_t tap_spread_percentile(const struct tap_spread *spread, unsigned int percent);

/*
 * How far durations are from their median: the median of the distances, which a few
 * outliers do not change.  -1: there is none.
 */
int64_t tap_spread_deviation(const struct tap_spread *spread);

/* Whether percentiles are exact. */
bool tap_spread_is_exact(const struct tap_spread *spread);

/* Rounds to two digits. */
uint64_t tap_spread_round(uint64_t ns);

/* The longest duration; -1: there is none. */
int64_t tap_spread_max(const struct tap_spread *spread);

#endif
