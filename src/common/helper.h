/* SPDX-License-Identifier: MIT */
/*
 * Threads of ours that stay for a while in the traced program.
 *
 * It hides how they are made (detached, with all signals blocked) and that a fork should
 * not meet one at work.  A thread allocates as it begins and frees as it ends; where the
 * program's allocator does not see to its locks around a fork, and that of the address
 * sanitizer of GCC 12 and clang 14 does not, the child inherits a lock that nobody gives
 * back.
 */
#ifndef TAP_COMMON_HELPER_H
#define TAP_COMMON_HELPER_H

#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/*
 * Has a new thread run this, as code of ours (tap_thread.in_tracer).  0, or what
 * pthread_create() says; EAGAIN too when there are more than a few already.
 */
int tap_helper_make(void *(*run)(void *), void *data, size_t stack_bytes) tap_hidden;

/* Sleeps; of such a thread alone. */
void tap_helper_rest(int64_t ns) tap_hidden;

/*
 * Before a fork, without a lock: waits until all of them rest or are gone, 0.5 s at most.
 * One that is made or wakes after that is not waited for.
 */
void tap_helpers_settle(void) tap_hidden;

/* In the child, which has none. */
void tap_helpers_fork_child(void) tap_hidden;

#endif
