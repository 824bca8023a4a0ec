/* SPDX-License-Identifier: MIT */
/*
 * What check says of NCCL's connections: over which transports they go, which of these
 * leave no trace, and of how many connections the channel is known.
 *
 * Hides that a transport without traffic that can be seen is no defect of the trace.
 */
#ifndef TAP_JOIN_REPORT_CHECK_CONNECTIONS_H
#define TAP_JOIN_REPORT_CHECK_CONNECTIONS_H

#include "join/base/json.h"
#include "join/model/nccl_connection.h"

/* All zero is empty. */
struct tap_check_connections {
	struct tap_transport_ends {
		uint64_t ends;
		uint64_t known[TAP_KNOWN_INFERRED + 1]; /* channels */
		uint64_t whys[TAP_WHY_COUNT];		/* of the others */
	} of[TAP_TRANSPORTS];
};

void tap_check_connections_add(struct tap_check_connections *connections,
			       const struct tap_nccl_connection *connection);

/* A line for each transport that there is; "connections":[...], if there are any. */
void tap_check_connections_text(const struct tap_check_connections *connections,
				struct tap_buffer *line);
void tap_check_connections_json(const struct tap_check_connections *connections,
				struct tap_json *json);

#endif
