/* SPDX-License-Identifier: MIT */
/*
 * Who observes the driver double is told here: the CUPTI double, and through it the small
 * runtime, whose calls only it can announce.
 */
#include "driver.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic(const struct double_observer *) observer;
static atomic_ullong calls;
/* The number that the runtime's call has and the first of the driver in it will have. */
static __thread uint64_t reserved;
static __thread uint64_t runtime_call;

static void observe(const struct double_observer *wanted)
{
	atomic_store(&observer, wanted);
}

bool double_is_observed(void)
{
	return atomic_load(&observer) != NULL;
}

uint64_t double_observe_number(void)
{
	uint64_t number = reserved;

	reserved = 0;
	return number ? number : atomic_fetch_add(&calls, 1) + 1;
}

static struct double_observed_call observed(const struct double_call *call)
{
	return (struct double_observed_call){
		.entry = call->entry,
		.correlation = call->correlation,
		.context = double_current_context(),
		.stream = call->stream,
		.stream_id = call->stream_id,
	};
}

void double_observe_enter(const struct double_call *call)
{
	const struct double_observer *told = atomic_load(&observer);
	struct double_observed_call now;

	if (!told)
		return;
	now = observed(call);
	told->enter(&now);
}

void double_observe_leave(const struct double_call *call, CUresult res)
{
	const struct double_observer *told = atomic_load(&observer);
	struct double_observed_call now;

	if (!told)
		return;
	now = observed(call);
	now.result = (int) res;
	told->leave(&now);
}

uint64_t double_observe_queued(const struct double_work *work)
{
	const struct double_observer *told = atomic_load(&observer);

	return told ? told->queued(work->type) : 0;
}

void double_observe_ran(const struct double_observed_work *ran, uint64_t answer)
{
	const struct double_observer *told = atomic_load(&observer);

	if (told)
		told->ran(ran, answer);
}

void double_observe_changed(enum double_observed_what what,
			    const struct double_observed_thing *thing)
{
	const struct double_observer *told = atomic_load(&observer);

	if (told)
		told->changed(what, thing);
}

void double_observe_node(struct CUgraphNode_st *node)
{
	if (node && double_is_observed())
		double_observe_changed(DOUBLE_NODE_CREATED,
				       &(struct double_observed_thing){
					       .context = double_current_context(),
					       .graph = node->graph,
					       .node = node,
					       .type = node->work->type});
}

static void runtime_enter(const char *entry)
{
	const struct double_observer *told = atomic_load(&observer);

	if (!told)
		return;
	reserved = 0;
	runtime_call = double_observe_number();
	told->enter(&(struct double_observed_call){.entry = entry,
						   .is_runtime = true,
						   .correlation = runtime_call,
						   .context = double_current_context()});
	reserved = runtime_call;
}

static void runtime_leave(const char *entry, int result)
{
	const struct double_observer *told = atomic_load(&observer);

	reserved = 0;
	if (!told || !runtime_call)
		return;
	told->leave(&(struct double_observed_call){.entry = entry,
						   .is_runtime = true,
						   .correlation = runtime_call,
						   .context = double_current_context(),
						   .result = result});
	runtime_call = 0;
}

static uint32_t context_id(CUcontext context)
{
	return context->id;
}

static uint32_t context_device(CUcontext context)
{
	return (uint32_t) context->device;
}

static uint64_t stream_id(CUcontext context, CUstream stream, bool is_per_thread)
{
	if (!stream && is_per_thread)
		stream = CU_STREAM_PER_THREAD;
	return double_stream_number(context ? context : double_current_context(), stream);
}

static uint64_t node_id(CUgraphNode node)
{
	return node->id;
}

static uint32_t graph_id(CUgraph graph)
{
	return (uint32_t) graph->id;
}

const void *double_observer_table(const CUuuid *id)
{
	static const struct double_observer_table table = {
		.observe = observe,
		.context_id = context_id,
		.context_device = context_device,
		.stream_id = stream_id,
		.node_id = node_id,
		.graph_id = graph_id,
		.exec_id = double_exec_number,
		.runtime_enter = runtime_enter,
		.runtime_leave = runtime_leave,
	};

	return memcmp(id, &(CUuuid) DOUBLE_OBSERVER_ID, sizeof(*id)) == 0 ? &table : NULL;
}
