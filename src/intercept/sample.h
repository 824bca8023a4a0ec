/* SPDX-License-Identifier: MIT */
/*
 * Samples: what the kernel counts of a thread that does not return from a call, and of the
 * threads of a CCL's that move messages meanwhile, and what the layers sample (layer.h).
 *
 * Hides which sources the user wants (CCLTAP_SAMPLE), and what a sample is compared with.
 */
#ifndef TAP_INTERCEPT_SAMPLE_H
#define TAP_INTERCEPT_SAMPLE_H

#include "intercept/thread_state.h"

/*
 * Called by the watchdog alone: remembers the counters of a thread whose call it sees for
 * the first time, and writes tap:sample when the call is to be reported.
 */
void tap_sample_thread(const struct tap_thread_seen *seen) tap_hidden;

/*
 * Called by the watchdog alone: the same of the threads of a CCL's that rest and go on by
 * themselves, when they do not sleep, or a call is to be reported.  Who polls for an
 * operation is in no call.
 */
void tap_sample_proxies(bool is_due) tap_hidden;

/* Called by the watchdog alone: lets the layers sample. */
void tap_sample_layers(void) tap_hidden;

#endif
