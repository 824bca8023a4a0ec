/* SPDX-License-Identifier: MIT */
/* Instantiates the provider "nccl" and fills the table of its events by row. */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/nccl_tp.h"

#include "tracepoints/providers.h"

/* clang-format off */
#define ENTRY_FUNCTION(fn, ...) \
	static void fn##_on_entry(const struct tap_call *call, const void *args) \
	{ \
		struct fn##_args copy = *(const struct fn##_args *) args, *const a = &copy; \
		ARGS_WALK(ARG_READ_ON_ENTRY, SEP_NONE, ##__VA_ARGS__) \
		lttng_ust_do_tracepoint(nccl, fn##_entry, call, a); \
	}
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	ENTRY_FUNCTION(fn, ##__VA_ARGS__) \
	static void fn##_on_exit(const struct tap_call *call, const void *args, const void *result) \
	{ \
		struct fn##_args copy = *(const struct fn##_args *) args, *const a = &copy; \
		ret_t ret = *(ret_t const *) result; \
		READ_RET_##ret_kind \
		ARGS_WALK(ARG_READ_ON_EXIT, SEP_NONE, ##__VA_ARGS__) \
		lttng_ust_do_tracepoint(nccl, fn##_exit, call, a, ret); \
	}
#define CALL_VOID(since, class, fn, ...) \
	ENTRY_FUNCTION(fn, ##__VA_ARGS__) \
	static void fn##_on_exit(const struct tap_call *call, const void *args, const void *result) \
	{ \
		struct fn##_args copy = *(const struct fn##_args *) args, *const a = &copy; \
		(void) result; \
		ARGS_WALK(ARG_READ_ON_EXIT, SEP_NONE, ##__VA_ARGS__) \
		lttng_ust_do_tracepoint(nccl, fn##_exit, call, a); \
	}
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID

#define FILL(fn) \
	ret_events[TAP_##fn] = (struct tap_call_events) { \
		.entry_on = &lttng_ust_tracepoint_nccl___##fn##_entry.state, \
		.exit_on = &lttng_ust_tracepoint_nccl___##fn##_exit.state, \
		.entry = fn##_on_entry, \
		.exit = fn##_on_exit, \
	};
void tap_tp_nccl_fill(struct tap_call_events *ret_events, const int **ret_nvtx_on)
{
	ret_nvtx_on[0] = &lttng_ust_tracepoint_nccl___nvtx_entry.state;
	ret_nvtx_on[1] = &lttng_ust_tracepoint_nccl___nvtx_exit.state;
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) FILL(fn)
#define CALL_VOID(since, class, fn, ...) FILL(fn)
#include "calls/nccl.def"
}
/* clang-format on */

void tap_tp_nvtx_entry(const struct tap_nvtx_call *call, const struct tap_nvtx_values *values)
{
	lttng_ust_tracepoint(nccl, nvtx_entry, call, values);
}

void tap_tp_nvtx_exit(const struct tap_nvtx_call *call, const struct tap_nvtx_values *values)
{
	lttng_ust_tracepoint(nccl, nvtx_exit, call, values);
}
