/* SPDX-License-Identifier: MIT */
/*
 * The threads that have made traced calls, so that a recording which starts late can be
 * told what each of them is doing.
 *
 * It hides how threads are found again by another one, and that they end.
 */
#ifndef TAP_INTERCEPT_THREADS_H
#define TAP_INTERCEPT_THREADS_H

#include <stdint.h>

#include "common/compiler.h"

/* Makes the calling thread known: tap_thread.tid is no longer 0.  Sets the guard itself.
 */
void tap_thread_know(void) tap_hidden;

/* Writes tap:state_thread for each thread that is inside a call or a group; their number.
 */
uint32_t tap_threads_write(void) tap_hidden;

/* Around a fork: the list is whole in the child, which then has one thread. */
void tap_threads_fork_prepare(void) tap_hidden;
void tap_threads_fork_parent(void) tap_hidden;
void tap_threads_fork_child(void) tap_hidden;

#endif
