/* SPDX-License-Identifier: MIT */
/*
 * The tracepoints of the packed events of the provider "verbs": only their names, since
 * rows describe their fields (verbs_hot_tp.c).
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER verbs
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/verbs_hot_tp.h"

#if !defined(TAP_TRACEPOINTS_VERBS_HOT_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_VERBS_HOT_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/packed.h"
#include "tracepoints/verbs_events.h"

/* clang-format off */
#define TAP_VERBS_HOT_POINT(name, ROW) \
	LTTNG_UST_TRACEPOINT_EVENT(verbs, name, TAP_PACKED_ARGS, )
TAP_VERBS_HOT(TAP_VERBS_HOT_POINT)
/* clang-format on */

#endif
