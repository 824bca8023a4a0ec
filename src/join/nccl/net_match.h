/* SPDX-License-Identifier: MIT */
/*
 * Matches pieces to messages, until a message has completed at both ends.
 *
 * Hides how pieces wait for their message, that a message which lacks a piece does not
 * affect others, and that nothing of a connection is emitted before one of its messages
 * has fit.
 */
#ifndef TAP_JOIN_NCCL_NET_MATCH_H
#define TAP_JOIN_NCCL_NET_MATCH_H

#include "join/model/context.h"
#include "join/nccl/net_message.h"

/* The modules that matching uses; the owner sets them. */
struct tap_net_match {
	struct tap_context *context;
	const struct tap_qps *qps;
	struct tap_net_pieces *pieces;
	struct tap_net_messages *messages;
};

/* Notes a contradiction to NCCL's protocol: nothing of the connection is NCCL's. */
void tap_net_refute(struct tap_net *net);
/* Counts a message that cannot be matched. */
void tap_net_unmatched(const struct tap_net_match *match, struct tap_net *net,
		       uint64_t number, enum tap_why why);
/* The message of receive `ordinal`, or of the request that uses it up; 0: unknown. */
uint64_t tap_net_match_number(const struct tap_net_match *match,
			      const struct tap_generation *generation, uint64_t ordinal,
			      bool is_receive);

/* Each returns 0 or -errno. */

/* Takes a CTS for this many requests; the pending receives belong to it. */
int tap_net_match_cts(const struct tap_net_match *match, struct tap_net *net,
		      const struct tap_rdma_list *cts, unsigned int requests);
/* Takes posted data, and sets *number where its message is known. */
int tap_net_match_post(const struct tap_net_match *match, struct tap_net *net,
		       const struct tap_rdma_list *list, uint64_t *number);
/* Notes that a data request has completed; it uses up the peer's receive `ordinal`. */
int tap_net_match_sent(const struct tap_net_match *match,
		       const struct tap_generation *generation, uint64_t ordinal,
		       int64_t time_ns, uint64_t status);
/* Notes that the receive `ordinal` has completed. */
int tap_net_match_received(const struct tap_net_match *match, struct tap_net *net,
			   struct tap_generation *generation, uint64_t ordinal,
			   int64_t time_ns, uint32_t imm_data);
/* Call when the peer of a sender has become known: matches the pieces held. */
int tap_net_match_retry(const struct tap_net_match *match, struct tap_net *net);
/* Call after the last event: closes the message that pieces were joining. */
int tap_net_match_close(const struct tap_net_match *match, struct tap_net *net);
/* Call when all are closed: ends and emits the messages that are left. */
int tap_net_match_finish(const struct tap_net_match *match, struct tap_net *net);

#endif
