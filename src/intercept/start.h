/* SPDX-License-Identifier: MIT */
/*
 * Brings LTTng into the process when the first traced call is made, and not
 * before: a process that makes none has no thread, no descriptor and no
 * session of ours.
 *
 * It hides the threads that load libccltap-events.so and HIP's part of it, how long the
 * program waits for them, what a fork needs, and what the trace holds about the process
 * before its first call.
 */
#ifndef TAP_INTERCEPT_START_H
#define TAP_INTERCEPT_START_H

#include "common/compiler.h"
#include "intercept/guard.h"

enum tap_started {
	TAP_STARTED,  /* tap_events_table can be used */
	TAP_STARTING, /* it takes too long to wait for: not yet */
	TAP_FAILED,   /* this process is not recorded; never changes any more */
};

/*
 * Starts recording and waits for it: 3 s at most, and once in a process.  The caller
 * has set the guard (tap_guard_set()), which is lifted meanwhile.
 */
enum tap_started tap_start(struct tap_guard *guard) tap_hidden;

/* The same for HIP's calls, whose events come by themselves. */
enum tap_started tap_start_hip(struct tap_guard *guard) tap_hidden;

/* Writes tap:process and tap:library again if a fork made this a new process. */
void tap_announce(void) tap_hidden;

#endif
