/* SPDX-License-Identifier: MIT */
/*
 * Up to TAP_SPREAD_FEW durations are stored in order.  Every duration is also counted by
 * size: eight counts for each power of two, so that the middle of a count's range is
 * wrong by a sixteenth at most.
 */
#include "join/base/spread.h"

#include <stdlib.h>
#include <string.h>

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

/* The middle of the range of durations of this count. */
static uint64_t duration_of(unsigned int size)
{
	const unsigned int shift =
		size < TAP_SPREAD_STEPS ? 0 : size / TAP_SPREAD_STEPS - 1;

	if (size < TAP_SPREAD_STEPS)
		return size;
	return ((uint64_t) (TAP_SPREAD_STEPS + size % TAP_SPREAD_STEPS) << shift) +
	       (UINT64_C(1) << shift) / 2;
}

void tap_spread_range(unsigned int size, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	const unsigned int shift =
		size < TAP_SPREAD_STEPS ? 0 : size / TAP_SPREAD_STEPS - 1;
	const uint64_t from =
		size < TAP_SPREAD_STEPS
			? size
			: (uint64_t) (TAP_SPREAD_STEPS + size % TAP_SPREAD_STEPS)
				  << shift;

	*ret_from_ns = from;
	*ret_to_ns = from + (UINT64_C(1) << shift);
}

uint64_t tap_spread_round(uint64_t ns)
{
	uint64_t unit = 1;

	while (ns / unit >= 100)
		unit *= 10;
	return (ns + unit / 2) / unit * unit;
}

bool tap_spread_is_exact(const struct tap_spread *spread)
{
	return spread->count <= TAP_SPREAD_FEW || spread->min_ns == spread->max_ns;
}

int64_t tap_spread_percentile(const struct tap_spread *spread, unsigned int percent)
{
	uint64_t rank = (spread->count * percent + 99) / 100, seen = 0;
	unsigned int i;
	uint64_t ns;

	if (!spread->count)
		return -1;
	if (spread->count <= TAP_SPREAD_FEW)
		return spread->few[rank - 1];
	for (i = 0; i < TAP_SPREAD_SIZES; i++) {
		seen += spread->sizes[i];
		if (seen >= rank)
			break;
	}
	ns = tap_spread_round(duration_of(i));
	if (ns < (uint64_t) spread->min_ns)
		return spread->min_ns;
	return ns > (uint64_t) spread->max_ns ? spread->max_ns : (int64_t) ns;
}

/* A distance, and how many durations have it. */
struct distance {
	uint64_t ns, count;
};

static int compare_distances(const void *left, const void *right)
{
	const struct distance *a = left, *b = right;

	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static uint64_t distance_between(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

int64_t tap_spread_deviation(const struct tap_spread *spread)
{
	const int64_t median = tap_spread_percentile(spread, 50);
	struct distance distances[TAP_SPREAD_SIZES];
	uint64_t seen = 0;
	size_t i, count = 0;

	if (median < 0)
		return -1;
	for (i = 0; spread->count <= TAP_SPREAD_FEW && i < spread->count; i++)
		distances[count++] =
			(struct distance){distance_between((uint64_t) spread->few[i],
							   (uint64_t) median),
					  1};
	for (i = 0; spread->count > TAP_SPREAD_FEW && i < TAP_SPREAD_SIZES; i++)
		if (spread->sizes[i])
			distances[count++] = (struct distance){
				distance_between(duration_of((unsigned int) i),
						 (uint64_t) median),
				spread->sizes[i]};
	qsort(distances, count, sizeof(distances[0]), compare_distances);
	for (i = 0; i < count; i++) {
		seen += distances[i].count;
		if (seen >= (spread->count + 1) / 2)
			break;
	}
	return (int64_t) distances[i].ns;
}

static void keep(struct tap_spread *spread, int64_t ns)
{
	uint64_t at = spread->count;

	while (at && spread->few[at - 1] > ns)
		at--;
	memmove(&spread->few[at + 1], &spread->few[at],
		(spread->count - at) * sizeof(spread->few[0]));
	spread->few[at] = ns;
}

void tap_spread_add(struct tap_spread *spread, int64_t ns)
{
	if (ns < 0)
		return;
	if (spread->count < TAP_SPREAD_FEW)
		keep(spread, ns);
	if (!spread->count || ns < spread->min_ns)
		spread->min_ns = ns;
	if (ns > spread->max_ns)
		spread->max_ns = ns;
	spread->count++;
	spread->sizes[size_of((uint64_t) ns)]++;
}

void tap_spread_add_up(struct tap_spread *spread, const struct tap_spread *other)
{
	size_t i;

	if (!other->count)
		return;
	/* With more than a few, those that are stored are not looked at. */
	for (i = 0;
	     i < other->count && i < TAP_SPREAD_FEW && spread->count + i < TAP_SPREAD_FEW;
	     i++) {
		uint64_t at = spread->count + i;

		while (at && spread->few[at - 1] > other->few[i])
			at--;
		memmove(&spread->few[at + 1], &spread->few[at],
			(spread->count + i - at) * sizeof(spread->few[0]));
		spread->few[at] = other->few[i];
	}
	if (!spread->count || other->min_ns < spread->min_ns)
		spread->min_ns = other->min_ns;
	if (other->max_ns > spread->max_ns)
		spread->max_ns = other->max_ns;
	spread->count += other->count;
	for (i = 0; i < TAP_SPREAD_SIZES; i++)
		spread->sizes[i] += other->sizes[i];
}

int64_t tap_spread_max(const struct tap_spread *spread)
{
	return spread->count ? spread->max_ns : -1;
}
