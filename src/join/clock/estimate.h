/* SPDX-License-Identifier: MIT */
/*
 * Estimates how the clocks of hosts convert, of what is known to have happened on one
 * host before something on another.
 *
 * Every such pair holds in the converted times, and the true conversion is within the
 * uncertainty, as long as each clock's rate differs from the reference's by at most 1000
 * ppm and, where a constant rate fits everything, changes by at most 10 ppm.
 *
 * Hides how the bounds of all hosts are composed, and which host is the reference.  Its
 * memory grows with the pairs of hosts that have something between them, not with how
 * much that is.
 */
#ifndef TAP_JOIN_CLOCK_ESTIMATE_H
#define TAP_JOIN_CLOCK_ESTIMATE_H

#include "join/model/clock.h"

struct tap_clock_estimate;

/* Keeps at most this many pairs in all.  Returns NULL when memory is short. */
struct tap_clock_estimate *tap_clock_estimate_create(size_t pairs_max);
void tap_clock_estimate_destroy(struct tap_clock_estimate *estimate);

/* Notes that the host has an event at this time of its clock.  Returns 0 or -ENOMEM. */
int tap_clock_estimate_see(struct tap_clock_estimate *estimate, unsigned int host,
			   int64_t host_ns);

/*
 * Notes that the cause, on one host, came before the effect, on another; each at a time
 * of its host's clock.  Hosts have numbers from 0.  Returns 0 or -ENOMEM.
 */
int tap_clock_estimate_add(struct tap_clock_estimate *estimate, unsigned int cause_host,
			   int64_t cause_ns, unsigned int effect_host, int64_t effect_ns,
			   bool is_message);

/* Fills in the clocks, of which there is one for each host.  Returns 0 or -ENOMEM. */
int tap_clock_estimate_solve(struct tap_clock_estimate *estimate,
			     struct tap_clocks *clocks);

#endif
