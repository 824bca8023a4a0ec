/* SPDX-License-Identifier: MIT */
/*
 * NCCL's calls that no wrapper saw, from the ranges that NCCL announces.
 */
#include "common/thread.h"
#include "intercept/dl/libraries.h"
#include "intercept/entry.h"
#include "intercept/guard.h"
#include "intercept/nvtx/nvtx.h"
#include "intercept/nvtx/nvtx_schema.h"
#include "intercept/start.h"
#include "intercept/threads.h"
#include "intercept/trace.h"

static bool is_wanted(void)
{
	const int *const *on = tap_events_table->nvtx_call_on;

	return *on[0] | *on[1];
}

/*
 * A wrapper has seen the call if the thread is inside one: then the thread's innermost
 * call is not from NVTX, or, while no session records, t->inside is set.
 */
static bool is_seen_by_wrapper(const struct tap_thread *t)
{
	return t->inside || t->call_id != tap_nvtx_innermost(true);
}

static void record(struct tap_nvtx_level *level, const struct nvtx_abi_attributes *a)
{
	struct tap_thread *t = &tap_thread;
	struct tap_nvtx_values values = {0};
	const struct tap_nvtx_call call = {
		.call_id = tap_call_number(),
		.parent_id = t->call_id,
		.library = tap_library_traced(level->domain->within, "nccl"),
		/* Between two nested ranges of NCCL no code of the program runs. */
		.inner = t->call_id != 0,
		.function = level->function,
	};

	level->call_id = call.call_id;
	level->parent_id = call.parent_id;
	if (a->payload_type == NVTX_ABI_PAYLOAD_EXT && a->payload_count > 0)
		tap_nvtx_schema_read(level->domain->schemas,
				     (const struct nvtx_abi_data *) (uintptr_t)
					     a->payload.u64,
				     (size_t) a->payload_count, &values);
	tap_call_show(call.call_id, call.function, 0, 0, 0);
	tap_events_table->nvtx_entry(&call, &values);
	__atomic_store_n(&t->call_id, call.call_id, __ATOMIC_RELAXED);
}

void tap_nvtx_call_begin(const struct tap_nvtx_domain *domain, const char *function,
			 const struct nvtx_abi_attributes *attributes)
{
	const bool is_seen = is_seen_by_wrapper(&tap_thread);
	struct tap_nvtx_level *level = tap_nvtx_push(domain);
	struct tap_guard guard;

	if (!level || is_seen || !tap_nvtx_is_started() || !is_wanted())
		return;
	level->function = function;
	guard = tap_guard_set();
	tap_announce();
	if (unlikely(!tap_thread.tid))
		tap_thread_know();
	record(level, attributes);
	tap_guard_clear(guard);
}

void tap_nvtx_call_end(const struct tap_nvtx_level *level,
		       const struct nvtx_abi_data *data, size_t nr)
{
	const struct tap_nvtx_call call = {.call_id = level->call_id,
					   .function = level->function};
	const struct tap_guard guard = tap_guard_set();
	struct tap_nvtx_values values = {0};
	struct tap_thread *t = &tap_thread;

	tap_nvtx_schema_read(level->domain->schemas, data, nr, &values);
	tap_events_table->nvtx_exit(&call, &values);
	tap_call_hide(level->call_id);
	if (t->call_id == level->call_id)
		__atomic_store_n(&t->call_id, level->parent_id, __ATOMIC_RELAXED);
	tap_guard_clear(guard);
}
