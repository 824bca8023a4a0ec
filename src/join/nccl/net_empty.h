/* SPDX-License-Identifier: MIT */
/*
 * What ranks send each other without bytes over connections that several share.  Such a
 * message comes from nobody's memory, so whose it is follows from what is known of
 * others.
 *
 * NCCL sends all that one rank has for another one without bytes over the first channel
 * of the two (NCCL 2.18.3 to 2.30.7, enqueue.cc: scheduleP2pTasksToPlan, addP2pToPlan),
 * one message for each send, and over the same what is too little to be divided.  So what
 * is found on one connection is on no other, and a kernel whose sends are all found has
 * no more.
 *
 * Hides that of each two ranks only the latest kernels are kept, and that two connections
 * for the same contradict each other: then nothing is concluded.
 */
#ifndef TAP_JOIN_NCCL_NET_EMPTY_H
#define TAP_JOIN_NCCL_NET_EMPTY_H

#include "join/base/table.h"
#include "join/nccl/candidate.h"

/* Empty when all zero. */
struct tap_net_empties {
	struct tap_table pairs; /* by the two ranks */
};

/*
 * Notes that the connection has what is not divided between the ranks; sends: where it is
 * a message without bytes, with this number there, those of its kernel between them, NULL
 * not known.  Returns 0 or -ENOMEM.
 */
int tap_net_empties_add(struct tap_net_empties *empties,
			const struct tap_ranks_ops *ranks,
			const struct tap_rank_pair *pair, uint64_t connection,
			const struct tap_op_kernel *sends, uint64_t number);

/* Whether the connection may have such messages of these ranks. */
bool tap_net_empties_may_be_on(const struct tap_net_empties *empties,
			       const struct tap_rank_pair *pair, uint64_t connection);

/* Whether all that the candidate's kernel sends between the ranks without bytes is found.
 */
bool tap_net_empties_are_found(const struct tap_net_empties *empties,
			       const struct tap_rank_pair *pair,
			       const struct tap_candidate *candidate);

/*
 * Bounds the sends of which a message with this number may be: where a kernel has all of
 * its own, a later one is of a later kernel, and an earlier one of an earlier kernel.
 */
void tap_net_empties_bound(const struct tap_net_empties *empties,
			   const struct tap_rank_pair *pair, uint64_t number,
			   struct tap_message_facts *facts);

void tap_net_empties_free(struct tap_net_empties *empties);

#endif
