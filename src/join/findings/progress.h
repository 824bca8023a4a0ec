/* SPDX-License-Identifier: MIT */
/*
 * How far the messages of each connection have come: announced by the receiver, posted by
 * the sender, arrived, done.  Where a job hangs it tells on which side of which connection
 * to look, or that the network is not the reason.
 *
 * Hides how the counts are taken from the spans of both sides, and in which stage a
 * connection stands.
 */
#ifndef TAP_JOIN_FINDINGS_PROGRESS_H
#define TAP_JOIN_FINDINGS_PROGRESS_H

#include "join/findings/analysis.h"

struct tap_progress;

/* A connection goes one way.  Each count is of messages that have passed that stage. */
struct tap_progress_connection {
	const struct tap_process *from, *to;
	uint64_t from_id, to_id; /* of the connection in either process */
	bool is_socket;		 /* a stream: nobody announces, nobody confirms */
	int64_t channel;	 /* that it is for, -1 unknown */
	bool is_channel_inferred;
	uint64_t announced;	 /* the receiver has said where they may go */
	uint64_t posted;
	uint64_t arrived; /* as the receiver has seen */
	uint64_t sent;	  /* as the sender has seen */
	uint64_t lost;	  /* the trace does not tell how far these have come */
};

/* How many messages have certainly reached the receiver's host. */
uint64_t tap_progress_delivered(const struct tap_progress_connection *connection);

/* The connections in the order in which they appeared; returns how many. */
size_t tap_progress_connections(const struct tap_progress *progress,
				struct tap_progress_connection *const **ret_connections);

/* That of the findings, which own it. */
const struct tap_progress *tap_findings_progress(const struct tap_findings *findings);

extern const struct tap_analysis tap_progress_analysis;

#endif
