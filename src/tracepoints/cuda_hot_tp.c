/* SPDX-License-Identifier: MIT */
/* The packed events of the provider "cuda", each described by its row. */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/cuda_hot_tp.h"

#include "tracepoints/providers.h"

static const struct lttng_ust_probe_desc provider;
static const int debug = LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG;
static const int *level = &debug;

/* clang-format off */
#define BYTES_OF(t, n, k) PACK_##k(TAP_PACKED_BYTES, n)
#define BYTES_OF_NONE
#define FIELD_OF(t, n, k) PACK_##k(TAP_PACKED_INT, n)
#define FIELD_OF_NONE

#define DESCRIBE_WORK(name, ...) \
	TAP_PACKED_FIELDS(name, name##_record, provider, &level, \
		(0 TAP_CUDA_COMMON(TAP_PACKED_BYTES) ARGS_WALK(BYTES_OF, SEP_NONE, ##__VA_ARGS__)), \
		TAP_CUDA_COMMON(TAP_PACKED_INT) ARGS_WALK(FIELD_OF, SEP_NONE, ##__VA_ARGS__)) \
	static void write_##name(const void *record, size_t length) \
	{ \
		lttng_ust_do_tracepoint(cuda, name, &name##_class, record, length); \
	}
#define DESCRIBE_WAIT(name, ...)
#define DESCRIBE_SETUP(name, ...)
#define DESCRIBE_CAPTURE(name, ...)
#define DESCRIBE_CAPTURED(name, ...)
#define DESCRIBE_UNLOAD(name, ...)
#define CALL_ALONE(since, class, does, api, name, ...) DESCRIBE_##class(name, ##__VA_ARGS__)
#define CALL(since, class, does, api, name, variant, ...) DESCRIBE_##class(name, ##__VA_ARGS__)
#include TAP_CUDA_ROWS
#undef CALL
#undef CALL_ALONE

#ifndef TAP_HIP
TAP_PACKED_EVENT(nccl_args, tap_cuda_nccl_args, TAP_CUDA_NCCL_ARGS_ROW, provider, &level)
static void write_nccl_args(const void *record, size_t length)
{
	lttng_ust_do_tracepoint(cuda, nccl_args, &nccl_args_class, record, length);
}
#endif

#define DESC_WORK(name) &name##_desc,
#define DESC_WAIT(name)
#define DESC_SETUP(name)
#define DESC_CAPTURE(name)
#define DESC_CAPTURED(name)
#define DESC_UNLOAD(name)
#define CALL_ALONE(since, class, does, api, name, ...) DESC_##class(name)
#define CALL(since, class, does, api, name, variant, ...) DESC_##class(name)
static const struct lttng_ust_event_desc *const events[] = {
#include TAP_CUDA_ROWS
#ifndef TAP_HIP
	&nccl_args_desc,
#endif
};
#undef CALL
#undef CALL_ALONE

#define FILL_ROW_WORK(name) \
	ret_rows[TAP_##name] = (struct tap_cuda_row) { \
		.on = {&lttng_ust_tracepoint_cuda___##name.state, \
		       &lttng_ust_tracepoint_cuda___##name.state}, \
		.write = write_##name, \
	};
#define FILL_ROW_WAIT(name)
#define FILL_ROW_SETUP(name)
#define FILL_ROW_CAPTURE(name)
#define FILL_ROW_CAPTURED(name)
#define FILL_ROW_UNLOAD(name)
#define CALL_ALONE(since, class, does, api, name, ...) FILL_ROW_##class(name)
#define CALL(since, class, does, api, name, variant, ...) FILL_ROW_##class(name)
void tap_tp_cuda_hot_fill(struct tap_cuda_row *ret_rows)
{
#include TAP_CUDA_ROWS
}
/* clang-format on */

#ifndef TAP_HIP
void tap_tp_nccl_args_fill(struct tap_cuda_events *ret_events)
{
	ret_events->nccl_args_on = &lttng_ust_tracepoint_cuda___nccl_args.state;
	ret_events->nccl_args = write_nccl_args;
}
#endif

TAP_PACKED_PROVIDER(cuda)
