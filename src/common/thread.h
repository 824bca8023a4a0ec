/* SPDX-License-Identifier: MIT */
/*
 * What we keep for each thread of the traced program, in one small structure.
 *
 * It hides the TLS model: initial-exec, because the general one may call
 * malloc() at a thread's first use, and a malloc() of the program's may call
 * what we wrap.  All fields are zero in a new thread and belong to it alone.
 */
#ifndef TAP_COMMON_THREAD_H
#define TAP_COMMON_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

struct tap_thread {
	/*
	 * Set while the thread runs our own code or LTTng's, so that a call
	 * made there is passed on unrecorded.  Not set during a real call:
	 * what NCCL itself calls is the very thing to record.
	 */
	bool in_tracer;
	/* The recorded call that the thread is in; 0 outside of any. */
	uint64_t call_id;
};

extern __thread struct tap_thread tap_thread tap_hidden
	__attribute__((tls_model("initial-exec")));

#endif
