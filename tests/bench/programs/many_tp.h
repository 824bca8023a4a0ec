/* SPDX-License-Identifier: MIT */
/* As many events as ours are, each of six fields, for what a start with them costs. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER nccl
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "many_tp.h"

#if !defined(TAP_BENCH_MANY_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_BENCH_MANY_TP_H

#include <stdint.h>

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT_CLASS(nccl, bench_many,
	LTTNG_UST_TP_ARGS(uint64_t, a),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, a, a)
		lttng_ust_field_integer(uint64_t, b, a)
		lttng_ust_field_integer(uint32_t, c, a)
		lttng_ust_field_integer(uint32_t, d, a)
		lttng_ust_field_integer(uint32_t, e, a)
		lttng_ust_field_integer(uint8_t, f, a)))

/* The names and the level are such as `ccltap record` enables. */
#define BENCH_ONE(n) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(nccl, bench_many, nccl, bench_ ## n, \
		LTTNG_UST_TP_ARGS(uint64_t, a)) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(nccl, bench_ ## n, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)
#define BENCH_TEN(n) \
	BENCH_ONE(n ## 0) BENCH_ONE(n ## 1) BENCH_ONE(n ## 2) BENCH_ONE(n ## 3) \
	BENCH_ONE(n ## 4) BENCH_ONE(n ## 5) BENCH_ONE(n ## 6) BENCH_ONE(n ## 7) \
	BENCH_ONE(n ## 8) BENCH_ONE(n ## 9)
#define BENCH_HUNDRED(n) \
	BENCH_TEN(n ## 0) BENCH_TEN(n ## 1) BENCH_TEN(n ## 2) BENCH_TEN(n ## 3) \
	BENCH_TEN(n ## 4) BENCH_TEN(n ## 5) BENCH_TEN(n ## 6) BENCH_TEN(n ## 7) \
	BENCH_TEN(n ## 8) BENCH_TEN(n ## 9)
BENCH_HUNDRED(1)
BENCH_HUNDRED(2)
BENCH_HUNDRED(3)
BENCH_HUNDRED(4)
#undef BENCH_ONE
#undef BENCH_TEN
#undef BENCH_HUNDRED
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
