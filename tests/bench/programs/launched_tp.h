/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "ccltap_bench_launch": a bare event, and a pair of events with the
 * eleven arguments of a launch, as anybody would write them.  They are the yardstick, so
 * they share nothing with src.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ccltap_bench_launch
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "launched_tp.h"

#if !defined(TAP_BENCH_LAUNCHED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_BENCH_LAUNCHED_TP_H

#include <stdint.h>
#include <lttng/tracepoint.h>

#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
/* LTTng takes ten arguments at most. */
struct bench_launch {
	uint64_t f, stream, params, extra;
	uint32_t grid[3], block[3], shared;
};
#endif

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(ccltap_bench_launch, six,
	LTTNG_UST_TP_ARGS(uint64_t, a_, uint64_t, b_, uint32_t, c_, uint32_t, d_,
			  uint32_t, e_, uint32_t, f_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, a, a_)
		lttng_ust_field_integer(uint64_t, b, b_)
		lttng_ust_field_integer(uint32_t, c, c_)
		lttng_ust_field_integer(uint32_t, d, d_)
		lttng_ust_field_integer(uint32_t, e, e_)
		lttng_ust_field_integer(uint32_t, f, f_)))

LTTNG_UST_TRACEPOINT_EVENT(ccltap_bench_launch, entry,
	LTTNG_UST_TP_ARGS(uint64_t, call_id_, const struct bench_launch *, l),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, call_id, call_id_)
		lttng_ust_field_integer(uint64_t, parent_id, 0)
		lttng_ust_field_integer_hex(uint64_t, f, l->f)
		lttng_ust_field_integer(uint32_t, gridDimX, l->grid[0])
		lttng_ust_field_integer(uint32_t, gridDimY, l->grid[1])
		lttng_ust_field_integer(uint32_t, gridDimZ, l->grid[2])
		lttng_ust_field_integer(uint32_t, blockDimX, l->block[0])
		lttng_ust_field_integer(uint32_t, blockDimY, l->block[1])
		lttng_ust_field_integer(uint32_t, blockDimZ, l->block[2])
		lttng_ust_field_integer(uint32_t, sharedMemBytes, l->shared)
		lttng_ust_field_integer_hex(uint64_t, hStream, l->stream)
		lttng_ust_field_integer_hex(uint64_t, kernelParams, l->params)
		lttng_ust_field_integer_hex(uint64_t, extra, l->extra)))

LTTNG_UST_TRACEPOINT_EVENT(ccltap_bench_launch, exit,
	LTTNG_UST_TP_ARGS(uint64_t, call_id_, int, result_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, call_id, call_id_)
		lttng_ust_field_integer(int32_t, result, result_)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
