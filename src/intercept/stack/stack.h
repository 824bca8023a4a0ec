/* SPDX-License-Identifier: MIT */
/*
 * The call stacks that lead to recorded calls.
 *
 * One event describes each stack (tap:stack), and calls name it by a small number: a
 * program has few different stacks, and an event for each call would cost as much as the
 * call's own.  This module hides how it walks a stack, how it finds a known one, and what
 * makes a walk fast: it caches the unwind rule of each return address, so that a step
 * from one frame to the next reads the cache and the stack alone.
 *
 * A walk does not guess: it ends where no unwind table covers the frame, and records
 * that.
 */
#ifndef TAP_INTERCEPT_STACK_STACK_H
#define TAP_INTERCEPT_STACK_STACK_H

#include <stdint.h>

#include "common/compiler.h"

/*
 * The most frames of a stack; 0: no stacks are recorded.  Set before the first recorded
 * call.
 */
extern unsigned tap_stack_depth tap_hidden;

/*
 * The number of the calling thread's stack, from 1, whose innermost frame is the one that
 * will return to caller; 0 when the stack cannot be recorded.  The first walk of a stack
 * writes tap:stack.  The caller has set the guard, and is a function of the tracer,
 * called by a wrapper.
 */
uint32_t tap_stack_of(const void *caller) tap_hidden;

#endif
