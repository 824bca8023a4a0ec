/* SPDX-License-Identifier: MIT */
/*
 * Recognises what NCCL's network code for InfiniBand and RoCE (NET/IB) does with queue
 * pairs, without help from NCCL: the receiver reports that it is ready by a write to the
 * sender's memory (clear to send, CTS); the sender writes the data, the last piece on
 * each queue pair with immediate data; the receiver may read one byte back to flush.
 *
 * The first CTS identifies a connection: a write of whole entries between two regions of
 * a size that only an NCCL release uses, at the same offset in both, after empty
 * receives.  All that follows must fit; otherwise the reader stops naming the
 * connection's requests.
 *
 * Ordinals alone match the parts of a message: a CTS stands for the receives posted since
 * the CTS before it, and the peer's request with the same ordinal uses up each of these.
 * Where receives are posted ahead of the CTS, wr_id names the slot.  Hides this protocol,
 * the layouts of NCCL releases, and the parts that wait for each other; their number is
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
	/* Of rdma: what identifies a connection. */
	const struct tap_qps *qps;
	const struct tap_memory *memory;
	struct tap_rdma_observer observer;
	struct tap_table by_owner; /* connections by (process, owner) */
	struct tap_net *all;
	struct tap_table processes; /* by number */

	/* Each belongs to the file of its name. */
	struct tap_net_pieces pieces;
	struct tap_net_messages messages;
	struct tap_net_match match;
};

extern const struct tap_layer tap_netib_layer;

/* The next number of a connection of a process; 0: memory is short. */
uint64_t tap_netib_new_id(struct tap_netib *netib, const struct tap_process *process);

#endif
