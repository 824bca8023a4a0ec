/* SPDX-License-Identifier: MIT */
/*
 * What every module of the tracer needs before it does anything in a thread of the
 * program: the guard, the epoch of what was resolved, and the switch of what is not ready.
 *
 * It hides how a thread tells our own code from the program's, and includes nothing of
 * the tracer, so that all modules can include it.
 */
#ifndef TAP_INTERCEPT_GUARD_H
#define TAP_INTERCEPT_GUARD_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/thread.h"

/*
 * Where the switches of a wrapper lead until its real function is known and LTTng is
 * there: so the first call takes the slow path.
 */
extern const int tap_not_ready tap_hidden; /* 1 */

/*
 * Counts the times that a library was unloaded which concerns us, or one came, from 1:
 * what was resolved in an earlier epoch may be gone.  Written by entry.c alone, under its
 * lock.
 */
extern uint32_t tap_epoch tap_hidden;

/*
 * Held around our own code and LTTng's: calls made there are passed on, the thread
 * is not cancelled there, and errno is what it was.
 */
struct tap_guard {
	int saved_errno, saved_cancel;
	bool was_inside;
};

static inline struct tap_guard tap_guard_set(void)
{
	struct tap_guard guard = {.saved_errno = errno,
				  .was_inside = tap_thread.in_tracer};

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard.saved_cancel);
	tap_thread.in_tracer = true;
	return guard;
}

static inline void tap_guard_clear(struct tap_guard guard)
{
	tap_thread.in_tracer = guard.was_inside;
	pthread_setcancelstate(guard.saved_cancel, &guard.saved_cancel);
	errno = guard.saved_errno;
}

#endif
