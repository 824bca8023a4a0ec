/* SPDX-License-Identifier: MIT */
/*
 * Spans under the names that NCCL's profiler interface has for what they show, so that
 * whoever knows those finds them: doc/parity.md.
 *
 * Hides from which layer a span of each name comes.
 */
#ifndef TAP_JOIN_MODEL_PROFILER_H
#define TAP_JOIN_MODEL_PROFILER_H

#include "join/model/span.h"

/*
 * "CollApi", "ProxyStep" ...; NULL: the interface has no such event.  The two ends of a
 * GroupApi are spans of their own.  To be asked when the span has ended.
 */
const char *tap_profiler_event(const struct tap_span *span);

#endif
