/* SPDX-License-Identifier: MIT */
/*
 * The clocks of the hosts whose traces are read together.  Two hosts never show the same
 * time, so a time of one is converted to the clock of the other before anything compares
 * them, and the conversion is known to within an uncertainty.
 *
 * Hides how the conversion was found: everything after decoding sees times of one clock.
 */
#ifndef TAP_JOIN_MODEL_CLOCK_H
#define TAP_JOIN_MODEL_CLOCK_H

#include <stdint.h>

struct tap_context;
struct tap_process;

/*
 * The most by which the difference of a time of process a and a time of process b may be
 * wrong: 0 on one host, -1 where nothing connects the two hosts and their times may not be
 * compared.
 */
int64_t tap_clock_uncertainty_ns(const struct tap_context *context,
				 const struct tap_process *a,
				 const struct tap_process *b);

#endif
