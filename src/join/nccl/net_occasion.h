/* SPDX-License-Identifier: MIT */
/*
 * For which kind of operations NCCL makes a connection, where nobody says that: it
 * connects for sends and receives, and since 2.22 for collectives, in the call that asks
 * for the first such one, which returns when that is done, and each kind has connections
 * of its own (NCCL 2.28.9, group.cc: ncclP2PPreconnectFunc, ncclCollPreconnectFunc;
 * transport.cc: ncclTransportP2pSetup).  So what is made while only calls for collectives
 * are open in the process is for these, and likewise of sends and receives, and of what
 * is made of them.
 *
 * Hides which calls are open, and that the kinds of a group are those of the calls in it.
 * Nothing is said while any other call is open that may connect, as those that make a
 * communicator, nor where a call may return before its work is done.
 */
#ifndef TAP_JOIN_NCCL_NET_OCCASION_H
#define TAP_JOIN_NCCL_NET_OCCASION_H

#include "join/base/table.h"
#include "join/model/layer.h"

struct tap_net_occasions {
	struct tap_context *context; /* first: layer.h */
	struct tap_table processes;
	struct tap_table threads; /* by (process, thread) */
};

extern const struct tap_layer tap_net_occasions_layer;

/*
 * The connection index of what the process made at this time: 0 for collectives, 1 for
 * sends and receives, -1 unknown.
 */
int64_t tap_net_occasion_index(const struct tap_net_occasions *occasions,
			       const struct tap_process *process, int64_t time_ns);

#endif
