/* SPDX-License-Identifier: MIT */
/*
 * The threads that a CCL library (NCCL, RCCL) creates: tap_thread.is_ccl is set in them
 * and tap_thread.ccl says who created each, in which call, with which argument.
 *
 * It hides how they are recognised when they are created, with pthread_create() or
 * std::thread, and that the tracer's code runs in such a thread before the library's.
 * Every other thread starts as if the tracer were not there.
 */
#ifndef TAP_INTERCEPT_CCL_THREADS_H
#define TAP_INTERCEPT_CCL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/thread.h"

/*
 * Whether a CCL created the calling thread: what a wrapper of a function of libc tests
 * before anything else.
 */
static inline bool tap_thread_is_ccls(void)
{
	return unlikely(tap_thread.is_ccl);
}

/*
 * Notes that the calling thread, one of a CCL's, does this (TAP_THREAD_ASYNC ...). Called
 * before a call that may never return.  Keeps errno.
 */
void tap_thread_does(uint8_t what) tap_hidden;

#endif
