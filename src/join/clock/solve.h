/* SPDX-License-Identifier: MIT */
/*
 * The bounds of all hosts' conversions to one reference.
 *
 * At the time of each cause and effect, what must be added to the host's clock is one
 * unknown; an order says that the difference of two of them is at most so much, and so
 * does the rate of a clock.  The most that each unknown can be, with the reference's 0, is
 * a shortest path, and so is the least; both solve all of these inequalities, and so does
 * the mean of the two.
 *
 * Hides how the paths are found.
 */
#ifndef TAP_JOIN_CLOCK_SOLVE_H
#define TAP_JOIN_CLOCK_SOLVE_H

#include "join/clock/order.h"

/* Times are relative to an origin of the host. */
struct tap_solve_host {
	bool is_in; /* bounded both ways by the reference, or it is the reference */
	int64_t origin_ns, last_ns;
	struct tap_slopes slopes; /* of what must be added */
	/* Made by the solution: the bounds of what must be added, by time. */
	struct tap_band_point *points;
	size_t count;
};

struct tap_solve_order {
	unsigned int cause, effect; /* hosts */
	const struct tap_order *order;
};

/*
 * Bounds all hosts that are in; is_strict: so that pairs hold that were replaced by one
 * that says too much.  Returns 0, -EDOM when the orders contradict each other or
 * the slopes, or -ENOMEM.
 */
int tap_solve(struct tap_solve_host *hosts, size_t host_count, unsigned int reference,
	      const struct tap_solve_order *orders, size_t order_count, bool is_strict);

#endif
