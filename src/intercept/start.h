/* SPDX-License-Identifier: MIT */
/*
 * Loads LTTng into the process at the first traced call: a process that makes no traced
 * call has no thread, descriptor or LTTng session from the tracer.
 *
 * It hides the threads that load libccltap-events.so and the library of HIP's events, how
 * long the program waits for them, what a fork needs, and which events about the process
 * precede its first call.
 */
#ifndef TAP_INTERCEPT_START_H
#define TAP_INTERCEPT_START_H

#include <stdbool.h>

#include "common/compiler.h"
#include "intercept/guard.h"

enum tap_started {
	TAP_STARTED,  /* tap_events_table can be used */
	TAP_STARTING, /* not yet: the start takes longer than the caller waits */
	TAP_FAILED,   /* this process is not recorded; the answer is final, unless it only
		       * counts: then tap_start_if_wished() may change it */
};

/*
 * Starts recording and waits for it, up to 3 s unless LTTNG_UST_REGISTER_TIMEOUT differs;
 * after a wait that long no thread waits again.  The caller has set the guard, which the
 * function clears while it waits.
 */
enum tap_started tap_start(struct tap_guard *guard) tap_hidden;

/* The same for HIP's calls, whose events are in a library of their own. */
enum tap_started tap_start_hip(struct tap_guard *guard) tap_hidden;

/*
 * For a process that only counts: starts recording if the supervisor wishes it.  Does not
 * wait: the calls made meanwhile are counted, and no call of the program takes longer.
 * The caller has set the guard.
 */
void tap_start_if_wished(void) tap_hidden;

/* Whether tap_start() would return TAP_STARTED. */
bool tap_has_started(void) tap_hidden;

/*
 * Set before LTTng opens descriptors in a process where it was not wanted at first, and
 * where nothing but the tracer keeps the program from closing them, once LTTng is loaded.
 */
extern bool tap_has_started_late tap_hidden;

/*
 * Writes the events that describe the process, such as tap:process and tap:library, once
 * in each process, including a child of fork().
 */
void tap_announce(void) tap_hidden;

#endif
