/* SPDX-License-Identifier: MIT */
/*
 * What NCCL's network code for InfiniBand and RoCE (NET/IB) does with queue pairs, seen
 * without its help: the receiver tells that it is ready, in a write to the sender's
 * memory (clear to send, CTS); the sender writes the data, the last piece on each queue
 * pair with a number; the receiver may read one byte back, which flushes.
 *
 * A connection is known by its first CTS: a write between two regions of a size that only
 * some release has, at the same place in both, of whole entries, after empty receives.
 * All that follows must fit, else nothing of the connection is named any more.
 *
 * Messages find their parts by ordinals alone: a CTS stands for the receives that were
 * posted since the one before, and each of these is used up by the request of the peer
 * that has its ordinal.  Where receives are posted beforehand, wr_id tells the slot.
 * Hides all of that, the layouts of releases, and what waits for its other part, which is
 * bounded.
 */
#ifndef TAP_JOIN_NCCL_NETIB_H
#define TAP_JOIN_NCCL_NETIB_H

#include "join/base/table.h"
#include "join/model/layer.h"
#include "join/nccl/net_match.h"
#include "join/rdma/observer.h"

struct tap_memory;

struct tap_netib {
	struct tap_context *context; /* first: layer.h */
	/* Of rdma, what a connection is known by. */
	const struct tap_qps *qps;
	const struct tap_memory *memory;
	struct tap_rdma_observer observer;
	struct tap_table by_owner; /* connections by (process, owner) */
	struct tap_net *all;
	struct tap_table processes; /* by number */

	/* Each of the file of its name. */
	struct tap_net_pieces pieces;
	struct tap_net_messages messages;
	struct tap_net_match match;
};

extern const struct tap_layer tap_netib_layer;

#endif
