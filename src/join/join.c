/* SPDX-License-Identifier: MIT */
/*
 * The table of layers, and loops over it: each event goes to the layers that take its
 * kind, each span to the layers that watch spans.
 */
#include "join/join.h"

#include "join/gpu/cuda.h"
#include "join/gpu/gpu.h"
#include "join/model/layer.h"
#include "join/model/layers.h"
#include "join/model/open.h"
#include "join/nccl/attribution.h"
#include "join/nccl/connection.h"
#include "join/nccl/net_asker.h"
#include "join/nccl/net_channel.h"
#include "join/nccl/net_caller.h"
#include "join/nccl/net_client.h"
#include "join/nccl/net_service.h"
#include "join/nccl/net_occasion.h"
#include "join/nccl/net_region.h"
#include "join/nccl/net_socket.h"
#include "join/nccl/netib.h"
#include "join/nccl/node.h"
#include "join/nccl/proxy_ctrl.h"
#include "join/nccl/proxy_op.h"
#include "join/nccl/sizes.h"
#include "join/nccl/thread.h"
#include "join/ranks/operations.h"
#include "join/rdma/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int give_begun(void *state, struct tap_span *span, const struct tap_event *event)
{
	(void) event;
	return tap_emit_begun(((struct tap_layer_state *) state)->context, span);
}

static int give_ended(void *state, struct tap_span *span)
{
	return tap_emit_ended(((struct tap_layer_state *) state)->context, span);
}

static int close_consumer(void *state)
{
	const struct tap_context *context = ((struct tap_layer_state *) state)->context;

	return context->consumer->finish
		       ? context->consumer->finish(context->data, &context->loss)
		       : 0;
}

/* The consumer's place among the layers. */
static const struct tap_layer consumer_layer = {
	.name = "consumer",
	.size = sizeof(struct tap_layer_state),
	.span_begun = give_begun,
	.span_ended = give_ended,
	.close = close_consumer,
};

/*
 * The layers in the order in which they are called.  Those before the consumer complete a
 * span, those after it link spans that the consumer knows.
 */
static const struct tap_layer *const layers[] = {
	&tap_processes_layer,	  /* processes and libraries */
	&tap_connections_layer,	  /* connections of NCCL's, at the end */
	&tap_threads_layer,	  /* NCCL's own threads */
	&tap_opens_layer,	  /* where each process stands */
	&tap_comms_layer,	  /* communicators */
	&tap_pairs_layer,	  /* entries find their exits */
	&tap_cuda_layer,	  /* launches and graphs */
	&consumer_layer,	  /* the consumer */
	&tap_operations_layer,	  /* calls of all ranks that are one operation */
	&tap_verbs_layer,	  /* work requests and messages */
	&tap_net_channels_layer,  /* what connections of NCCL's are for */
	&tap_net_callers_layer,	  /* who connects to service threads */
	&tap_net_askers_layer,	  /* whose sockets these are */
	&tap_net_services_layer,  /* NCCL's service threads */
	&tap_net_clients_layer,	  /* whom they were made for */
	&tap_net_occasions_layer, /* for which calls connections are made */
	&tap_net_regions_layer,	  /* the buffers of NCCL's messages */
	&tap_netib_layer,	  /* messages of NCCL's network code, made of those */
	&tap_net_sockets_layer,	  /* the same over sockets */
	&tap_gpu_layer,		  /* work on a GPU */
	&tap_sizes_layer,	  /* of NCCL's buffers */
	&tap_nodes_layer,	  /* processes that NCCL takes to be on one */
	&tap_attribution_layer,	  /* the kernels that messages served */
	&tap_proxy_ops_layer,	  /* what each operation moved over a connection */
	&tap_proxy_ctrls_layer,	  /* when progress threads sleep */
};

#define LAYER_COUNT (sizeof(layers) / sizeof(layers[0]))

/*
 * The layers that have a certain function, in order and with their states, sorted out
 * once: an event costs only the layers that it concerns.  A list ends with a NULL.
 */
struct taker {
	int (*call)(void *state, struct tap_process *process, struct tap_event *event);
	void *state;
};

struct beginner {
	int (*call)(void *state, struct tap_span *span, const struct tap_event *event);
	void *state;
};

struct ender {
	int (*call)(void *state, struct tap_span *span);
	void *state;
};

struct clock {
	int (*call)(void *state, int64_t now_ns);
	void *state;
};

struct horizon {
	int64_t (*call)(const void *state);
	const void *state;
};

struct tap_join {
	struct tap_context context;
	struct tap_layer_state *states[LAYER_COUNT];
	struct taker takers[TAP_EVENT_KINDS][LAYER_COUNT + 1];
	struct beginner beginners[LAYER_COUNT + 1];
	struct ender enders[LAYER_COUNT + 1];
	struct clock clocks[LAYER_COUNT + 1];
	struct horizon horizons[LAYER_COUNT + 1];
};

static bool is_idle(const struct tap_join *join, size_t layer)
{
	return layers[layer]->is_of_views && join->context.consumer->is_of_clocks;
}

static int begin_span(void *data, struct tap_span *span, const struct tap_event *event)
{
	const struct tap_join *join = data;
	const struct beginner *beginner;
	int ret = 0;

	for (beginner = join->beginners; !ret && beginner->call; beginner++)
		ret = beginner->call(beginner->state, span, event);
	return ret;
}

static int end_span(void *data, struct tap_span *span)
{
	const struct tap_join *join = data;
	const struct ender *ender;
	int ret = 0;

	for (ender = join->enders; !ret && ender->call; ender++)
		ret = ender->call(ender->state, span);
	return ret;
}

static void *state_of(const void *data, const struct tap_layer *layer)
{
	const struct tap_join *join = data;
	size_t i;

	for (i = 0; i < LAYER_COUNT; i++)
		if (layers[i] == layer)
			return join->states[i];
	return NULL;
}

static int64_t horizon_of(const void *data)
{
	const struct tap_join *join = data;
	const struct horizon *horizon;
	int64_t horizon_ns = INT64_MAX, layer_ns;

	for (horizon = join->horizons; horizon->call; horizon++) {
		layer_ns = horizon->call(horizon->state);
		if (layer_ns < horizon_ns)
			horizon_ns = layer_ns;
	}
	return horizon_ns;
}

/* Returns 0 or -ENOMEM. */
static int make_states(struct tap_join *join)
{
	size_t i;

	for (i = 0; i < LAYER_COUNT; i++) {
		join->states[i] = calloc(1, layers[i]->size);
		if (!join->states[i])
			return -ENOMEM;
		join->states[i]->context = &join->context;
	}
	return 0;
}

static void sort_out(struct tap_join *join)
{
	struct beginner *beginner = join->beginners;
	struct ender *ender = join->enders;
	struct clock *clock = join->clocks;
	struct horizon *horizon = join->horizons;
	struct taker *taker;
	size_t i, kind;

	for (i = 0; i < LAYER_COUNT; i++) {
		if (is_idle(join, i))
			continue;
		if (layers[i]->span_begun)
			*beginner++ =
				(struct beginner){layers[i]->span_begun, join->states[i]};
		if (layers[i]->span_ended)
			*ender++ = (struct ender){layers[i]->span_ended, join->states[i]};
		if (layers[i]->advance)
			*clock++ = (struct clock){layers[i]->advance, join->states[i]};
		if (layers[i]->horizon)
			*horizon++ =
				(struct horizon){layers[i]->horizon, join->states[i]};
	}
	for (kind = 0; kind < TAP_EVENT_KINDS; kind++) {
		taker = join->takers[kind];
		for (i = 0; i < LAYER_COUNT; i++)
			if (layers[i]->events & TAP_TAKES(kind) && !is_idle(join, i))
				*taker++ =
					(struct taker){layers[i]->take, join->states[i]};
	}
}

struct tap_join *tap_join_create(const struct tap_consumer *consumer, void *data,
				 const struct tap_bounds *bounds)
{
	struct tap_join *join = calloc(1, sizeof(*join));
	struct tap_context *context;
	size_t i;

	if (!join)
		return NULL;
	context = &join->context;
	context->consumer = consumer;
	context->data = data;
	context->bounds = *bounds;
	context->horizon = horizon_of;
	context->state_of = state_of;
	context->layers = join;
	context->pairs.open_max = bounds->open_calls;
	context->pairs.loss = &context->loss;
	context->pairs.begun = begin_span;
	context->pairs.ended = end_span;
	context->pairs.data = join;
	if (make_states(join)) {
		tap_join_destroy(join);
		return NULL;
	}
	sort_out(join);
	for (i = 0; i < LAYER_COUNT; i++)
		if (layers[i]->begin && !is_idle(join, i))
			layers[i]->begin(join->states[i]);
	return join;
}

void tap_join_destroy(struct tap_join *join)
{
	size_t i;

	if (!join)
		return;
	/* A layer may hold spans of the layers before it. */
	for (i = LAYER_COUNT; i-- > 0;) {
		if (join->states[i] && layers[i]->free)
			layers[i]->free(join->states[i]);
		free(join->states[i]);
	}
	tap_context_free(&join->context);
	free(join);
}

struct tap_trace *tap_join_add_trace(struct tap_join *join, const char *host,
				     const unsigned char *identity, int64_t pid)
{
	return tap_traces_add(&join->context.traces, host, identity, pid);
}

int tap_join_set_clock(struct tap_join *join, struct tap_trace *trace,
		       const unsigned char *boot)
{
	if (!trace->clock)
		trace->clock = tap_clocks_get(&join->context.clocks, trace->host, boot);
	return trace->clock ? 0 : -ENOMEM;
}

struct tap_clocks *tap_join_clocks(struct tap_join *join)
{
	return &join->context.clocks;
}

const struct tap_context *tap_join_context(const struct tap_join *join)
{
	return &join->context;
}

const struct tap_name *tap_join_intern(struct tap_join *join, const char *layer,
				       size_t layer_length, const char *name,
				       size_t name_length)
{
	return tap_names_get(&join->context.names, layer, layer_length, name,
			     name_length);
}

const struct tap_name *tap_join_intern_reported(struct tap_join *join,
						const struct tap_name *other,
						const char *name, size_t name_length)
{
	return tap_context_name_reported(&join->context, other, name, name_length);
}

struct tap_loss *tap_join_loss(struct tap_join *join)
{
	return &join->context.loss;
}

static int set_string(char **string, const char *value)
{
	free(*string);
	*string = strdup(value);
	return *string ? 0 : -ENOMEM;
}

int tap_join_set_jobs(struct tap_join *join, const char *jobs)
{
	return set_string(&join->context.jobs, jobs);
}

int tap_join_set_snapshots(struct tap_join *join, const char *snapshots)
{
	return set_string(&join->context.snapshots, snapshots);
}

/* ---- Events ---- */

/* Replaces *process by the next one under its number. */
static int replace_process(struct tap_join *join, struct tap_process **process,
			   int64_t time_ns)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < LAYER_COUNT; i++)
		if (layers[i]->process_replaced && !is_idle(join, i))
			ret = layers[i]->process_replaced(join->states[i], *process,
							  time_ns);
	if (ret)
		return ret;
	*process = tap_processes_succeed(&join->context.processes, *process);
	return *process ? 0 : -ENOMEM;
}

/* Ignores a process from now on, and ends the spans under its number. */
static int ignore_process(struct tap_join *join, struct tap_process *process)
{
	process->is_foreign = true;
	return process->is_announced
		       ? tap_pairs_end_process(&join->context.pairs, process)
		       : 0;
}

/* Gets the process of the event; NULL: no layer takes the event. */
static int find_process(struct tap_join *join, const struct tap_event *event,
			struct tap_process **ret_process)
{
	struct tap_context *context = &join->context;
	struct tap_process *process = tap_processes_of(&context->processes, event);
	int ret = 0;

	*ret_process = NULL;
	if (!process)
		return -ENOMEM;
	if (event->kind == TAP_EVENT_PROCESS ||
	    event->kind == TAP_EVENT_STATEDUMP_PROCESS) {
		if (!tap_process_is_of_job(context->jobs, event))
			return ignore_process(join, process);
		process->is_foreign = false;
		if (tap_process_is_replaced(process, event))
			ret = replace_process(join, &process, event->time_ns);
	}
	if (!ret && !process->is_foreign)
		*ret_process = process;
	return ret;
}

static bool is_call(const struct tap_event *event)
{
	return event->kind == TAP_EVENT_ENTRY || event->kind == TAP_EVENT_EXIT ||
	       event->kind == TAP_EVENT_MARK || event->kind == TAP_EVENT_WORK ||
	       event->kind == TAP_EVENT_NCCL_ARGS;
}

int tap_join_event(struct tap_join *join, struct tap_event *event)
{
	struct tap_context *context = &join->context;
	struct tap_process *process;
	const struct taker *taker;
	const struct clock *clock;
	int ret = 0;

	if (!context->has_first) {
		context->has_first = true;
		context->first_ns = event->time_ns;
	}
	context->last_ns = event->time_ns;
	context->event_count++;
	for (clock = join->clocks; !ret && clock->call; clock++)
		ret = clock->call(clock->state, event->time_ns);
	if (ret || event->kind == TAP_EVENT_OTHER)
		return ret;
	if (is_call(event) && !event->has_call_id) {
		context->loss.malformed_events++;
		return 0;
	}
	ret = find_process(join, event, &process);
	if (ret || !process)
		return ret;
	for (taker = join->takers[event->kind]; !ret && taker->call; taker++)
		ret = taker->call(taker->state, process, event);
	return ret;
}

int tap_join_finish(struct tap_join *join)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < LAYER_COUNT; i++)
		if (layers[i]->finish && !is_idle(join, i))
			ret = layers[i]->finish(join->states[i]);
	for (i = 0; !ret && i < LAYER_COUNT; i++)
		if (layers[i]->close && !is_idle(join, i))
			ret = layers[i]->close(join->states[i]);
	return ret;
}
