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

int main(void)
{
	printf("1..8\n");
	report("of none there is no percentile", none);
	report("one duration is its own median", one);
	report("few are exact", few);
	report("many that are alike are not told as others", alike);
	report("many are right to a tenth, in two digits", many);
	report("the longest are", extremes);
	report("two digits are kept", rounded);
	report("half are no farther from the median than the deviation", deviation);
	return 0;
}
