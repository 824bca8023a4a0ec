/* SPDX-License-Identifier: MIT */
/*
 * What is known to have happened on one host before something on another: a message was
 * posted before it was received.
 *
 * Hides how many such pairs are kept.  A pair that the others imply is dropped; when
 * there is still no room, several are replaced by one that implies them all, and the sum
 * of what this takes away is kept, too.
 */
#ifndef TAP_JOIN_CLOCK_ORDER_H
#define TAP_JOIN_CLOCK_ORDER_H

#include "common/vec.h"
#include "join/clock/band.h"

#include <stdbool.h>
#include <stdint.h>

/* A cause on one host, and its effect on the other; each on its host's clock. */
struct tap_before {
	int64_t cause_ns, effect_ns;
	double slack_ns; /* the effect came at least so much before this time */
};

/* All pairs whose cause is on one host and whose effect on another. */
struct tap_order {
	TAP_VEC(struct tap_before);
	bool has_message; /* of one, at least */
	double lost_ns; /* by which the pairs that are kept say too much */
};

/* How much faster a clock may run than another: 1000 ppm; NTP turns each by 500 at most. */
#define TAP_CLOCK_DRIFT_MAX 1e-3

/*
 * How much a clock's rate may change: 10 ppm.  A quartz changes by less than 1 with the
 * temperature; NTP, once it has settled, by a few.
 */
#define TAP_CLOCK_WANDER_MAX 1e-5

/*
 * Keeps at most `max` pairs of an order; `back` is the order of the same hosts the other
 * way, or NULL.  Returns 0 or -ENOMEM.
 */
int tap_order_thin(struct tap_order *order, const struct tap_order *back, size_t max);

#endif
