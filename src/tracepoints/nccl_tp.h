/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "nccl": an entry and an exit event per row of nccl.def.
 *
 * Set-up calls have log level INFO and hot ones DEBUG, so that a session can give each a
 * channel of its own.  The calls that NCCL announces to NVTX share one pair of events, at
 * DEBUG.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER nccl
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/nccl_tp.h"

#if !defined(TAP_TRACEPOINTS_NCCL_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_NCCL_TP_H

#include <lttng/tracepoint.h>

#include "calls/kinds.h"
#include "calls/nccl_enums.h"
#include "common/args.h"
#include "tracepoints/events.h"

/* clang-format off */

#define TAP_NCCL_VALUE(name, number) lttng_ust_field_enum_value(#name, number)
#define TAP_NCCL_ENUM(type, values) \
	LTTNG_UST_TRACEPOINT_ENUM(nccl, type, LTTNG_UST_TP_ENUM_VALUES(values))
TAP_NCCL_ENUMS
#undef TAP_NCCL_ENUM
#undef TAP_NCCL_VALUE

LTTNG_UST_TRACEPOINT_ENUM(nccl, capture,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("unknown", -1)
		lttng_ust_field_enum_value("none", 0)
		lttng_ust_field_enum_value("active", 1)
		lttng_ust_field_enum_value("invalidated", 2)))
LTTNG_UST_TRACEPOINT_ENUM(nccl, group_outcome,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("inner", TAP_GROUP_INNER)
		lttng_ust_field_enum_value("launched", TAP_GROUP_LAUNCHED)
		lttng_ust_field_enum_value("dropped", TAP_GROUP_DROPPED)
		lttng_ust_field_enum_value("simulated", TAP_GROUP_SIMULATED)))

#define TAP_LEVEL_SETUP LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO
#define TAP_LEVEL_HOT LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG

#define TAP_ENTRY_EVENT(class, hook, fn, ...) \
	LTTNG_UST_TRACEPOINT_EVENT(nccl, fn##_entry, \
		LTTNG_UST_TP_ARGS(const struct tap_call *, call, \
				  const struct fn##_args *, a), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint64_t, call_id, call->call_id) \
			lttng_ust_field_integer(uint64_t, parent_id, call->parent_id) \
			lttng_ust_field_integer(uint32_t, caller_library, call->caller_library) \
			lttng_ust_field_integer_hex(uint64_t, caller_offset, call->caller_offset) \
			lttng_ust_field_integer(uint8_t, inner, call->inner) \
			lttng_ust_field_integer(uint8_t, pnccl, call->pnccl) \
			lttng_ust_field_integer(uint8_t, looked_up, call->looked_up) \
			lttng_ust_field_integer(uint32_t, library, call->library) \
			lttng_ust_field_integer(uint32_t, stack_id, call->stack_id) \
			ARGS_WALK(ARG_ON_ENTRY, SEP_NONE, ##__VA_ARGS__) \
			HOOK_ENTRY_##hook)) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(nccl, fn##_entry, TAP_LEVEL_##class)

#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	TAP_ENTRY_EVENT(class, hook, fn, ##__VA_ARGS__) \
	LTTNG_UST_TRACEPOINT_EVENT(nccl, fn##_exit, \
		LTTNG_UST_TP_ARGS(const struct tap_call *, call, \
				  const struct fn##_args *, a, ret_t, ret), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint64_t, call_id, call->call_id) \
			RET_##ret_kind \
			ARGS_WALK(ARG_ON_EXIT, SEP_NONE, ##__VA_ARGS__) \
			HOOK_EXIT_##hook)) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(nccl, fn##_exit, TAP_LEVEL_##class)
#define CALL_VOID(since, class, fn, ...) \
	TAP_ENTRY_EVENT(class, PLAIN, fn, ##__VA_ARGS__) \
	LTTNG_UST_TRACEPOINT_EVENT(nccl, fn##_exit, \
		LTTNG_UST_TP_ARGS(const struct tap_call *, call, \
				  const struct fn##_args *, a), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint64_t, call_id, call->call_id) \
			ARGS_WALK(ARG_ON_EXIT, SEP_NONE, ##__VA_ARGS__))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(nccl, fn##_exit, TAP_LEVEL_##class)
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID

/*
 * The n-th bit of `given` is for the n-th field after it: a reader ignores the fields not
 * given.
 */
#define TAP_NVTX_FIELD_HEX(name) \
	lttng_ust_field_integer_hex(uint64_t, name, v->of[TAP_NVTX_##name])
#define TAP_NVTX_FIELD_U64(name) \
	lttng_ust_field_integer(uint64_t, name, v->of[TAP_NVTX_##name])
#define TAP_NVTX_FIELD_I32(name) \
	lttng_ust_field_integer(int32_t, name, (int32_t) v->of[TAP_NVTX_##name])
#define TAP_NVTX_FIELD_REDOP(name) \
	TAP_ENUM_FIELD(ncclRedOp_t, name, (int32_t) v->of[TAP_NVTX_##name])
#define TAP_NVTX_FIELD(how, name) TAP_NVTX_FIELD_##how(name)

LTTNG_UST_TRACEPOINT_EVENT(nccl, nvtx_entry,
	LTTNG_UST_TP_ARGS(const struct tap_nvtx_call *, call,
			  const struct tap_nvtx_values *, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, call_id, call->call_id)
		lttng_ust_field_integer(uint64_t, parent_id, call->parent_id)
		lttng_ust_field_integer(uint8_t, inner, call->inner)
		lttng_ust_field_string(function, call->function)
		lttng_ust_field_integer(uint32_t, library, call->library)
		lttng_ust_field_integer_hex(uint32_t, given, v->given)
		TAP_NVTX_VALUES(TAP_NVTX_FIELD)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(nccl, nvtx_entry, TAP_LEVEL_HOT)
LTTNG_UST_TRACEPOINT_EVENT(nccl, nvtx_exit,
	LTTNG_UST_TP_ARGS(const struct tap_nvtx_call *, call,
			  const struct tap_nvtx_values *, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, call_id, call->call_id)
		lttng_ust_field_string(function, call->function)
		lttng_ust_field_integer_hex(uint32_t, given, v->given)
		TAP_NVTX_VALUES(TAP_NVTX_FIELD)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(nccl, nvtx_exit, TAP_LEVEL_HOT)

/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
