/* SPDX-License-Identifier: MIT */
/*
 * The room that lines of one slope have is a concave function of the slope: its maximum
 * is searched first, then on each side of it the slope at which the room ends.
 */
#include "join/clock/band.h"

#include <math.h>

/* Each step of a search leaves 2/3 or 1/2: less than 1e-12 of what is searched. */
#define STEPS 60

/* How far a line of this slope can be moved up and down; negative: none fits. */
static double room(const struct tap_band_point *points, size_t count, double slope)
{
	double top = INFINITY, bottom = -INFINITY;
	size_t i;

	for (i = 0; i < count; i++) {
		const double rise = slope * points[i].time;

		if (points[i].upper - rise < top)
			top = points[i].upper - rise;
		if (points[i].lower - rise > bottom)
			bottom = points[i].lower - rise;
	}
	return top - bottom;
}

static double find_roomiest(const struct tap_band_point *points, size_t count,
			    struct tap_slopes within)
{
	int i;

	for (i = 0; i < STEPS; i++) {
		const double third = (within.max - within.min) / 3;

		if (room(points, count, within.min + third) <
		    room(points, count, within.max - third))
			within.min += third;
		else
			within.max -= third;
	}
	return (within.min + within.max) / 2;
}

/* The slope nearest to `far` that has room; `near` has. */
static double find_edge(const struct tap_band_point *points, size_t count, double near,
			double far)
{
	int i;

	if (room(points, count, far) >= 0)
		return far;
	for (i = 0; i < STEPS; i++) {
		const double middle = (near + far) / 2;

		if (room(points, count, middle) >= 0)
			near = middle;
		else
			far = middle;
	}
	return near;
}

bool tap_band_fit(const struct tap_band_point *points, size_t count,
		  struct tap_slopes *slopes)
{
	const double best = find_roomiest(points, count, *slopes);

	if (!(room(points, count, best) >= 0))
		return false;
	*slopes = (struct tap_slopes){find_edge(points, count, best, slopes->min),
				      find_edge(points, count, best, slopes->max)};
	return true;
}
