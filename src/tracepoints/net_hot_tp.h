/* SPDX-License-Identifier: MIT */
/*
 * The tracepoints of the packed events of the provider "net": only their names, since
 * rows describe their fields (net_hot_tp.c).
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER net
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/net_hot_tp.h"

#if !defined(TAP_TRACEPOINTS_NET_HOT_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_NET_HOT_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/packed.h"
#include "tracepoints/net_events.h"

/* clang-format off */
#define TAP_NET_HOT_POINT(name, ROW) \
	LTTNG_UST_TRACEPOINT_EVENT(net, name, TAP_PACKED_ARGS, )
TAP_NET_HOT(TAP_NET_HOT_POINT)
/* clang-format on */

#endif
