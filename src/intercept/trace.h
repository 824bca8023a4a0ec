/* SPDX-License-Identifier: MIT */
/*
 * The functions that write events: the table of libccltap-events.so, and tap_problem()
 * for the tracer's own failures.
 *
 * It hides that the table belongs to another library, which start.c loads.
 */
#ifndef TAP_INTERCEPT_TRACE_H
#define TAP_INTERCEPT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "tracepoints/events.h"

/*
 * Set once by start.c, before tap_start() first returns TAP_STARTED; NULL until then.  In
 * between, the process has not announced itself: what writes an event of a call or of a
 * thread asks tap_has_started().
 */
extern const struct tap_events *tap_events_table tap_hidden;

/* Whether it is set; what it needs is there with it. */
static inline bool tap_has_events(void)
{
	return __atomic_load_n(&tap_events_table, __ATOMIC_ACQUIRE);
}

/*
 * Reports a failure of the tracer in the log and, once LTTng has started, as tap:problem.
 */
void tap_problem(const char *what, const char *detail, uint64_t count) tap_hidden;

#endif
