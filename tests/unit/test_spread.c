/* SPDX-License-Identifier: MIT */
/* Percentiles: exact of few, rounded of many, never more digits than are known. */
#include "join/base/spread.h"
#include "unit/tap.h"

#include <string.h>

static struct tap_spread spread;

/* Counts `count` durations from `first` on, each `step` longer. */
static void fill(uint64_t count, int64_t first, int64_t step)
{
	uint64_t i;

	memset(&spread, 0, sizeof(spread));
	for (i = 0; i < count; i++)
		tap_spread_add(&spread, first + (int64_t) i * step);
}

static bool deviates(int64_t ns)
{
	const int64_t found = tap_spread_deviation(&spread);

	if (found != ns)
		printf("# deviation: %lld\n", (long long) found);
	return found == ns;
}

static bool has(unsigned int percent, int64_t ns)
{
	const int64_t found = tap_spread_percentile(&spread, percent);

	if (found != ns)
		printf("# %u %%: %lld\n", percent, (long long) found);
	return found == ns;
}

/* Of 100, 200, ... to 10,000,000: what is told is less than a tenth wrong. */
static bool is_near(unsigned int percent)
{
	const int64_t right = (int64_t) percent * 100000;
	const int64_t found = tap_spread_percentile(&spread, percent);

	if (found > right - right / 10 && found < right + right / 10)
		return true;
	printf("# %u %%: %lld\n", percent, (long long) found);
	return false;
}

static bool none(void)
{
	bool is_passed = true;

	fill(0, 0, 0);
	CHECK(has(50, -1));
	CHECK(tap_spread_max(&spread) == -1);
	return is_passed;
}

static bool one(void)
{
	bool is_passed = true;

	fill(1, 1234567, 0);
	CHECK(has(50, 1234567));
	CHECK(has(99, 1234567));
	CHECK(tap_spread_is_exact(&spread));
	return is_passed;
}

static bool few(void)
{
	bool is_passed = true;

	fill(3, 3000007, -1000001);
	CHECK(has(50, 2000006));
	CHECK(has(99, 3000007));
	fill(TAP_SPREAD_FEW, 1, 1);
	CHECK(has(50, TAP_SPREAD_FEW / 2));
	CHECK(has(100, TAP_SPREAD_FEW));
	return is_passed;
}

static bool alike(void)
{
	bool is_passed = true;

	fill(TAP_SPREAD_FEW + 1, 1234567, 0);
	CHECK(has(50, 1234567));
	CHECK(tap_spread_is_exact(&spread));
	tap_spread_add(&spread, 1234568);
	CHECK(has(50, 1234567));
	CHECK(!tap_spread_is_exact(&spread));
	return is_passed;
}

static bool many(void)
{
	bool is_passed = true;
	unsigned int percent;

	fill(100000, 100, 100);
	for (percent = 1; percent <= 99; percent++)
		CHECK(is_near(percent));
	CHECK(has(50, 5000000));
	CHECK(has(10, 1000000));
	CHECK(tap_spread_max(&spread) == 10000000);
	return is_passed;
}

static bool extremes(void)
{
	bool is_passed = true;

	fill(100, INT64_MAX - 200, 2);
	CHECK(tap_spread_percentile(&spread, 50) >= INT64_MAX - 200);
	tap_spread_add(&spread, -1);
	CHECK(spread.count == 100);
	return is_passed;
}

static bool rounded(void)
{
	bool is_passed = true;

	CHECK(tap_spread_round(99) == 99);
	CHECK(tap_spread_round(1049) == 1000);
	CHECK(tap_spread_round(1050) == 1100);
	CHECK(tap_spread_round(9960) == 10000);
	return is_passed;
}

static bool deviation(void)
{
	bool is_passed = true;

	fill(0, 0, 0);
	CHECK(deviates(-1));
	fill(5, 100, 10);
	tap_spread_add(&spread, 1000000);
	CHECK(deviates(10));
	fill(100, 5000, 0);
	CHECK(deviates(0) || tap_spread_deviation(&spread) < 500);
	/* Of 100 durations from 1 to 100 us half are within 25 us of the median. */
	fill(100, 1000, 1000);
	CHECK(tap_spread_deviation(&spread) > 22000 &&
	      tap_spread_deviation(&spread) < 28000);
	return is_passed;
}

/* Whether both spreads say the same. */
static bool is_same(const struct tap_spread *other)
{
	unsigned int percent;

	for (percent = 1; percent <= 100; percent++)
		if (!has(percent, tap_spread_percentile(other, percent)))
			return false;
	return spread.count == other->count &&
	       tap_spread_max(&spread) == tap_spread_max(other) &&
	       tap_spread_is_exact(&spread) == tap_spread_is_exact(other) &&
	       !memcmp(spread.sizes, other->sizes, sizeof(spread.sizes));
}

/* Whether `count` durations in two spreads that are added up are as those in one. */
static bool is_sum(uint64_t count, uint64_t in_first)
{
	static struct tap_spread first, second, whole;
	uint64_t i;

	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	memset(&whole, 0, sizeof(whole));
	for (i = 0; i < count; i++) {
		const int64_t ns = (int64_t) (i * 7919 % 1000) * 1000;

		tap_spread_add(i < in_first ? &first : &second, ns);
		tap_spread_add(&whole, ns);
	}
	tap_spread_add_up(&first, &second);
	spread = first;
	return is_same(&whole);
}

static bool added_up(void)
{
	bool is_passed = true;

	CHECK(is_sum(0, 0));
	CHECK(is_sum(9, 0));
	CHECK(is_sum(9, 4));
	CHECK(is_sum(9, 9));
	CHECK(is_sum(TAP_SPREAD_FEW, 1));
	CHECK(is_sum(TAP_SPREAD_FEW + 1, 5));
	CHECK(is_sum(1000, 3));
	CHECK(is_sum(1000, 997));
	return is_passed;
}

/* Each duration is in the range of its count, and the ranges follow each other. */
static bool ranges(void)
{
	bool is_passed = true;
	uint64_t from, to, before = 0;
	unsigned int i;

	for (i = 0; i < TAP_SPREAD_SIZES; i++) {
		tap_spread_range(i, &from, &to);
		CHECK(from == before && to > from);
		before = to;
		if (from > INT64_MAX / 2)
			break;
		fill(1, (int64_t) from, 0);
		CHECK(spread.sizes[i] == 1);
		fill(1, (int64_t) to - 1, 0);
		CHECK(spread.sizes[i] == 1);
	}
	return is_passed;
}

int main(void)
{
	printf("1..10\n");
	report("of none there is no percentile", none);
	report("one duration is its own median", one);
	report("few are exact", few);
	report("many that are alike are not told as others", alike);
	report("many are right to a tenth, in two digits", many);
	report("the longest are", extremes);
	report("two digits are kept", rounded);
	report("half are no farther from the median than the deviation", deviation);
	report("spreads that are added up are one of all", added_up);
	report("a count says which durations it has", ranges);
	return 0;
}
