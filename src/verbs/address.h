/* SPDX-License-Identifier: MIT */
/*
 * The addresses of the program's own ports, by which the reader finds the receiver of a
 * datagram.
 *
 * It hides how the tracer keeps them for a recording that starts late: a state dump must
 * not query a device.
 */
#ifndef TAP_VERBS_ADDRESS_H
#define TAP_VERBS_ADDRESS_H

#include "tracepoints/verbs_events.h"
#include "verbs/table.h"

/* Both keep what the tracer learned and, when events is not NULL, emit it. */
void tap_port_learned(const struct tap_verbs_events *events,
		      const struct tap_verbs_port *port) tap_hidden;
void tap_gid_learned(const struct tap_verbs_events *events,
		     const struct tap_verbs_port_gid *gid) tap_hidden;

/* Forgets the ports and GIDs of a context that was closed. */
void tap_addresses_forget(uint32_t context_id) tap_hidden;

/* The caller holds the lock of the tables. */
void tap_addresses_write_statedump(const struct tap_verbs_events *events) tap_hidden;

#endif
