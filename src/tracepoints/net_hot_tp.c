/* SPDX-License-Identifier: MIT */
/* The hot events of the provider "net", each described by its row. */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/net_hot_tp.h"

#include "tracepoints/providers.h"

static const struct lttng_ust_probe_desc provider;
static const int debug = LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG;
static const int *level = &debug;

/* clang-format off */
#define DESCRIBE(name, ROW) TAP_PACKED_EVENT(name, tap_net_##name, ROW, provider, &level)
TAP_NET_HOT(DESCRIBE)

#define DESC(name, ROW) &name##_desc,
static const struct lttng_ust_event_desc *const events[] = { TAP_NET_HOT(DESC) };

#define WRITE(name, ROW) \
	static void write_##name(const void *record, size_t length) \
	{ \
		lttng_ust_do_tracepoint(net, name, &name##_class, record, length); \
	}
TAP_NET_HOT(WRITE)

#define FILL(name, ROW) \
	ret_events->on[TAP_NET_HOT_##name] = &lttng_ust_tracepoint_net___##name.state; \
	ret_events->write[TAP_NET_HOT_##name] = write_##name;
void tap_tp_net_hot_fill(struct tap_net_events *ret_events)
{
	TAP_NET_HOT(FILL)
}
/* clang-format on */

TAP_PACKED_PROVIDER(net)
