/* SPDX-License-Identifier: MIT */
/*
 * A layer of the reader: a subject of the trace that takes some events, watches the spans
 * of other layers, and makes spans and links of its own.  The table of layers in join.c
 * has the order in which they are called.
 *
 * Hides one layer from all others: what they share is in the context.
 */
#ifndef TAP_JOIN_MODEL_LAYER_H
#define TAP_JOIN_MODEL_LAYER_H

#include "join/model/context.h"
#include "join/model/event.h"

/* The beginning of every layer's state.  The rest of a state is zero at first. */
struct tap_layer_state {
	struct tap_context *context;
};

/* A set of kinds of events. */
#define TAP_TAKES(kind) (UINT64_C(1) << (kind))
#define TAP_TAKES_ALL (~TAP_TAKES(TAP_EVENT_OTHER))
_Static_assert(TAP_EVENT_KINDS <= 64, "a set of kinds has 64 bits");

/* Any function may be NULL; each that returns something returns 0 or -errno. */
struct tap_layer {
	const char *name;
	size_t size;	 /* bytes of its state */
	uint64_t events; /* the kinds it takes, TAP_TAKES() of each */
	/*
	 * Nothing that bounds clocks comes of it: a reading for the clocks alone calls none of
	 * its functions but free(), and leaves its state all zero.
	 */
	bool is_of_views;

	/* All layers have their states: a layer may get that of a layer it depends on. */
	void (*begin)(void *state);
	int (*take)(void *state, struct tap_process *process, struct tap_event *event);
	/*
	 * event is the one that began the span.  The layers before the consumer complete
	 * the span.
	 */
	int (*span_begun)(void *state, struct tap_span *span,
			  const struct tap_event *event);
	int (*span_ended)(void *state, struct tap_span *span);
	/* Another process has this process's number from now on. */
	int (*process_replaced)(void *state, const struct tap_process *process,
				int64_t time_ns);
	/* Time has advanced to that of the next event, which no layer has taken yet. */
	int (*advance)(void *state, int64_t now_ns);
	/*
	 * CUPTI reports what ran on a GPU long after its end.  What this layer has yet to
	 * emit begins at this time or later; INT64_MAX: it awaits nothing.
	 */
	int64_t (*horizon)(const void *state);
	/* No event comes any more: the layer emits what it holds. */
	int (*finish)(void *state);
	/* All layers have finished. */
	int (*close)(void *state);
	void (*free)(void *state);
};

#endif
