/* SPDX-License-Identifier: MIT */
/*
 * What a layer of the reader is: a subject of the trace that takes some events, watches
 * the spans that others make, and makes spans and links of its own.  The table of layers
 * in join.c is in the order in which they are called.
 *
 * Hides one layer from all others: what they share is in the context.
 */
#ifndef TAP_JOIN_MODEL_LAYER_H
#define TAP_JOIN_MODEL_LAYER_H

#include "join/model/context.h"
#include "join/model/event.h"

/* What the state of every layer begins with.  The rest of a state is zero at first. */
struct tap_layer_state {
	struct tap_context *context;
};

/* A set of kinds of events. */
#define TAP_TAKES(kind) (UINT64_C(1) << (kind))
_Static_assert(TAP_EVENT_KINDS <= 64, "a set of kinds has 64 bits");

/* Any function may be NULL; each that returns something returns 0 or -errno. */
struct tap_layer {
	const char *name;
	size_t size;	 /* of its state */
	uint64_t events; /* that it takes, as TAP_TAKES() of each */

	int (*take)(void *state, struct tap_process *process, struct tap_event *event);
	/* The event that began it; the consumer knows the span when all layers do. */
	int (*span_begun)(void *state, struct tap_span *span,
			  const struct tap_event *event);
	int (*span_ended)(void *state, struct tap_span *span);
	/* Time goes on: before the event of that time is taken. */
	int (*advance)(void *state, int64_t now_ns);
	/* No event comes any more. */
	int (*finish)(void *state);
	void (*free)(void *state);
};

#endif
