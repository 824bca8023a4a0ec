/* SPDX-License-Identifier: MIT */
/*
 * The tracepoints of the packed events of the provider "cuda": only their names, since
 * rows describe their fields (cuda_hot_tp.c).
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER cuda
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/cuda_hot_tp.h"

#if !defined(TAP_TRACEPOINTS_CUDA_HOT_TP_H) || \
	defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_CUDA_HOT_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/cuda_events.h"
#include "tracepoints/packed.h"

/* clang-format off */
#define TAP_CUDA_POINT_WORK(name) LTTNG_UST_TRACEPOINT_EVENT(cuda, name, TAP_PACKED_ARGS, )
#define TAP_CUDA_POINT_WAIT(name)
#define TAP_CUDA_POINT_SETUP(name)
#define TAP_CUDA_POINT_CAPTURE(name)
#define TAP_CUDA_POINT_CAPTURED(name)
#define TAP_CUDA_POINT_UNLOAD(name)
#define CALL_ALONE(since, class, does, api, name, ...) TAP_CUDA_POINT_##class(name)
#define CALL(since, class, does, api, name, variant, ...) TAP_CUDA_POINT_##class(name)
#include TAP_CUDA_ROWS
#undef CALL
#undef CALL_ALONE
#ifndef TAP_HIP
LTTNG_UST_TRACEPOINT_EVENT(cuda, nccl_args, TAP_PACKED_ARGS, )
#endif
/* clang-format on */

#endif
