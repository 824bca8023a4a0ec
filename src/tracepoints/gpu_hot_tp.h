/* SPDX-License-Identifier: MIT */
/*
 * The tracepoints of the packed events of the provider "gpu": only their names, since
 * rows describe their fields (gpu_hot_tp.c).
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gpu
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/gpu_hot_tp.h"

#if !defined(TAP_TRACEPOINTS_GPU_HOT_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_GPU_HOT_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/packed.h"
#include "tracepoints/gpu_events.h"

/* clang-format off */
#define TAP_GPU_HOT_POINT(name, ROW) \
	LTTNG_UST_TRACEPOINT_EVENT(gpu, name, TAP_PACKED_ARGS, )
TAP_GPU_HOT(TAP_GPU_HOT_POINT)
/* clang-format on */

#endif
