/* SPDX-License-Identifier: MIT */
/*
 * Passes every event of these libraries through the gate (common/gate.h).  It hides that
 * all of LTTng's macros that write an event end in the one that is redefined here.  To be
 * included after LTTng's headers.
 */
#ifndef TAP_TRACEPOINTS_THROUGH_GATE_H
#define TAP_TRACEPOINTS_THROUGH_GATE_H

#include "common/gate.h"

/* Each library has one, set before its first event. */
extern struct tap_gate *tap_tp_gate tap_hidden;

/* clang-format off */
#undef lttng_ust_do_tracepoint
#define lttng_ust_do_tracepoint(provider, name, ...) \
	do { \
		uint32_t *const tap_nr_events = tap_gate_enter(tap_tp_gate); \
		if (likely(tap_nr_events)) { \
			lttng_ust_tracepoint_cb_##provider##___##name(__VA_ARGS__); \
			tap_gate_leave(tap_tp_gate, tap_nr_events); \
		} \
	} while (0)
/* clang-format on */

#endif
