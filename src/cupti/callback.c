/* SPDX-License-Identifier: MIT */
/*
 * CUPTI calls these inside the program's own calls: all but the one for nodes of graphs
 * take a few instructions.
 */
#include "cupti/callback.h"

#include "calls/cuda_calls.h"
#include "common/thread.h"
#include "intercept/resolve.h"

/* clang-format off */
#define CBID(symbol, number) number,
#define CALL_ALONE(since, class, does, api, name, ...) TAP_CBID_##class(CBID, name, api)
#define CALL(since, class, does, api, name, twin, ...) TAP_CBIDS_##class(CBID, name, twin, api)
static const uint16_t work[] = {
#include "calls/cuda.def"
};
#undef CALL
#undef CALL_ALONE
#undef CBID
/* clang-format on */

int tap_cupti_is_reporting;

bool tap_cupti_is_work(uint32_t cbid)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(work); i++)
		if (work[i] == cbid)
			return true;
	return false;
}

/* An older release does not know all callbacks. */
int tap_cupti_callbacks_enable(const struct tap_cupti_library *library, void *subscriber)
{
	int launch = -1, error;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(work); i++) {
		error = work[i] ? library->EnableCallback(1, subscriber,
							  TAP_CUPTI_DOMAIN_DRIVER,
							  work[i])
				: 0;
		if (work[i] == TAP_CBID_cuLaunchKernel)
			launch = error;
	}
	(void) library->EnableCallback(1, subscriber, TAP_CUPTI_DOMAIN_RESOURCE,
				       TAP_CUPTI_GRAPHNODE_CREATED);
	(void) library->EnableCallback(1, subscriber, TAP_CUPTI_DOMAIN_RESOURCE,
				       TAP_CUPTI_GRAPHNODE_CLONED);
	return launch;
}

/* Before 12.5, CUPTI records either all of the driver's calls or none. */
int tap_cupti_calls_enable(const struct tap_cupti_library *library, bool on)
{
	int error = 0, first = 0;
	unsigned i;

	if (!library->ActivityEnableDriverApi)
		return on ? library->ActivityEnable(TAP_CUPTI_DRIVER)
			  : library->ActivityDisable(TAP_CUPTI_DRIVER);
	for (i = 0; i < ARRAY_SIZE(work); i++) {
		if (!work[i])
			continue;
		error = library->ActivityEnableDriverApi(work[i], on);
		if (work[i] == TAP_CBID_cuLaunchKernel)
			first = error;
	}
	return first;
}

static uint64_t node_id(const struct tap_cupti_library *library, void *node)
{
	uint64_t id;

	return node && !library->GetGraphNodeId(node, &id) ? id : 0;
}

static void emit_node(const struct tap_cupti_library *library,
		      const struct tap_cupti_graph *graph, bool is_clone)
{
	const struct tap_gpu_events *events = &tap_events_table->gpu;
	struct tap_gpu_graph_node r = {
		.call_id = tap_thread.call_id,
		/*
		 * Without a cbid, the thread's correlation_id is that of an earlier call.
		 */
		.correlation_id = tap_thread.cbid ? tap_thread.correlation_id : 0,
	};
	static int has_reported;
	uint32_t id;

	if (!library->GetGraphNodeId || !*events->on[TAP_GPU_graph_node])
		return;
	r.node = node_id(library, graph->node);
	if (!r.node) {
		if (!__atomic_exchange_n(&has_reported, 1, __ATOMIC_RELAXED))
			tap_problem("not recorded", "which nodes a graph has", 1);
		return;
	}
	if (is_clone)
		r.original = node_id(library, graph->original_node);
	if (library->GetGraphId && graph->graph &&
	    !library->GetGraphId(graph->graph, &id))
		r.graph = id;
	events->write[TAP_GPU_graph_node](&r, sizeof(r));
}

tap_cold static void on_resource(const struct tap_cupti_library *library, uint32_t cbid,
				 const struct tap_cupti_resource *resource)
{
	struct tap_guard guard;

	if (!__atomic_load_n(&tap_cupti_is_reporting, __ATOMIC_ACQUIRE) ||
	    (cbid != TAP_CUPTI_GRAPHNODE_CREATED && cbid != TAP_CUPTI_GRAPHNODE_CLONED) ||
	    !resource->descriptor)
		return;
	guard = tap_guard_set();
	emit_node(library, resource->descriptor, cbid == TAP_CUPTI_GRAPHNODE_CLONED);
	tap_guard_clear(guard);
}

void tap_cupti_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct tap_cupti_callback *call = data;
	struct tap_thread *t = &tap_thread;

	if (unlikely(domain != TAP_CUPTI_DOMAIN_DRIVER)) {
		if (domain == TAP_CUPTI_DOMAIN_RESOURCE)
			on_resource(userdata, cbid, data);
		return;
	}
	if (t->cbid == cbid && call->site == TAP_CUPTI_ENTER && !t->correlation_id)
		t->correlation_id = call->correlation_id;
}
