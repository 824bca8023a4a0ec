/* SPDX-License-Identifier: MIT */
/* Between two points the conversion is linear; consecutive times share a pair of points. */
#include "join/model/clock.h"

#include <stdlib.h>
#include <string.h>

#include "common/vec.h"
#include "join/model/span.h"

static bool is_of(const struct tap_clock *clock, const char *host,
		  const unsigned char *boot)
{
	return !strcmp(clock->host, host) && clock->has_boot == (boot != NULL) &&
	       (!boot || !memcmp(clock->boot, boot, sizeof(clock->boot)));
}

struct tap_clock *tap_clocks_get(struct tap_clocks *clocks, const char *host,
				 const unsigned char *boot)
{
	struct tap_clock *clock;
	size_t i;

	for (i = 0; i < clocks->count; i++)
		if (is_of(clocks->all[i], host, boot))
			return clocks->all[i];
	if (tap_array_reserve(clocks->all, clocks->room, clocks->count + 1))
		return NULL;
	clock = calloc(1, sizeof(*clock));
	if (!clock)
		return NULL;
	clock->host = strdup(host);
	if (!clock->host) {
		free(clock);
		return NULL;
	}
	clock->number = (unsigned int) clocks->count;
	clock->reference = clock;
	if (boot) {
		clock->has_boot = true;
		memcpy(clock->boot, boot, sizeof(clock->boot));
	}
	clocks->all[clocks->count++] = clock;
	return clock;
}

void tap_clocks_free(struct tap_clocks *clocks)
{
	size_t i;

	for (i = 0; i < clocks->count; i++) {
		free(clocks->all[i]->host);
		free(clocks->all[i]->points);
		free(clocks->all[i]);
	}
	free(clocks->all);
	memset(clocks, 0, sizeof(*clocks));
}

/* The last point that is not after this time; the first point is not. */
static size_t find_point(struct tap_clock *clock, int64_t host_ns)
{
	const struct tap_clock_point *points = clock->points;
	size_t low = 0, high = clock->count, middle;

	middle = clock->latest;
	if (points[middle].host_ns <= host_ns &&
	    (middle + 1 == clock->count || host_ns < points[middle + 1].host_ns))
		return middle;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (points[middle].host_ns <= host_ns)
			low = middle;
		else
			high = middle;
	}
	clock->latest = low;
	return low;
}

static int64_t add(int64_t host_ns, int64_t add_ns)
{
	int64_t sum_ns;

	/* Only a damaged trace has such times. */
	return __builtin_add_overflow(host_ns, add_ns, &sum_ns) ? host_ns : sum_ns;
}

/* Rounds down, so that a later time is never converted to an earlier one. */
static int64_t floor_of(double value)
{
	const int64_t whole = (int64_t) value;

	return whole - ((double) whole > value);
}

int64_t tap_clock_convert(struct tap_clock *clock, int64_t host_ns)
{
	const struct tap_clock_point *from, *to;
	double part;

	if (!clock || !clock->count)
		return host_ns;
	if (host_ns <= clock->points[0].host_ns)
		return add(host_ns, clock->points[0].add_ns);
	from = &clock->points[find_point(clock, host_ns)];
	to = from + 1;
	if (to == clock->points + clock->count)
		return add(host_ns, from->add_ns);
	part = (double) (host_ns - from->host_ns) /
	       (double) (to->host_ns - from->host_ns);
	return add(host_ns,
		   from->add_ns + floor_of((double) (to->add_ns - from->add_ns) * part));
}

/* The last point that is not after this converted time, or the first. */
static size_t find_converted(const struct tap_clock *clock, int64_t time_ns)
{
	const struct tap_clock_point *points = clock->points;
	size_t low = 0, high = clock->count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (points[middle].host_ns + points[middle].add_ns <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t tap_clock_invert(const struct tap_clock *clock, int64_t time_ns)
{
	const struct tap_clock_point *points = clock->points;
	int64_t since_ns, whole_ns;
	size_t low;

	if (!clock->count)
		return time_ns;
	low = find_converted(clock, time_ns);
	since_ns = time_ns - points[low].host_ns - points[low].add_ns;
	if (since_ns <= 0 || low + 1 == clock->count)
		return time_ns - points[low].add_ns;
	whole_ns = points[low + 1].host_ns - points[low].host_ns;
	return points[low].host_ns +
	       (int64_t) ((double) since_ns * (double) whole_ns /
			  (double) (whole_ns + points[low + 1].add_ns -
				    points[low].add_ns));
}

int64_t tap_clock_uncertainty_at(const struct tap_clock *clock, int64_t time_ns)
{
	if (time_ns < 0 || !clock->count)
		return clock->uncertainty_ns;
	return clock->points[find_converted(clock, time_ns)].uncertainty_ns;
}

int64_t tap_clock_uncertainty_ns(const struct tap_process *a, int64_t a_ns,
				 const struct tap_process *b, int64_t b_ns)
{
	const struct tap_clock *left = a->trace->clock, *right = b->trace->clock;

	if (a->trace == b->trace)
		return 0;
	if (!left || !right)
		return strcmp(a->host, b->host) ? -1 : 0;
	if (left == right)
		return 0;
	if (left->reference != right->reference)
		return -1;
	return tap_clock_uncertainty_at(left, a_ns) +
	       tap_clock_uncertainty_at(right, b_ns);
}

const char *tap_clock_how_name(enum tap_clock_how how)
{
	static const char *const names[] = {
		[TAP_CLOCK_APART] = "apart",
		[TAP_CLOCK_REFERENCE] = "reference",
		[TAP_CLOCK_MESSAGES] = "messages",
		[TAP_CLOCK_COLLECTIVES] = "collectives",
	};

	return names[how];
}
