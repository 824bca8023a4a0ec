/* SPDX-License-Identifier: MIT */
/*
 * Finds the kernels of messages that times leave open, by the bytes that each operation
 * has one rank send another one over all connections of the two (net_fit.h).  A sum does
 * not depend on how NCCL divides data, as the sizes of single messages do.
 *
 * Of collectives the sums are those of a ring: a broadcast and a reduce send all their
 * data to the next rank, but not to, and not from, the root; all-gather and
 * reduce-scatter what is of all ranks but one.  What all-reduce sends depends on its
 * chunks, and what a group's operations send is not summed: they may have any bytes, and
 * so what the sums of others leave over.  There a sum counts only if that of the same
 * function, and of no fewer bytes, has been right for the two ranks: where all operations
 * that messages join have sums, or all messages of one are ascribed, and none of them
 * was left over itself.  Where any operation has another sum, the connections are not
 * those of a ring, and nothing more is said of them.
 *
 * Hides which connections are those of two ranks, and when one of them is too little
 * known.
 */
#ifndef TAP_JOIN_NCCL_NET_TOTAL_H
#define TAP_JOIN_NCCL_NET_TOTAL_H

#include "join/nccl/net_ledger.h"
#include "join/nccl/net_route.h"
#include "join/nccl/net_serving.h"

struct tap_total_op;
struct tap_total_message;
struct tap_total_doubt;

/* Empty when all zero; the owner keeps it for the next search. */
struct tap_net_totals {
	struct tap_net_ledger ledger; /* of what is ascribed; the owner fills it */
	TAP_VEC(struct tap_net_route *) lanes;
	TAP_VEC(struct tap_total_op) ops;
	TAP_VEC(struct tap_total_message) messages;
	TAP_VEC(struct tap_total_doubt) doubts;
	TAP_VEC(struct tap_fit_op) fit_ops;
	TAP_VEC(struct tap_fit_message) fit_messages;
	TAP_VEC(struct tap_served) found;
};

/*
 * Fills totals->found with what is found of the messages of all connections of the two
 * ranks that this one is of; the sender's are those that the owner has noted at it.
 * Returns 0 or -ENOMEM.
 */
int tap_net_totals_find(struct tap_net_totals *totals, struct tap_serving *serving,
			const struct tap_candidate_world *world,
			const struct tap_net_route *route);

void tap_net_totals_free(struct tap_net_totals *totals);

#endif
