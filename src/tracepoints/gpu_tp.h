/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "gpu": which client has CUPTI, and what CUPTI's numbers mean, at
 * level INFO.  The events of what ran are in gpu_hot_tp.c.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gpu
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/gpu_tp.h"

#if !defined(TAP_TRACEPOINTS_GPU_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_GPU_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/gpu_events.h"

/* clang-format off */
#define TAP_GPU_EVENT(name, args, ...) \
	LTTNG_UST_TRACEPOINT_EVENT(gpu, name, LTTNG_UST_TP_ARGS args, \
		LTTNG_UST_TP_FIELDS(__VA_ARGS__)) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(gpu, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

#define TAP_GPU_NAME_FIELDS \
	lttng_ust_field_integer(uint64_t, name, number) \
	lttng_ust_field_string(text, text_)
TAP_GPU_EVENT(name, (uint64_t, number, const char *, text_), TAP_GPU_NAME_FIELDS)
TAP_GPU_EVENT(statedump_name, (uint64_t, number, const char *, text_), TAP_GPU_NAME_FIELDS)

#define TAP_GPU_OWNER_FIELDS \
	lttng_ust_field_string(state, o->state) \
	lttng_ust_field_string(holder, o->holder) \
	lttng_ust_field_string(library, o->library) \
	lttng_ust_field_integer(uint32_t, version, o->version) \
	lttng_ust_field_string(detail, o->detail)
TAP_GPU_EVENT(owner, (const struct tap_gpu_owner *, o), TAP_GPU_OWNER_FIELDS)
TAP_GPU_EVENT(statedump_owner, (const struct tap_gpu_owner *, o), TAP_GPU_OWNER_FIELDS)

TAP_GPU_EVENT(clock, (const struct tap_gpu_clock *, c),
	lttng_ust_field_integer(uint8_t, kind, c->kind)
	lttng_ust_field_integer(int64_t, offset_ns, c->offset_ns)
	lttng_ust_field_integer(uint64_t, residual_ns, c->residual_ns))
TAP_GPU_EVENT(lost, (const char *, what_, uint64_t, nr),
	lttng_ust_field_string(what, what_)
	lttng_ust_field_integer(uint64_t, count, nr))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
