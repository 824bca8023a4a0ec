/* SPDX-License-Identifier: MIT */
/*
 * A barrier for all other threads of the process at once, so that these need none of
 * their own (membarrier(2)).
 */
#ifndef TAP_COMMON_BARRIER_H
#define TAP_COMMON_BARRIER_H

#include <stdbool.h>

#include "common/compiler.h"

/* Whether the kernel has it, from our constructors on. */
bool tap_barrier_is_there(void) tap_hidden;

/*
 * Each other thread's stores of before are seen after it, and its loads of after see what
 * was stored before it.  False: nothing of that.  Also in a signal's handler.
 */
bool tap_barrier(void) tap_hidden;

#endif
