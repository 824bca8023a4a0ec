/* SPDX-License-Identifier: MIT */
/*
 * A consumer of a first reading, which learns how the hosts' clocks run.
 *
 * Hides what says that something on one host came before something on another: a message
 * was posted before it was received; a CTS before the data that it asked for; each rank
 * came to a communicator, or to a collective that needs all of them, before any was
 * through.
 */
#ifndef TAP_JOIN_CLOCK_OBSERVER_H
#define TAP_JOIN_CLOCK_OBSERVER_H

#include "join/model/context.h"

struct tap_clock_observer;

/* The consumer's data is the observer. */
extern const struct tap_consumer tap_clock_consumer;

/* Returns NULL when memory is short. */
struct tap_clock_observer *tap_clock_observer_create(void);
void tap_clock_observer_destroy(struct tap_clock_observer *observer);

/*
 * Sets the context of the reading, whose clocks may convert anyhow: the observer goes back
 * to the hosts' own times.
 */
void tap_clock_observer_begin(struct tap_clock_observer *observer,
			      const struct tap_context *context);

/* Notes that the host has an event at this time of its own clock.  0 or -ENOMEM. */
int tap_clock_observer_see(struct tap_clock_observer *observer,
			   const struct tap_clock *clock, int64_t host_ns);

/*
 * Call after the reading: fills in the clocks of another reading of the same traces.
 * Returns 0 or -ENOMEM.
 */
int tap_clock_observer_solve(struct tap_clock_observer *observer,
			     struct tap_clocks *clocks);

#endif
