/* SPDX-License-Identifier: MIT */
/*
 * What every module of the tracer needs before it acts in a thread of the program: the
 * guard, the epoch of resolved functions, and the switch of entries that are not ready.
 *
 * It hides how a thread distinguishes the tracer's code from the program's.  It includes
 * no other header of the tracer, so that all modules can include it.
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
 * The switches of a wrapper point here until its real function is known and LTTng has
 * started, so that the first call takes the slow path.
 */
extern const int tap_not_ready tap_hidden; /* 1 */

/*
 * Counts, from 1, how often a watched library was unloaded or a further definition of a
 * wrapped name was loaded.  A function resolved in an earlier epoch may be gone.  Only
 * entry.c writes it, under its lock.
 */
extern uint32_t tap_epoch tap_hidden;

/*
 * Set while the thread runs the tracer's code or LTTng's: wrapped calls made there are
 * not recorded, the thread cannot be cancelled, and clearing the guard restores errno.
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
