/* SPDX-License-Identifier: MIT */
/*
 * The addresses of the program's own ports, which the receiver of a datagram is found by.
 *
 * It hides how they are kept for a recording that starts late: whoever writes state must
 * not ask a device.
 */
#ifndef TAP_VERBS_ADDRESS_H
#define TAP_VERBS_ADDRESS_H

#include "tracepoints/verbs_events.h"
#include "verbs/table.h"

/* What was learned: it is told, where events is not NULL, and kept. */
void tap_port_learned(const struct tap_verbs_events *events,
		      const struct tap_verbs_port *port) tap_hidden;
void tap_gid_learned(const struct tap_verbs_events *events,
		     const struct tap_verbs_port_gid *gid) tap_hidden;

/* A context was closed. */
void tap_addresses_forget(uint32_t context_id) tap_hidden;

/* Under the lock of the tables. */
void tap_addresses_write_statedump(const struct tap_verbs_events *events) tap_hidden;

#endif
