/* SPDX-License-Identifier: MIT */
/* Instantiates the code that LTTng's macros generate for the provider "cuda". */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/cuda_tp.h"

#include "tracepoints/providers.h"

/* clang-format off */
#define PAIR(name, ...) \
	static void name##_on_entry(const struct tap_call *call, const void *args) \
	{ \
		struct name##_args copy = *(const struct name##_args *) args, *const a = &copy; \
		ARGS_WALK(ARG_READ_ON_ENTRY, SEP_NONE, ##__VA_ARGS__) \
		lttng_ust_do_tracepoint(cuda, name##_entry, call, a); \
	} \
	static void name##_on_exit(const struct tap_call *call, const void *args, \
				   CUresult ret) \
	{ \
		struct name##_args copy = *(const struct name##_args *) args, *const a = &copy; \
		ARGS_WALK(ARG_READ_ON_EXIT, SEP_NONE, ##__VA_ARGS__) \
		lttng_ust_do_tracepoint(cuda, name##_exit, call, a, ret); \
	}
#define PAIR_WORK(name, ...)
#define PAIR_WAIT PAIR
#define PAIR_SETUP PAIR
#define PAIR_CAPTURE PAIR
#define PAIR_CAPTURED PAIR
#define PAIR_UNLOAD PAIR
#define CALL_ALONE(since, class, does, api, name, ...) PAIR_##class(name, ##__VA_ARGS__)
#define CALL(since, class, does, api, name, variant, ...) PAIR_##class(name, ##__VA_ARGS__)
#include TAP_CUDA_ROWS
#undef CALL
#undef CALL_ALONE

#define FILL(name) \
	ret_rows[TAP_##name] = (struct tap_cuda_row) { \
		.on = {&lttng_ust_tracepoint_cuda___##name##_entry.state, \
		       &lttng_ust_tracepoint_cuda___##name##_exit.state}, \
		.entry = name##_on_entry, \
		.exit = name##_on_exit, \
	};
#define FILL_WORK(name)
#define FILL_WAIT FILL
#define FILL_SETUP FILL
#define FILL_CAPTURE FILL
#define FILL_CAPTURED FILL
#define FILL_UNLOAD FILL
#define CALL_ALONE(since, class, does, api, name, ...) FILL_##class(name)
#define CALL(since, class, does, api, name, variant, ...) FILL_##class(name)
void tap_tp_cuda_fill(struct tap_cuda_row *ret_rows)
{
#include TAP_CUDA_ROWS
}
/* clang-format on */

#ifndef TAP_HIP
void tap_tp_function(uint64_t function, const char *name, bool is_statedump)
{
	if (is_statedump)
		tap_tp_statedump_function(function, name);
	else
		lttng_ust_tracepoint(cuda, function, function, name);
}
#endif
