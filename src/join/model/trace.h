/* SPDX-License-Identifier: MIT */
/*
 * The traces that are read together, one per host.
 *
 * Hides that a trace may come in parts.
 */
#ifndef TAP_JOIN_MODEL_TRACE_H
#define TAP_JOIN_MODEL_TRACE_H

#include "join/model/span.h"

/* All zero is no trace. */
struct tap_traces {
	struct tap_trace **all;
	size_t count;
	size_t room;
	struct tap_table by_identity;
};

/* As tap_join_add_trace() in join.h. */
struct tap_trace *tap_traces_add(struct tap_traces *traces, const char *host,
				 const unsigned char *identity, int64_t pid);

void tap_traces_free(struct tap_traces *traces);

#endif
