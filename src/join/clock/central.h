/* SPDX-License-Identifier: MIT */
/*
 * Which host is the best reference.  How far a host is known grows with the messages between
 * it and the reference, so where all others talk to one host, that is known to half of what a
 * reference at the edge would be.
 *
 * Hides how the distances of hosts are found.
 */
#ifndef TAP_JOIN_CLOCK_CENTRAL_H
#define TAP_JOIN_CLOCK_CENTRAL_H

#include "join/clock/solve.h"

/*
 * Sets *ret_central to the host to which all that are in are nearest; to the reference, of
 * which the hosts have bounds, where no other is clearly nearer.  Returns 0 or -ENOMEM.
 */
int tap_central_find(const struct tap_solve_host *hosts, size_t host_count,
		     unsigned int reference, const struct tap_solve_order *orders,
		     size_t order_count, unsigned int *ret_central);

#endif
