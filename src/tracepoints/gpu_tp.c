/* SPDX-License-Identifier: MIT */
/* Instantiates the provider "gpu", but for the events of what ran. */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/gpu_tp.h"

#include "tracepoints/providers.h"

static void name(uint64_t number, const char *text, bool is_statedump)
{
	if (is_statedump)
		lttng_ust_tracepoint(gpu, statedump_name, number, text);
	else
		lttng_ust_tracepoint(gpu, name, number, text);
}

static void owner(const struct tap_gpu_owner *o, bool is_statedump)
{
	if (is_statedump)
		lttng_ust_tracepoint(gpu, statedump_owner, o);
	else
		lttng_ust_tracepoint(gpu, owner, o);
}

static void emit_clock(const struct tap_gpu_clock *c)
{
	lttng_ust_tracepoint(gpu, clock, c);
}

static void lost(const char *what, uint64_t count)
{
	lttng_ust_tracepoint(gpu, lost, what, count);
}

void tap_tp_gpu_fill(struct tap_gpu_events *ret_events)
{
	*ret_events = (struct tap_gpu_events){
		.name = name,
		.owner = owner,
		.clock = emit_clock,
		.lost = lost,
	};
	tap_tp_gpu_hot_fill(ret_events);
}
