/* SPDX-License-Identifier: MIT */
/*
 * What each thread is doing, so that a recording which starts late has it, and which
 * thread does not come back from a call.
 *
 * It hides that a thread is read while it goes on: what is read of it may not fit together.
 */
#ifndef TAP_INTERCEPT_THREAD_STATE_H
#define TAP_INTERCEPT_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "tracepoints/events.h"

/* A recorded call that was open at an earlier look already. */
struct tap_thread_seen {
	struct tap_thread_state state;
	bool is_due;   /* to be told: first after 1 s, then each time it is ten times as
			  long */
	bool is_stuck; /* for stuck_ns now, for the first time */
};

/*
 * Looks at all threads, by the one that keeps house; how many calls there is something to
 * say of.  The rest is left for the next look.  stuck_ns 0: none ever is.
 */
uint32_t tap_threads_look(int64_t stuck_ns, struct tap_thread_seen *ret_seen,
			  uint32_t room) tap_hidden;

#endif
