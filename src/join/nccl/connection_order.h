/* SPDX-License-Identifier: MIT */
/*
 * Which channel a connection is for, by the order in which the sender connects: NCCL does
 * so in the order of channels (NCCL 2.28.9, transport.cc: ncclTransportP2pSetup), so the
 * k-th connection of collectives to a peer is of channel k, if the peer is on all
 * channels.  The receiver accepts in any order.  For sends and receives NCCL rounds the
 * number of channels up to a power of two, and divides them among peers (graph/paths.cc:
 * ncclTopoComputeP2pChannels): those of a peer are in the same order where it has all.
 *
 * Hides when that is believed: no event is missing, no kernel uses a tree, and at both
 * ends as many are used as NCCL's kernels have channels.
 */
#ifndef TAP_JOIN_NCCL_CONNECTION_ORDER_H
#define TAP_JOIN_NCCL_CONNECTION_ORDER_H

#include "join/model/nccl_connection.h"

#include <stddef.h>

struct tap_net_client;

/* What a connection may be for. */
enum tap_connection_use {
	TAP_CONNECTION_ANY,
	TAP_CONNECTION_COLLECTIVES,
	/* Those for collectives were made first, and others for sends and receives. */
	TAP_CONNECTION_FIRST,
	TAP_CONNECTION_TRANSFERS, /* sends and receives */
};

/* What one end shows of its use. */
struct tap_connection_end {
	struct tap_nccl_connection about;
	const uint64_t *messages; /* that are whole, or NULL */
	int64_t tid;		  /* of the thread that made it, -1 unknown */
	/* Of a sender: when it connected, among the process's of this transport; 0
	 * unknown */
	uint64_t ordinal;
	/*
	 * Of a sender: whom its process made it for, NULL unknown, and whether that may
	 * be another rank than its own.
	 */
	const struct tap_net_client *client;
	bool may_be_others;
	bool is_used;
	enum tap_connection_use use;
	bool has_trees;	   /* which are connected by themselves, not on all channels */
	bool has_children; /* which may connect some channels first */
	/* Of the kernels in the process, of collectives and others; 0 unknown. */
	uint64_t channels, transfer_channels;
	struct tap_connection_end *other; /* NULL unknown */
	/* Of connection_order.c: those of the same thread, direction and other thread. */
	struct tap_connection_end *const *group;
	size_t group_count;
};

/*
 * Sets channel, index and known of those that are not known, or why.  Sorts the ends by
 * process, transport, direction and peer.  is_whole: no event is missing.
 */
void tap_connection_order(struct tap_connection_end **ends, size_t count, bool is_whole);

#endif
