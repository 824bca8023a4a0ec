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
#include "join/rdma/observer.h"

#include <stddef.h>

struct tap_net;
struct tap_net_message;
struct tap_net_piece;
struct tap_verbs;

/* What a work request is for. */
enum tap_net_role {
	TAP_NET_NONE,
	TAP_NET_CTS,
	TAP_NET_DATA,	  /* a write */
	TAP_NET_DATA_IMM, /* the last, with a number */
	TAP_NET_SIZES,	  /* the last of several requests: how long each is */
	TAP_NET_FLUSH,
	TAP_NET_RECEIVE,
};

struct tap_netib {
	struct tap_context *context; /* first: layer.h */
	struct tap_verbs *verbs;     /* whose requests they are */
	struct tap_rdma_observer observer;
	struct tap_table by_owner; /* connections by (process, owner) */
	struct tap_net *all;
	struct tap_table processes;  /* by number */
	struct tap_table arrivals;   /* parts by (receiver's life, ordinal) */
	struct tap_table departures; /* the same by (sender's life, ordinal) */
	struct tap_net_message *oldest, *newest, *free_messages;
	struct tap_net_piece *free_pieces;
	size_t open; /* messages */
	size_t held; /* parts that have none */
};

extern const struct tap_layer tap_netib_layer;

/* Both live as long; before the first event. */
void tap_netib_observe(struct tap_netib *netib, struct tap_verbs *verbs);

#endif
