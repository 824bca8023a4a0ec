/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "nvtx": what the program itself gives NVTX, such as its steps and
 * layers, if the recording asks for it.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER nvtx
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/nvtx_tp.h"

#if !defined(TAP_TRACEPOINTS_NVTX_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_NVTX_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/events.h"

/* clang-format off */
LTTNG_UST_TRACEPOINT_ENUM(nvtx, scope,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("thread", TAP_NVTX_THREAD)
		lttng_ust_field_enum_value("process", TAP_NVTX_PROCESS)
		lttng_ust_field_enum_value("mark", TAP_NVTX_MARK)))

/*
 * The n-th bit of `given` is for the n-th field after it: a reader ignores the fields not
 * given.
 */
#define TAP_NVTX_RANGE_EVENT(event) \
	LTTNG_UST_TRACEPOINT_EVENT(nvtx, event, \
		LTTNG_UST_TP_ARGS(const struct tap_nvtx_range *, r), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint64_t, call_id, r->call_id) \
			lttng_ust_field_integer(uint64_t, parent_id, r->parent_id) \
			lttng_ust_field_enum(nvtx, scope, int32_t, scope, r->kind) \
			lttng_ust_field_string(domain, r->domain) \
			lttng_ust_field_string(name, r->name) \
			lttng_ust_field_integer_hex(uint32_t, given, r->given) \
			lttng_ust_field_integer(uint32_t, category, r->category) \
			lttng_ust_field_integer_hex(uint32_t, color, r->color) \
			lttng_ust_field_integer(int64_t, value, r->value) \
			lttng_ust_field_integer(uint64_t, unsigned_value, r->unsigned_value) \
			lttng_ust_field_float(double, real_value, r->real_value))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(nvtx, event, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)
TAP_NVTX_RANGE_EVENT(range_entry)
TAP_NVTX_RANGE_EVENT(mark)

LTTNG_UST_TRACEPOINT_EVENT(nvtx, range_exit,
	LTTNG_UST_TP_ARGS(uint64_t, call_id_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, call_id, call_id_)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(nvtx, range_exit, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
