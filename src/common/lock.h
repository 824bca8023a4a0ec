/* SPDX-License-Identifier: MIT */
/*
 * A lock for rare work inside the traced program.
 *
 * It hides what a mutex cannot do for the tracer: a thread that cannot take the lock soon
 * goes on without it, since a signal handler may have interrupted the very thread that
 * holds it.  All zero is a free lock.
 */
#ifndef TAP_COMMON_LOCK_H
#define TAP_COMMON_LOCK_H

#include <sched.h>
#include <stdbool.h>

struct tap_lock {
	int is_taken;
};

/* Returns whether the lock was taken; if so, tap_lock_drop() must follow. */
static inline bool tap_lock_take(struct tap_lock *lock)
{
	int tries;

	for (tries = 0; tries < 10000; tries++) {
		if (!__atomic_exchange_n(&lock->is_taken, 1, __ATOMIC_ACQUIRE))
			return true;
		sched_yield();
	}
	return false;
}

static inline void tap_lock_drop(struct tap_lock *lock)
{
	__atomic_store_n(&lock->is_taken, 0, __ATOMIC_RELEASE);
}

#endif
