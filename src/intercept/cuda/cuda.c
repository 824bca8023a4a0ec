/* SPDX-License-Identifier: MIT */
/* The wrappers of the CUDA driver's functions and of HIP's, made of the rows, and the
 * tables of their names. */
#include "intercept/cuda/cuda.h"

#include "intercept/cuda/functions.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/wrap.h"
#include "intercept/start.h"
#include "intercept/trace.h"

/* clang-format off */

#define MORE_PARAMS(...) TAP_MORE_PARAMS(__VA_ARGS__)
#define MORE(...) TAP_MORE(__VA_ARGS__)

#define STORE_ARG(t, n, k) STORE_##k(n)
#define STORE_ARG_NONE
#define MEANS_ARG(t, n, k) MEANS_##k(n)
#define MEANS_ARG_NONE

#define PASS(fn, e, ...) \
	fn##_function tap_real = (fn##_function) tap_cuda_real(e); \
	if (unlikely(!tap_real)) \
		return (e)->library->missing;

/* One event, written after the call from arguments read before it. */
#define TRACED_WORK(fn, ...) \
	tap_cold static CUresult fn##_traced(struct tap_cuda_entry *tap_e, \
		const void *tap_caller MORE_PARAMS(__VA_ARGS__)) \
	{ \
		struct fn##_record record, *const r = &record; \
		struct tap_cuda_what w = {.caller = tap_caller}; \
		PASS(fn, tap_e) \
		if (!tap_cuda_enter(tap_e, &record.common)) \
			return tap_real(NAMES(__VA_ARGS__)); \
		ARGS_WALK(STORE_ARG, SEP_NONE, ##__VA_ARGS__) \
		ARGS_WALK(MEANS_ARG, SEP_NONE, ##__VA_ARGS__) \
		tap_cuda_begin(tap_e, &record.common, &w); \
		r->common.result = tap_real(NAMES(__VA_ARGS__)); \
		tap_cuda_wrote(tap_e, &record.common, sizeof(record)); \
		return r->common.result; \
	}

/* Two events, before and after the call. */
#define TRACED_PAIR(fn, after, ...) \
	tap_cold static CUresult fn##_traced(struct tap_cuda_entry *tap_e \
		MORE_PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args tap_args = { NAMES(__VA_ARGS__) }; \
		struct tap_cuda_common common; \
		CUresult tap_result; \
		PASS(fn, tap_e) \
		if (!tap_cuda_enter(tap_e, &common)) { \
			tap_result = tap_real(NAMES(__VA_ARGS__)); \
			after(tap_result) \
			return tap_result; \
		} \
		emit_entry(tap_e, &common, &tap_args); \
		tap_result = tap_real(NAMES(__VA_ARGS__)); \
		after(tap_result) \
		emit_exit(tap_e, &common, &tap_args, tap_result); \
		return tap_result; \
	}
#define NOTHING(result)
#define BEGUN(result) if (!(result)) tap_cuda_capture(1);
#define ENDED(result) tap_cuda_capture(-1);
#define UNLOADED(result) tap_functions_forget();
#define TRACED_WAIT(fn, ...) TRACED_PAIR(fn, NOTHING, ##__VA_ARGS__)
#define TRACED_SETUP(fn, ...) TRACED_PAIR(fn, NOTHING, ##__VA_ARGS__)
#define TRACED_CAPTURE(fn, ...) TRACED_PAIR(fn, BEGUN, ##__VA_ARGS__)
#define TRACED_CAPTURED(fn, ...) TRACED_PAIR(fn, ENDED, ##__VA_ARGS__)
#define TRACED_UNLOAD(fn, ...) TRACED_PAIR(fn, UNLOADED, ##__VA_ARGS__)

/* Only calls that may launch a kernel need the caller. */
#define CALLER_WORK , __builtin_return_address(0)
#define CALLER_WAIT
#define CALLER_SETUP
#define CALLER_CAPTURE
#define CALLER_CAPTURED
#define CALLER_UNLOAD

/*
 * Calls that change the tracer's state take the slow path also while no session records.
 */
#define SHORT_WORK 1
#define SHORT_WAIT 1
#define SHORT_SETUP 1
#define SHORT_CAPTURE 0
#define SHORT_CAPTURED 0
#define SHORT_UNLOAD 0

/* Only WORK and WAIT calls use CUPTI's number of the function. */
#define CBID_SETUP(sym) 0
#define CBID_CAPTURE(sym) 0
#define CBID_CAPTURED(sym) 0
#define CBID_UNLOAD(sym) 0

/* Those of copies are empty until one is bound (tap_cuda_bind()). */
#define ENTRY_false(class, fn, sym, is_variant)
#define ENTRY_true(class, fn, sym, is_variant) = { \
		.on = {&tap_not_ready, &tap_not_ready}, .name = #sym, .row = TAP_##fn, \
		.cbid = CBID_##class(sym), \
		.library = &LIBRARY, .per_thread = is_variant, .linked = true, \
	}

#define BINDING(linkage, binding, class, fn, sym, is_variant, is_linked, ...) \
	static struct tap_cuda_entry sym##_##binding \
		ENTRY_##is_linked(class, fn, sym, is_variant); \
	linkage CUresult tap_##binding##_##sym(PARAMS(__VA_ARGS__)); \
	linkage CUresult tap_##binding##_##sym(PARAMS(__VA_ARGS__)) \
	{ \
		struct tap_cuda_entry *const tap_e = &sym##_##binding; \
		if (!SHORT_##class || \
		    unlikely(*TAP_READ(tap_e->on[0]) | *TAP_READ(tap_e->on[1]))) \
			return fn##_traced(tap_e CALLER_##class MORE(__VA_ARGS__)); \
		return ((fn##_function) TAP_READ(tap_e->real))(NAMES(__VA_ARGS__)); \
	}

/* One linked binding, and TAP_CUDA_COPIES looked-up ones. */
#define BINDINGS(class, node, fn, sym, is_variant, ...) \
	BINDING(tap_exported, linked, class, fn, sym, is_variant, true, ##__VA_ARGS__) \
	BINDING(static, copy1, class, fn, sym, is_variant, false, ##__VA_ARGS__) \
	BINDING(static, copy2, class, fn, sym, is_variant, false, ##__VA_ARGS__) \
	__asm__(".symver tap_linked_" #sym ", " #sym "@" node);

static void emit_entry(const struct tap_cuda_entry *e, struct tap_cuda_common *common,
		       const void *args);
static void emit_exit(const struct tap_cuda_entry *e, const struct tap_cuda_common *common,
		      const void *args, CUresult result);

#define LIBRARY tap_cuda_driver
#define CBID_WORK(sym) TAP_CBID_##sym
#define CBID_WAIT(sym) TAP_CBID_##sym
#define CALL_ALONE(since, class, does, api, fn, ...) \
	TRACED_##class(fn, ##__VA_ARGS__) \
	BINDINGS(class, TAP_VERSION_NODE, fn, fn, false, ##__VA_ARGS__)
#define CALL(since, class, does, api, fn, variant, ...) \
	TRACED_##class(fn, ##__VA_ARGS__) \
	BINDINGS(class, TAP_VERSION_NODE, fn, fn, false, ##__VA_ARGS__) \
	BINDINGS(class, TAP_VERSION_NODE, fn, variant, true, ##__VA_ARGS__)
#include "calls/cuda.def"
#undef CALL
#undef CALL_ALONE
#undef LIBRARY
#undef CBID_WORK
#undef CBID_WAIT

#define LIBRARY tap_cuda_hip
#define CBID_WORK(sym) 0
#define CBID_WAIT(sym) 0
#define CALL_ALONE(version, class, does, none, fn, ...) \
	TRACED_##class(fn, ##__VA_ARGS__) \
	BINDINGS(class, version, fn, fn, false, ##__VA_ARGS__)
#define CALL(version, class, does, variant_version, fn, variant, ...) \
	TRACED_##class(fn, ##__VA_ARGS__) \
	BINDINGS(class, version, fn, fn, false, ##__VA_ARGS__) \
	BINDINGS(class, variant_version, fn, variant, true, ##__VA_ARGS__)
#include "calls/hip.def"
#undef CALL
#undef CALL_ALONE
#undef LIBRARY

#define NAME(since, base_name, sym, is_variant) \
	{#sym, base_name, since, is_variant, &sym##_linked, \
	 {{&sym##_copy1, (void *) tap_copy1_##sym}, {&sym##_copy2, (void *) tap_copy2_##sym}}},
#define CALL_ALONE(since, class, does, api, fn, ...) NAME(since, TAP_BARE_NAME(api), fn, false)
#define CALL(since, class, does, api, fn, variant, ...) \
	NAME(since, TAP_BARE_NAME(api), fn, false) NAME(since, TAP_BARE_NAME(api), variant, true)
const struct tap_cuda_name tap_cuda_names[] = {
#include "calls/cuda.def"
};
const unsigned tap_cuda_nr_names = ARRAY_SIZE(tap_cuda_names);
#undef CALL
#undef CALL_ALONE

/* HIP's functions are looked up by these names alone: no base names, no versions. */
#define CALL_ALONE(version, class, does, none, fn, ...) NAME(0, "-", fn, false)
#define CALL(version, class, does, variant_version, fn, variant, ...) \
	NAME(0, "-", fn, false) NAME(0, "-", variant, true)
const struct tap_cuda_name tap_hip_names[] = {
#include "calls/hip.def"
};
const unsigned tap_hip_nr_names = ARRAY_SIZE(tap_hip_names);
/* clang-format on */

static void expire_names(const struct tap_cuda_name *names, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		tap_cuda_expire(names[i].linked);
}

/* The unloaded library may be a driver: every linked name is resolved again. */
static void expire(void)
{
	expire_names(tap_cuda_names, tap_cuda_nr_names);
	expire_names(tap_hip_names, tap_hip_nr_names);
}

/* A copy that is not ready has no switches. */
static void expire_all(const struct tap_cuda_name *names, size_t nr)
{
	size_t i, copy;

	expire_names(names, nr);
	for (i = 0; i < nr; i++)
		for (copy = 0; copy < TAP_CUDA_COPIES; copy++) {
			struct tap_cuda_entry *e = names[i].looked_up[copy].entry;

			if (__atomic_load_n(&e->name, __ATOMIC_ACQUIRE))
				tap_cuda_expire(e);
		}
}

static void reconsider(void)
{
	expire_all(tap_cuda_names, tap_cuda_nr_names);
	expire_all(tap_hip_names, tap_hip_nr_names);
}

const struct tap_layer tap_layer_cuda = {
	.reconsider = reconsider,
	.expire = expire,
};

static void emit_entry(const struct tap_cuda_entry *e, struct tap_cuda_common *common,
		       const void *args)
{
	const struct tap_guard guard = tap_guard_set();
	const struct tap_call call = {
		.call_id = common->call_id,
		.parent_id = common->parent_id,
		.per_thread = e->per_thread,
		.runtime = common->runtime,
	};

	tap_announce();
	tap_events_table->cuda.rows[e->row].entry(&call, args);
	tap_guard_clear(guard);
	tap_thread.correlation_id = 0;
	tap_thread.cbid = e->cbid;
}

static void emit_exit(const struct tap_cuda_entry *e,
		      const struct tap_cuda_common *common, const void *args,
		      CUresult result)
{
	const struct tap_guard guard = tap_guard_set();
	const struct tap_call call = {
		.call_id = common->call_id,
		.correlation_id = tap_thread.correlation_id,
	};

	tap_thread.cbid = 0;
	tap_events_table->cuda.rows[e->row].exit(&call, args, result);
	tap_cuda_leave(common);
	tap_guard_clear(guard);
}
