/* SPDX-License-Identifier: MIT */
/*
 * The threads that have made traced calls, so that a recording which starts late can be
 * told what each of them is doing, and which of them does not come back.
 *
 * It hides how threads are found again by another one, and that they end.
 */
#ifndef TAP_INTERCEPT_THREADS_H
#define TAP_INTERCEPT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "tracepoints/events.h"

/* Makes the calling thread known: tap_thread.tid is no longer 0.  Sets the guard itself.
 */
void tap_thread_know(void) tap_hidden;

struct tap_comm;

/* Whether a thread may be inside a call that will count on c. */
bool tap_threads_are_on(const struct tap_comm *c) tap_hidden;

/*
 * Writes tap:state_thread for each thread that is inside a call or a group; their number,
 * and whether all threads are known that could be in a recorded call.
 */
uint32_t tap_threads_write(bool *ret_all) tap_hidden;

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

/* Around a fork: the list is whole in the child, which then has one thread. */
void tap_threads_fork_prepare(void) tap_hidden;
void tap_threads_fork_parent(void) tap_hidden;
void tap_threads_fork_child(void) tap_hidden;

#endif
