/* SPDX-License-Identifier: MIT */
/*
 * The functions that write events: the table of libccltap-events.so, and tap_problem()
 * for the tracer's own failures.
 *
 * It hides that the table belongs to another library, which start.c loads.
 */
#ifndef TAP_INTERCEPT_TRACE_H
#define TAP_INTERCEPT_TRACE_H

#include <stdint.h>

#include "common/compiler.h"
#include "tracepoints/events.h"

/* Set once by start.c, before tap_start() first returns TAP_STARTED; NULL until then. */
extern const struct tap_events *tap_events_table tap_hidden;

/*
 * Reports a failure of the tracer in the log and, once LTTng has started, as tap:problem.
 */
void tap_problem(const char *what, const char *detail, uint64_t count) tap_hidden;

#endif
