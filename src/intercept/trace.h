/* SPDX-License-Identifier: MIT */
/*
 * Where events are written: the table of libccltap-events.so, and the event for what did
 * not work.
 *
 * It hides that the table is another library's, which start.c loads.
 */
#ifndef TAP_INTERCEPT_TRACE_H
#define TAP_INTERCEPT_TRACE_H

#include <stdint.h>

#include "common/compiler.h"
#include "tracepoints/events.h"

/* Set once by start.c, before tap_start() first returns TAP_STARTED; NULL until then. */
extern const struct tap_events *tap_events_table tap_hidden;

/* Says in the trace, once per cause, that something of ours did not work. */
void tap_problem(const char *what, const char *detail, uint64_t count) tap_hidden;

#endif
