/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "cuda": an entry and an exit event for each row that waits or sets
 * up; the events of the other rows are in cuda_hot_tp.c.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER cuda
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/cuda_tp.h"

#if !defined(TAP_TRACEPOINTS_CUDA_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_CUDA_TP_H

#include <lttng/tracepoint.h>

#include "calls/cuda_calls.h"
#include "tracepoints/events.h"

/* clang-format off */
#define TAP_CUDA_NUMBER lttng_ust_field_integer(uint32_t, correlation_id, call->correlation_id)
#define TAP_CUDA_NO_NUMBER
#define TAP_CUDA_PAIR(name, level, number, ...) \
	LTTNG_UST_TRACEPOINT_EVENT(cuda, name##_entry, \
		LTTNG_UST_TP_ARGS(const struct tap_call *, call, const struct name##_args *, a), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint64_t, call_id, call->call_id) \
			lttng_ust_field_integer(uint64_t, parent_id, call->parent_id) \
			lttng_ust_field_integer(uint8_t, per_thread, call->per_thread) \
			lttng_ust_field_integer(uint8_t, runtime, call->runtime) \
			ARGS_WALK(ARG_ON_ENTRY, SEP_NONE, ##__VA_ARGS__))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(cuda, name##_entry, level) \
	LTTNG_UST_TRACEPOINT_EVENT(cuda, name##_exit, \
		LTTNG_UST_TP_ARGS(const struct tap_call *, call, const struct name##_args *, a, \
				  CUresult, ret), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint64_t, call_id, call->call_id) \
			lttng_ust_field_integer(int32_t, result, ret) \
			number \
			ARGS_WALK(ARG_ON_EXIT, SEP_NONE, ##__VA_ARGS__))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(cuda, name##_exit, level)
#define TAP_CUDA_PAIR_WORK(name, ...)
#define TAP_CUDA_PAIR_WAIT(name, ...) \
	TAP_CUDA_PAIR(name, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG, TAP_CUDA_NUMBER, ##__VA_ARGS__)
#define TAP_CUDA_PAIR_SETUP(name, ...) \
	TAP_CUDA_PAIR(name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, TAP_CUDA_NO_NUMBER, ##__VA_ARGS__)
#define TAP_CUDA_PAIR_CAPTURE TAP_CUDA_PAIR_SETUP
#define TAP_CUDA_PAIR_CAPTURED TAP_CUDA_PAIR_SETUP
#define TAP_CUDA_PAIR_UNLOAD TAP_CUDA_PAIR_SETUP
#define CALL_ALONE(since, class, does, api, name, ...) TAP_CUDA_PAIR_##class(name, ##__VA_ARGS__)
#define CALL(since, class, does, api, name, variant, ...) TAP_CUDA_PAIR_##class(name, ##__VA_ARGS__)
#include TAP_CUDA_ROWS
#undef CALL
#undef CALL_ALONE

#ifndef TAP_HIP
LTTNG_UST_TRACEPOINT_EVENT(cuda, function,
	LTTNG_UST_TP_ARGS(uint64_t, f, const char *, name_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, function, f)
		lttng_ust_field_string(name, name_)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(cuda, function, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
#endif
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
