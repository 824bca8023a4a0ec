/* SPDX-License-Identifier: MIT */
/*
 * The threads that have made traced calls.
 *
 * It hides how threads are found again by another one, and that they end.
 */
#ifndef TAP_INTERCEPT_THREADS_H
#define TAP_INTERCEPT_THREADS_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/thread.h"

/* Makes the calling thread known: tap_thread.tid is no longer 0.  Sets the guard itself.
 */
void tap_thread_know(void) tap_hidden;

struct tap_comm;

/* Whether a thread may be inside a call that will count on c. */
bool tap_threads_are_on(const struct tap_comm *c) tap_hidden;

/*
 * The list, newest first through `earlier`, while the lock is held; false: it cannot be
 * had soon.
 */
bool tap_threads_lock(void) tap_hidden;
void tap_threads_unlock(void) tap_hidden;
struct tap_thread *tap_threads_newest(void) tap_hidden;

/* False: a thread has made traced calls and could not be put on the list. */
bool tap_threads_all_known(void) tap_hidden;

#endif
