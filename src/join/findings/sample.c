/* SPDX-License-Identifier: MIT */
/* Reservoir sampling (Vitter's algorithm R), with a generator of fixed seed. */
#include "join/findings/sample.h"

#include "join/base/time.h"

#include <stdlib.h>
#include <string.h>

/* Vigna's splitmix64: any state is a good one. */
static uint64_t next_number(struct tap_draw *draw)
{
	uint64_t x = draw->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

size_t tap_draw_next(struct tap_draw *draw, size_t size)
{
	uint64_t at = draw->seen++;

	if (at >= size)
		at = next_number(draw) % draw->seen;
	return at < size ? (size_t) at : size;
}

void tap_sample_add(struct tap_sample *sample, int64_t value)
{
	const size_t at = tap_draw_next(&sample->draw, TAP_SAMPLE_SIZE);

	if (at < TAP_SAMPLE_SIZE)
		sample->values[at] = value;
}

/* Copies the values, which the callers reorder; returns how many there are. */
static size_t copy(const struct tap_sample *sample, int64_t *values)
{
	size_t count = TAP_SAMPLE_SIZE;

	if (sample->draw.seen < count)
		count = (size_t) sample->draw.seen;
	memcpy(values, sample->values, count * sizeof(*values));
	return count;
}

int64_t tap_sample_deviation(const struct tap_sample *sample)
{
	int64_t values[TAP_SAMPLE_SIZE];

	return tap_median_deviation(values, copy(sample, values),
				    tap_sample_median(sample));
}

static int compare(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;

	return (a > b) - (a < b);
}

int64_t tap_median(int64_t *values, size_t count)
{
	if (!count)
		return -1;
	if (count == 1)
		return values[0];
	qsort(values, count, sizeof(*values), compare);
	return values[(count - 1) / 2];
}

/* The value that so many tenths do not exceed; -1 of an empty sample. */
static int64_t value_at(const struct tap_sample *sample, size_t tenths)
{
	int64_t values[TAP_SAMPLE_SIZE];
	const size_t count = copy(sample, values);

	if (!count)
		return -1;
	tap_median(values, count);
	return values[(count - 1) * tenths / 10];
}

int64_t tap_sample_median(const struct tap_sample *sample)
{
	return value_at(sample, 5);
}

int64_t tap_sample_decile(const struct tap_sample *sample)
{
	return value_at(sample, 1);
}

int64_t tap_median_deviation(int64_t *values, size_t count, int64_t center)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const int64_t away = tap_since_ns(values[i], center);

		values[i] = away < 0 ? tap_since_ns(0, away) : away;
	}
	return tap_median(values, count);
}
