/* SPDX-License-Identifier: MIT */
/*
 * Durations are counted by their size: eight counts for each power of two, so that a
 * percentile is known to an eighth.
 */
#include "join/spread.h"

static unsigned int size_of(uint64_t ns)
{
	unsigned int log2;

	if (ns < TAP_SPREAD_STEPS)
		return (unsigned int) ns;
	log2 = 63 - (unsigned int) __builtin_clzll(ns);
	return (log2 - TAP_SPREAD_STEPS_LOG2 + 1) * TAP_SPREAD_STEPS +
	       (unsigned int) (ns >> (log2 - TAP_SPREAD_STEPS_LOG2) &
			       (TAP_SPREAD_STEPS - 1));
}

/* The least duration that is counted there. */
static int64_t duration_of(unsigned int size)
{
	if (size < TAP_SPREAD_STEPS)
		return size;
	return (int64_t) ((uint64_t) (TAP_SPREAD_STEPS + size % TAP_SPREAD_STEPS)
			  << (size / TAP_SPREAD_STEPS - 1));
}

int64_t tap_spread_percentile(const struct tap_spread *spread, unsigned int percent)
{
	uint64_t rank = (spread->count * percent + 99) / 100, seen = 0;
	unsigned int i;

	if (!spread->count)
		return -1;
	for (i = 0; i < TAP_SPREAD_SIZES; i++) {
		seen += spread->sizes[i];
		if (seen >= rank)
			break;
	}
	return duration_of(i);
}

void tap_spread_add(struct tap_spread *spread, int64_t ns)
{
	if (ns < 0)
		return;
	spread->count++;
	if (ns > spread->max_ns)
		spread->max_ns = ns;
	spread->sizes[size_of((uint64_t) ns)]++;
}

int64_t tap_spread_max(const struct tap_spread *spread)
{
	return spread->count ? spread->max_ns : -1;
}
