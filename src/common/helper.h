/* SPDX-License-Identifier: MIT */
/*
 * Threads of the tracer that stay in the traced program for a while.
 *
 * It hides how they are made (detached, with all signals blocked), and how a fork avoids
 * a thread at work.  A thread allocates as it begins and frees as it ends.  Some
 * allocators do not take their locks around a fork, for example those of the address
 * sanitizer of GCC 12 and clang 14; then the child inherits a lock that nobody releases.
 */
#ifndef TAP_COMMON_HELPER_H
#define TAP_COMMON_HELPER_H

#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/*
 * Runs `run` in a new thread, as the tracer's code (tap_thread.in_tracer).  Returns 0 or
 * an error of pthread_create(); EAGAIN also when there are more than a few helpers
 * already.
 */
int tap_helper_make(void *(*run)(void *), void *data, size_t stack_bytes) tap_hidden;

/* Sleeps; for a helper thread alone. */
void tap_helper_rest(int64_t ns) tap_hidden;

/*
 * Called before a fork, without a lock: waits 0.5 s at most until all helpers rest or are
 * gone.  It does not wait for a helper that is made or wakes after that.
 */
void tap_helpers_settle(void) tap_hidden;

/* Called in the child, which has no helpers. */
void tap_helpers_fork_child(void) tap_hidden;

#endif
