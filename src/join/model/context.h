/* SPDX-License-Identifier: MIT */
/*
 * What all layers of one reading share: the processes and communicators in the trace, the
 * losses, the counts, and the consumer.  A layer gets the context when the reading
 * begins; a view reads it.
 *
 * Hides the layers from each other: a layer needs no other layer's header to count a
 * loss, to use a span, or to give something to the consumer.
 */
#ifndef TAP_JOIN_MODEL_CONTEXT_H
#define TAP_JOIN_MODEL_CONTEXT_H

#include "join/model/clock.h"
#include "join/model/comm.h"
#include "join/model/name.h"
#include "join/model/pair.h"
#include "join/model/process.h"
#include "join/model/trace.h"

/* Bounds of what the reader keeps at once; each at least 1. */
struct tap_bounds {
	size_t open_calls;	/* as many work requests, too */
	size_t held_operations; /* wait for other ranks; as many messages, too */
};

/* The measured errors of the GPU's times. */
struct tap_gpu_times {
	uint64_t clock_errors; /* work that seems to begin before its launch */
	int64_t clock_error_max_ns;
	bool has_residual;
	uint64_t residual_max_ns; /* as the tracer reports, of all its pairs of times */
};

struct tap_layer;

struct tap_context {
	const struct tap_consumer *consumer;
	void *data; /* of the consumer */
	struct tap_bounds bounds;

	struct tap_names names;
	struct tap_clocks clocks;
	struct tap_traces traces;
	struct tap_processes processes;
	struct tap_comms comms;
	struct tap_pairs pairs; /* all layers make their spans here */

	struct tap_loss loss;
	struct tap_matches matches[TAP_MATCH_KINDS];
	struct tap_gpu_times gpu_times;

	bool has_first;
	int64_t first_ns;     /* of the first event, 0 before any came */
	int64_t last_ns;      /* of the latest one */
	uint64_t event_count; /* so far */
	char *jobs;	      /* that are read, one in each line; NULL: all */
	char *snapshots;      /* that are read, one in each line; NULL: none */

	/*
	 * Set by join.c, which has the table of layers: tap_context_horizon(), _state().
	 */
	int64_t (*horizon)(const void *layers);
	void *(*state_of)(const void *layers, const struct tap_layer *layer);
	const void *layers;
};

/*
 * The name in the layer that `other` has.  For a name that a program may have invented:
 * returns `other` once there are so many names that they could fill the memory.  NULL
 * when memory is short.
 */
const struct tap_name *tap_context_name_reported(struct tap_context *context,
						 const struct tap_name *other,
						 const char *name, size_t name_length);

/*
 * Adds discarded events and packets to the losses of a stream and to the sums.  Returns 0
 * or -ENOMEM.
 */
int tap_loss_discarded(struct tap_loss *loss, const char *stream, uint64_t events,
		       uint64_t packets);

/*
 * Forgets what is missing from the streams, so many of which are damaged: they are read
 * once more.
 */
void tap_loss_forget_streams(struct tap_loss *loss, uint64_t damaged_streams);

/*
 * No layer emits anything that begins before this time any more; INT64_MAX: no layer
 * holds anything back.
 */
static inline int64_t tap_context_horizon(const struct tap_context *context)
{
	return context->horizon(context->layers);
}

/* The state of a layer, for a layer that depends on it; valid once layers begin. */
static inline void *tap_context_state(const struct tap_context *context,
				      const struct tap_layer *layer)
{
	return context->state_of(context->layers, layer);
}

/* Frees the context; the layers free their own states. */
void tap_context_free(struct tap_context *context);

/* Counts a match, with the reason why it is inferred; or that there is none, and why. */
void tap_count_match(struct tap_context *context, enum tap_match_kind kind,
		     enum tap_known known, enum tap_why why);
void tap_count_unmatched(struct tap_context *context, enum tap_match_kind kind,
			 enum tap_why why);

/*
 * Each gives something to the consumer if it has a function for that; returns 0 or what
 * the function returns.
 */

static inline int tap_emit_begun(const struct tap_context *context, struct tap_span *span)
{
	return context->consumer->span_begun
		       ? context->consumer->span_begun(context->data, span)
		       : 0;
}

static inline int tap_emit_ended(const struct tap_context *context, struct tap_span *span)
{
	return context->consumer->span_ended
		       ? context->consumer->span_ended(context->data, span)
		       : 0;
}

static inline int tap_emit_link(const struct tap_context *context,
				const struct tap_link *link)
{
	return context->consumer->link ? context->consumer->link(context->data, link) : 0;
}

static inline int tap_emit_defect(const struct tap_context *context,
				  const struct tap_link *link)
{
	return context->consumer->defect ? context->consumer->defect(context->data, link)
					 : 0;
}

static inline int tap_emit_half(const struct tap_context *context,
				const struct tap_half *half)
{
	return context->consumer->half ? context->consumer->half(context->data, half) : 0;
}

static inline int tap_emit_connection(const struct tap_context *context,
				      const struct tap_nccl_connection *connection)
{
	return context->consumer->connection
		       ? context->consumer->connection(context->data, connection)
		       : 0;
}

static inline int tap_emit_problem(const struct tap_context *context,
				   const struct tap_problem *problem)
{
	return context->consumer->problem
		       ? context->consumer->problem(context->data, problem)
		       : 0;
}

#endif
