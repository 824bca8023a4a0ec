/* SPDX-License-Identifier: MIT */
/*
 * The threads that have made traced calls.
 *
 * It hides how one thread finds the others, and that threads end.
 */
#ifndef TAP_INTERCEPT_THREADS_H
#define TAP_INTERCEPT_THREADS_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/thread.h"

/* Puts the calling thread on the list and sets tap_thread.tid.  Sets the guard itself. */
void tap_thread_know(void) tap_hidden;

struct tap_comm;

/* Whether a thread may be inside a call that will count an operation on c. */
bool tap_threads_are_on(const struct tap_comm *c) tap_hidden;

/*
 * The list of threads, newest first, linked through `earlier`; to be read under the lock.
 * tap_threads_lock() returns false when the lock stays taken.
 */
bool tap_threads_lock(void) tap_hidden;
void tap_threads_unlock(void) tap_hidden;
struct tap_thread *tap_threads_newest(void) tap_hidden;

/* False when a thread that has made traced calls could not be put on the list. */
bool tap_threads_all_known(void) tap_hidden;

#endif
