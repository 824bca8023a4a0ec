/* SPDX-License-Identifier: MIT */
/*
 * Threads of ours inside the traced program.
 *
 * It hides how they are made (detached, with all signals blocked) and that a fork must
 * not meet one that begins or ends.  A thread allocates and frees then; where the
 * program's allocator does not see to its locks around a fork, and that of the address
 * sanitizer of GCC 12 and clang 14 does not, the child inherits a lock that nobody gives
 * back.
 */
#ifndef TAP_COMMON_HELPER_H
#define TAP_COMMON_HELPER_H

#include <stddef.h>

#include "common/compiler.h"

/*
 * Has a new thread run this, as code of ours (tap_thread.in_tracer).  0, or what
 * pthread_create() says; EAGAIN too when there are more than a few already.
 */
int tap_helper_make(void *(*run)(void *), void *data, size_t stack_bytes) tap_hidden;

/* Said by a helper that neither allocates nor ends from here on, until it returns. */
void tap_helper_lasts(void) tap_hidden;

/* Before a fork, without a lock: waits for those that do not last, 0.1 s at most. */
void tap_helpers_settle(void) tap_hidden;

/* In the child, which has none. */
void tap_helpers_fork_child(void) tap_hidden;

#endif
