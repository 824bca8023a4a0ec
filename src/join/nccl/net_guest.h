/* SPDX-License-Identifier: MIT */
/*
 * Which processes may post for other ranks of their node (PXN), without what NCCL's
 * service threads are asked for: several ranks connect to such a thread.  A service
 * thread listens where it accepts first; its own rank connects first, with the
 * communicator, and then each one for which it is to post (NCCL 2.28.9, init.cc:
 * initTransportsRank; proxy.cc: ncclProxyConnect).  The same thread makes the connections
 * that are asked for there, so that of each it is known whether it can be another rank's.
 *
 * Hides which accepted sockets tell that, and which threads are known to be such.
 */
#ifndef TAP_JOIN_NCCL_NET_GUEST_H
#define TAP_JOIN_NCCL_NET_GUEST_H

#include "join/base/table.h"
#include "join/model/layer.h"

struct tap_net_guest_service;

struct tap_net_guests {
	struct tap_context *context; /* first: layer.h */
	struct tap_net_guest_service *all;
	struct tap_table services; /* the latest that accept, by (process, thread) */
	struct tap_table posters;  /* the first that served several ranks, by process */
};

/* Who made a connection. */
struct tap_net_maker {
	const struct tap_process *process;
	int64_t tid;	 /* of the thread, -1 unknown */
	int64_t made_ns; /* when that was; INT64_MIN unknown */
	int64_t index;	 /* of the connection, by what was called then; -1 unknown */
};

extern const struct tap_layer tap_net_guests_layer;

/*
 * Whether several ranks had connected to the service thread that made a connection before
 * that, so that it may be for one of the others.  Where it is not known to be a service
 * thread that was recorded from its beginning, it is any of the process.
 */
bool tap_net_guests_may_own(struct tap_net_guests *guests,
			    const struct tap_net_maker *maker);
/* Whether they had at any time, so that others may have come to share it. */
bool tap_net_guests_may_share(struct tap_net_guests *guests,
			      const struct tap_net_maker *maker);

#endif
