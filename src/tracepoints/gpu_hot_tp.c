/* SPDX-License-Identifier: MIT */
/* The events of the provider "gpu" for what ran on a GPU, each described by its row. */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/gpu_hot_tp.h"

#include "tracepoints/providers.h"

static const struct lttng_ust_probe_desc provider;
static const int debug = LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG;
static const int *level = &debug;

/* clang-format off */
#define DESCRIBE(name, ROW) TAP_PACKED_EVENT(name, tap_gpu_##name, ROW, provider, &level)
TAP_GPU_HOT(DESCRIBE)

#define DESC(name, ROW) &name##_desc,
static const struct lttng_ust_event_desc *const events[] = { TAP_GPU_HOT(DESC) };

#define WRITE(name, ROW) \
	static void write_##name(const void *record, size_t length) \
	{ \
		lttng_ust_do_tracepoint(gpu, name, &name##_class, record, length); \
	}
TAP_GPU_HOT(WRITE)

#define FILL(name, ROW) \
	ret_events->on[TAP_GPU_##name] = &lttng_ust_tracepoint_gpu___##name.state; \
	ret_events->write[TAP_GPU_##name] = write_##name;
void tap_tp_gpu_hot_fill(struct tap_gpu_events *ret_events)
{
	TAP_GPU_HOT(FILL)
}
/* clang-format on */

TAP_PACKED_PROVIDER(gpu)
