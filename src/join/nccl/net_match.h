/* SPDX-License-Identifier: MIT */
/*
 * Messages and pieces find each other, until all has completed at both ends.
 *
 * Hides how pieces wait for their message, that one that lacks a piece costs no other,
 * and that nothing is emitted of a connection before one message of it has fit.
 */
#ifndef TAP_JOIN_NCCL_NET_MATCH_H
#define TAP_JOIN_NCCL_NET_MATCH_H

#include "join/model/context.h"
#include "join/nccl/net_message.h"

/* Of whom that needs.  Set by the owner. */
struct tap_net_match {
	struct tap_context *context;
	const struct tap_qps *qps;
	struct tap_net_pieces *pieces;
	struct tap_net_messages *messages;
};

/* Something is not as NCCL does it: nothing of the connection is NCCL's. */
void tap_net_refute(struct tap_net *net);
/* Of a message nothing more is known. */
void tap_net_unmatched(const struct tap_net_match *match, struct tap_net *net,
		       uint64_t number, enum tap_why why);
/* Which message the receive of this ordinal is of, or what uses it up; 0 unknown. */
uint64_t tap_net_match_number(const struct tap_net_match *match,
			      const struct tap_generation *generation, uint64_t ordinal,
			      bool is_receive);

/* Each returns 0 or -errno. */

/* A CTS for so many requests; the pending receives are its. */
int tap_net_match_cts(const struct tap_net_match *match, struct tap_net *net,
		      const struct tap_rdma_list *cts, unsigned int requests);
/* Data is posted.  Which message it is of, or 0. */
int tap_net_match_post(const struct tap_net_match *match, struct tap_net *net,
		       const struct tap_rdma_list *list, uint64_t *number);
/* A request of data that uses up this receive of the peer has completed. */
int tap_net_match_sent(const struct tap_net_match *match,
		       const struct tap_generation *generation, uint64_t ordinal,
		       int64_t time_ns, uint64_t status);
/* The receive of this ordinal has completed. */
int tap_net_match_received(const struct tap_net_match *match, struct tap_net *net,
			   struct tap_generation *generation, uint64_t ordinal,
			   int64_t time_ns, uint32_t imm_data);
/* What of a peer was held may have a message now. */
int tap_net_match_retry(const struct tap_net_match *match, struct tap_net *net);
/* All events are over: nothing more is posted; */
int tap_net_match_close(const struct tap_net_match *match, struct tap_net *net);
/* and when all are closed, what lacks something is emitted. */
int tap_net_match_finish(const struct tap_net_match *match, struct tap_net *net);

#endif
