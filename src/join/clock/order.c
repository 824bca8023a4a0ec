/* SPDX-License-Identifier: MIT */
/*
 * A pair says: at the time of the cause, the cause's clock is behind the effect's by at
 * most effect_ns - cause_ns, if "behind" is what must be added.  A clock's rate is
 * bounded, so a pair says something about other times, too, and implies the pairs that
 * say less there.  The narrower the rate is known, the more is implied.
 */
#include "join/clock/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const struct tap_before *a = left, *b = right;

	return a->cause_ns < b->cause_ns ? -1 : a->cause_ns > b->cause_ns;
}

/* What must be added to the cause's clock to get the effect's is at most this. */
static double truth_of(const struct tap_before *before)
{
	return (double) (before->effect_ns - before->cause_ns);
}

/* What the pair says, which may be too much. */
static double bound_of(const struct tap_before *before)
{
	return truth_of(before) - before->slack_ns;
}

/* What `from` says about the time of `at`. */
static double reach(const struct tap_before *from, const struct tap_before *at,
		    const struct tap_slopes *slopes)
{
	const double after = (double) (at->cause_ns - from->cause_ns);

	return bound_of(from) + after * (after > 0 ? slopes->max : slopes->min);
}

/* Marks what an earlier pair, or seen from the other end a later one, implies. */
static void mark_implied(struct tap_order *order, const struct tap_slopes *slopes,
			 bool *is_implied)
{
	const struct tap_before *items = order->items, *best = NULL;
	size_t i;

	for (i = 0; i < order->count; i++) {
		if (best && reach(best, &items[i], slopes) <= bound_of(&items[i]))
			is_implied[i] = true;
		else
			best = &items[i];
	}
	best = NULL;
	for (i = order->count; i-- > 0;) {
		if (is_implied[i])
			continue;
		if (best && reach(best, &items[i], slopes) <= bound_of(&items[i]))
			is_implied[i] = true;
		else
			best = &items[i];
	}
}

static int drop_implied(struct tap_order *order, const struct tap_slopes *slopes)
{
	bool *is_implied = calloc(order->count + 1, sizeof(*is_implied));
	size_t i, count = 0;

	if (!is_implied)
		return -ENOMEM;
	mark_implied(order, slopes, is_implied);
	for (i = 0; i < order->count; i++)
		if (!is_implied[i])
			order->items[count++] = order->items[i];
	order->count = count;
	free(is_implied);
	return 0;
}

/*
 * What the orders of both ways say about how much faster the effect's clock runs.  Where
 * no line fits, the widest.
 */
static int narrow(const struct tap_order *order, const struct tap_order *back,
		  struct tap_slopes *slopes)
{
	const size_t count = order->count + back->count;
	struct tap_band_point *points = malloc((count + 1) * sizeof(*points)), *point;
	const int64_t origin_ns = order->items[0].cause_ns;
	const double base = truth_of(&order->items[0]);
	size_t i;

	if (!points)
		return -ENOMEM;
	point = points;
	for (i = 0; i < order->count; i++, point++)
		*point = (struct tap_band_point){
			.time = (double) (order->items[i].cause_ns - origin_ns),
			.lower = -INFINITY,
			.upper = truth_of(&order->items[i]) - base};
	for (i = 0; i < back->count; i++, point++)
		*point = (struct tap_band_point){
			.time = (double) (back->items[i].effect_ns - origin_ns),
			.lower = -truth_of(&back->items[i]) - base,
			.upper = INFINITY};
	if (tap_band_fit(points, count, slopes)) {
		slopes->min -= 4 * TAP_CLOCK_WANDER_MAX;
		slopes->max += 4 * TAP_CLOCK_WANDER_MAX;
	}
	free(points);
	return 0;
}

/* What one pair lacks to imply another, which may be less than 0. */
static double lacks(const struct tap_before *from, const struct tap_before *at,
		    const struct tap_slopes *slopes)
{
	return reach(from, at, slopes) - bound_of(at);
}

/* Makes a pair say more, so that it implies another that is dropped. */
static void strengthen(struct tap_order *order, struct tap_before *before, double by)
{
	if (by > 0)
		before->slack_ns += by;
	if (before->slack_ns > order->lost_ns)
		order->lost_ns = before->slack_ns;
}

/* Replaces two neighbours by one of them, where that then says at most this too much. */
static void unite(struct tap_order *order, const struct tap_slopes *slopes, double most)
{
	struct tap_before *keep = order->items;
	double first, second;
	size_t i;

	for (i = 1; i < order->count; i++) {
		first = lacks(keep, &order->items[i], slopes);
		second = lacks(&order->items[i], keep, slopes);
		if (first > most && second > most) {
			*++keep = order->items[i];
		} else if (first <= second) {
			strengthen(order, keep, first);
		} else {
			strengthen(order, &order->items[i], second);
			*keep = order->items[i];
		}
	}
	order->count = (size_t) (keep - order->items) + 1;
}

int tap_order_thin(struct tap_order *order, const struct tap_order *back, size_t max)
{
	struct tap_slopes slopes = {-2 * TAP_CLOCK_DRIFT_MAX, 2 * TAP_CLOCK_DRIFT_MAX};
	double most;
	int ret;

	if (order->count < 2)
		return 0;
	qsort(order->items, order->count, sizeof(*order->items), compare);
	ret = drop_implied(order, &slopes);
	if (ret || order->count <= max)
		return ret;
	if (back && back->count) {
		ret = narrow(order, back, &slopes);
		if (!ret)
			ret = drop_implied(order, &slopes);
	}
	for (most = 1; !ret && order->count > max; most *= 1.25)
		unite(order, &slopes, most);
	return ret;
}
