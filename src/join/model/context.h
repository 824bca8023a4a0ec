/* SPDX-License-Identifier: MIT */
/*
 * What all layers of one reading share: who is in the trace, what is missing from it,
 * what was counted, and the consumer.  A layer gets it when the reading begins; a view
 * reads it.
 *
 * Hides who else fills it: a layer needs no other layer's header to count a loss, to use
 * a span, or to give something to the consumer.
 */
#ifndef TAP_JOIN_MODEL_CONTEXT_H
#define TAP_JOIN_MODEL_CONTEXT_H

#include "join/model/comm.h"
#include "join/model/name.h"
#include "join/model/pair.h"
#include "join/model/process.h"
#include "join/model/trace.h"

/* What may be kept at once; each at least 1. */
struct tap_bounds {
	size_t open_calls;	/* and as many work requests */
	size_t held_operations; /* that wait for other ranks, and as many messages */
};

/* How far the times of the GPU can be trusted. */
struct tap_gpu_times {
	uint64_t clock_errors; /* what began before its launch */
	int64_t clock_error_max_ns;
	bool has_residual;
	uint64_t residual_max_ns; /* as the tracer tells, of all its pairs of times */
};

struct tap_layer;

struct tap_context {
	const struct tap_consumer *consumer;
	void *data; /* of the consumer */
	struct tap_bounds bounds;

	struct tap_names names;
	struct tap_traces traces;
	struct tap_processes processes;
	struct tap_comms comms;
	struct tap_pairs pairs; /* whose spans all layers use */

	struct tap_loss loss;
	struct tap_matches matches[TAP_MATCH_KINDS];
	struct tap_gpu_times gpu_times;

	bool has_first;
	int64_t first_ns;     /* of the first event, 0 before it came */
	int64_t last_ns;      /* of the latest one */
	uint64_t event_count; /* that came */
	char *jobs;	      /* that are looked at, one in each line; NULL: all */
	char *snapshots;      /* that are read, one in each line; NULL: none */

	/* Of whoever has the table of layers: tap_context_horizon(), _state(). */
	int64_t (*horizon)(const void *layers);
	void *(*state_of)(const void *layers, const struct tap_layer *layer);
	const void *layers;
};

/*
 * The one name like this of the layer that other has; for a name that a program may have
 * made up: other once there are so many that they would fill the memory.  NULL when
 * memory is short.
 */
const struct tap_name *tap_context_name_reported(struct tap_context *context,
						 const struct tap_name *other,
						 const char *name, size_t name_length);

/* Adds to the losses of a stream and to the sums.  Returns 0 or -ENOMEM. */
int tap_loss_discarded(struct tap_loss *loss, const char *stream, uint64_t events,
		       uint64_t packets);

/*
 * Nothing that some layer gives later begins before this time; INT64_MAX: no layer holds
 * anything back.
 */
static inline int64_t tap_context_horizon(const struct tap_context *context)
{
	return context->horizon(context->layers);
}

/* The state of a layer, for another that stands on it; when all layers begin, or later.
 */
static inline void *tap_context_state(const struct tap_context *context,
				      const struct tap_layer *layer)
{
	return context->state_of(context->layers, layer);
}

/* What is no layer's. */
void tap_context_free(struct tap_context *context);

static inline void tap_count_unmatched(struct tap_context *context,
				       enum tap_match_kind kind, enum tap_why why)
{
	context->matches[kind].unmatched++;
	context->matches[kind].why[why]++;
}

/* Each gives something to the consumer, if it wants that; returns 0 or what that does. */

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

static inline int tap_emit_problem(const struct tap_context *context,
				   const struct tap_problem *problem)
{
	return context->consumer->problem
		       ? context->consumer->problem(context->data, problem)
		       : 0;
}

#endif
