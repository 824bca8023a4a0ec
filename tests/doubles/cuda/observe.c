/* SPDX-License-Identifier: MIT */
/*
 * Who observes the fake driver is told here: the fake CUPTI, and through it the small
 * runtime, whose calls only it can announce.
 */
#include "driver.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic(const struct fake_observer *) observer;
static atomic_ullong calls;
/* The number that the runtime's call has and the first of the driver in it will have. */
static __thread uint64_t reserved;
static __thread uint64_t runtime_call;

static void observe(const struct fake_observer *wanted)
{
	atomic_store(&observer, wanted);
}

bool fake_is_observed(void)
{
	return atomic_load(&observer) != NULL;
}

uint64_t fake_observe_number(void)
{
	uint64_t number = reserved;

	reserved = 0;
	return number ? number : atomic_fetch_add(&calls, 1) + 1;
}

static struct fake_observed_call observed(const struct fake_call *call)
{
	return (struct fake_observed_call){
		.entry = call->entry,
		.correlation = call->correlation,
		.context = fake_current_context(),
		.stream = call->stream,
		.stream_id = call->stream_id,
	};
}

void fake_observe_enter(const struct fake_call *call)
{
	const struct fake_observer *told = atomic_load(&observer);
	struct fake_observed_call now;

	if (!told)
		return;
	now = observed(call);
	told->enter(&now);
}

void fake_observe_leave(const struct fake_call *call, CUresult res)
{
	const struct fake_observer *told = atomic_load(&observer);
	struct fake_observed_call now;

	if (!told)
		return;
	now = observed(call);
	now.result = (int) res;
	told->leave(&now);
}

uint64_t fake_observe_queued(const struct fake_work *work)
{
	const struct fake_observer *told = atomic_load(&observer);

	return told ? told->queued(work->type) : 0;
}

void fake_observe_ran(const struct fake_observed_work *ran, uint64_t answer)
{
	const struct fake_observer *told = atomic_load(&observer);

	if (told)
		told->ran(ran, answer);
}

void fake_observe_changed(enum fake_observed_what what,
			  const struct fake_observed_thing *thing)
{
	const struct fake_observer *told = atomic_load(&observer);

	if (told)
		told->changed(what, thing);
}

void fake_observe_node(struct CUgraphNode_st *node)
{
	if (node && fake_is_observed())
		fake_observe_changed(
			FAKE_NODE_CREATED,
			&(struct fake_observed_thing){.context = fake_current_context(),
						      .graph = node->graph,
						      .node = node,
						      .type = node->work->type});
}

static void runtime_enter(const char *entry)
{
	const struct fake_observer *told = atomic_load(&observer);

	if (!told)
		return;
	reserved = 0;
	runtime_call = fake_observe_number();
	told->enter(&(struct fake_observed_call){.entry = entry,
						 .is_runtime = true,
						 .correlation = runtime_call,
						 .context = fake_current_context()});
	reserved = runtime_call;
}

static void runtime_leave(const char *entry, int result)
{
	const struct fake_observer *told = atomic_load(&observer);

	reserved = 0;
	if (!told || !runtime_call)
		return;
	told->leave(&(struct fake_observed_call){.entry = entry,
						 .is_runtime = true,
						 .correlation = runtime_call,
						 .context = fake_current_context(),
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
	return fake_stream_number(context ? context : fake_current_context(), stream);
}

static uint64_t node_id(CUgraphNode node)
{
	return node->id;
}

static uint32_t graph_id(CUgraph graph)
{
	return (uint32_t) graph->id;
}

const void *fake_observer_table(const CUuuid *id)
{
	static const struct fake_observer_table table = {
		.observe = observe,
		.context_id = context_id,
		.context_device = context_device,
		.stream_id = stream_id,
		.node_id = node_id,
		.graph_id = graph_id,
		.exec_id = fake_exec_number,
		.runtime_enter = runtime_enter,
		.runtime_leave = runtime_leave,
	};

	return memcmp(id, &(CUuuid) FAKE_OBSERVER_ID, sizeof(*id)) == 0 ? &table : NULL;
}
