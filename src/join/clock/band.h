/* SPDX-License-Identifier: MIT */
/*
 * What is known about an unknown function of time: at some times it is at most this, at
 * others at least that.
 *
 * Hides how it is found out which straight lines fit such bounds.
 */
#ifndef TAP_JOIN_CLOCK_BAND_H
#define TAP_JOIN_CLOCK_BAND_H

#include <stdbool.h>
#include <stddef.h>

/* At this time, in ns.  A side that is not known is infinite. */
struct tap_band_point {
	double time, lower, upper;
};

struct tap_slopes {
	double min, max;
};

/*
 * Narrows *slopes to those of the straight lines that fit all bounds; returns false, and
 * leaves it, when none of them does.
 */
bool tap_band_fit(const struct tap_band_point *points, size_t count,
		  struct tap_slopes *slopes);

#endif
