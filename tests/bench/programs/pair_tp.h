/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "ccltap_bench": a pair of events with the fields that ccltap
 * records of ncclAllReduce, as anybody would write them.  It is the yardstick, so it
 * shares nothing with src.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ccltap_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "pair_tp.h"

#if !defined(TAP_BENCH_PAIR_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_BENCH_PAIR_TP_H

#include <stdint.h>
#include <lttng/tracepoint.h>

#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
/* LTTng takes ten arguments at most. */
struct bench_operation {
	int datatype, op, capture;
	uint32_t comm_id, not_counted;
	uint64_t comm_key, op_number, group_id;
	uint8_t group_depth;
};
#endif

/* clang-format off */
LTTNG_UST_TRACEPOINT_ENUM(ccltap_bench, result,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("ncclSuccess", 0)
		lttng_ust_field_enum_value("ncclInvalidArgument", 4)))
LTTNG_UST_TRACEPOINT_ENUM(ccltap_bench, datatype,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("ncclInt8", 0)
		lttng_ust_field_enum_value("ncclFloat32", 7)))
LTTNG_UST_TRACEPOINT_ENUM(ccltap_bench, op,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("ncclSum", 0)
		lttng_ust_field_enum_value("ncclProd", 1)))
LTTNG_UST_TRACEPOINT_ENUM(ccltap_bench, capture,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("none", 0)
		lttng_ust_field_enum_value("active", 1)))

LTTNG_UST_TRACEPOINT_EVENT(ccltap_bench, entry,
	LTTNG_UST_TP_ARGS(uint64_t, call_id_, uint64_t, parent_id_, uint64_t, caller_,
			  const void *, sendbuff_, const void *, recvbuff_,
			  uint64_t, count_, const struct bench_operation *, o,
			  const void *, comm_, const void *, stream_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, call_id, call_id_)
		lttng_ust_field_integer(uint64_t, parent_id, parent_id_)
		lttng_ust_field_integer(uint32_t, caller_library, 1)
		lttng_ust_field_integer_hex(uint64_t, caller_offset, caller_)
		lttng_ust_field_integer(uint8_t, inner, 0)
		lttng_ust_field_integer(uint8_t, pnccl, 0)
		lttng_ust_field_integer(uint8_t, looked_up, 0)
		lttng_ust_field_integer(uint32_t, library, 2)
		lttng_ust_field_integer(uint32_t, stack_id, 0)
		lttng_ust_field_integer_hex(uint64_t, sendbuff, (uintptr_t) sendbuff_)
		lttng_ust_field_integer_hex(uint64_t, recvbuff, (uintptr_t) recvbuff_)
		lttng_ust_field_integer(uint64_t, count, count_)
		lttng_ust_field_enum(ccltap_bench, datatype, int32_t, datatype,
				     o->datatype)
		lttng_ust_field_enum(ccltap_bench, op, int32_t, op, o->op)
		lttng_ust_field_integer_hex(uint64_t, comm, (uintptr_t) comm_)
		lttng_ust_field_integer(uint32_t, comm_id, o->comm_id)
		lttng_ust_field_integer_hex(uint64_t, comm_key, o->comm_key)
		lttng_ust_field_integer_hex(uint64_t, stream, (uintptr_t) stream_)
		lttng_ust_field_integer(uint64_t, op_number, o->op_number)
		lttng_ust_field_integer(uint32_t, not_counted, o->not_counted)
		lttng_ust_field_integer(uint64_t, group_id, o->group_id)
		lttng_ust_field_integer(uint8_t, group_depth, o->group_depth)
		lttng_ust_field_enum(ccltap_bench, capture, int32_t, capture, o->capture)))

LTTNG_UST_TRACEPOINT_EVENT(ccltap_bench, exit,
	LTTNG_UST_TP_ARGS(uint64_t, call_id_, int, result_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, call_id, call_id_)
		lttng_ust_field_enum(ccltap_bench, result, int32_t, result, result_)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
