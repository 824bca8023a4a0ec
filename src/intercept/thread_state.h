/* SPDX-License-Identifier: MIT */
/*
 * What each thread is doing, for state dumps, and which threads have not returned from a
 * call, for the watchdog.
 *
 * It hides that other threads run while their state is read, so that the values read of
 * one thread may be from different moments.
 */
#ifndef TAP_INTERCEPT_THREAD_STATE_H
#define TAP_INTERCEPT_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "tracepoints/events.h"

/* A recorded call that is open. */
struct tap_thread_seen {
	struct tap_thread_state state;
	bool is_new;   /* first look at which the call is open */
	bool is_due;   /* to be reported: after 1 s, then after each tenfold time */
	bool is_stuck; /* first look at which the call has taken stuck_ns */
};

/*
 * Looks at all threads; called by the watchdog alone.  Returns the number of calls that
 * are new, to report or stuck, at most `room`; the next look returns the rest.  stuck_ns 0: no call is ever
 * stuck.
 */
uint32_t tap_threads_look(int64_t stuck_ns, struct tap_thread_seen *ret_seen,
			  uint32_t room) tap_hidden;

/* A thread of a CCL's that has rested: it waits for work by itself, as a proxy's does. */
struct tap_proxy_seen {
	int32_t tid;
	bool is_asleep;
	uint64_t yields;
};

/* Looks at all of them, at most `room`; called by the watchdog alone. */
uint32_t tap_threads_look_proxies(struct tap_proxy_seen *ret_seen,
				  uint32_t room) tap_hidden;

#endif
