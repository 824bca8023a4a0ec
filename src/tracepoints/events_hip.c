/* SPDX-License-Identifier: MIT */
/* The only exported symbol of libccltap-events-hip.so. */
#include "common/compiler.h"
#include "tracepoints/events.h"
#include "tracepoints/providers.h"

struct tap_gate *tap_tp_gate;

static void fill(struct tap_cuda_row *ret_rows, struct tap_gate *gate)
{
	tap_tp_gate = gate;
	tap_tp_cuda_fill(ret_rows);
	tap_tp_cuda_hot_fill(ret_rows);
}

extern const struct tap_hip_events tap_hip_events tap_exported;

const struct tap_hip_events tap_hip_events = {
	.version = TAP_EVENTS_VERSION,
	.fill = fill,
};
