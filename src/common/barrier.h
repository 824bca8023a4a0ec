/* SPDX-License-Identifier: MIT */
/*
 * A barrier for all other threads of the process at once, so that these need none of
 * their own (membarrier(2)).
 *
 * It hides the system call and whether the kernel has it.
 */
#ifndef TAP_COMMON_BARRIER_H
#define TAP_COMMON_BARRIER_H

#include <stdbool.h>

#include "common/compiler.h"

/* Whether the kernel has it; valid after the library's constructors. */
bool tap_barrier_is_there(void) tap_hidden;

/*
 * Other threads' stores from before the barrier are visible after it, and their loads
 * after the barrier see what the caller stored before it.  False: the kernel made no
 * barrier.  May be called in a signal handler.
 */
bool tap_barrier(void) tap_hidden;

#endif
