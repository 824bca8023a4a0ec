/* SPDX-License-Identifier: MIT */
/*
 * The call stacks that lead to recorded calls.
 *
 * The trace is told once what a stack is (tap:stack), and calls name it by a small
 * number: a program has few of them, and an event for each call would cost as much as
 * the call's own.  This hides how a stack is walked, how one is found again, and what
 * makes a walk fast: what the unwind tables say of a return address is kept, so that a
 * step from one frame to the next is a look at a table of ours and at the stack.
 *
 * Nothing is guessed: a walk ends where no unwind table says how to go on, and says so.
 */
#ifndef TAP_INTERCEPT_STACK_STACK_H
#define TAP_INTERCEPT_STACK_STACK_H

#include <stdint.h>

#include "common/compiler.h"

/* Frames of a stack; 0: no stacks are recorded.  Set before the first recorded call. */
extern unsigned tap_stack_depth tap_hidden;

/*
 * The number of the calling thread's stack, from 1, whose innermost frame is the one
 * that will return to caller; 0 when it cannot be kept.  A stack that is met for the
 * first time is announced in the trace.  The caller has set the guard, and was called
 * by a function of ours that the program called.
 */
uint32_t tap_stack_of(const void *caller) tap_hidden;

#endif
