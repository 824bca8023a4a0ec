/* SPDX-License-Identifier: MIT */
/*
 * Which processes may post for other ranks of their node (PXN), without what NCCL's service
 * threads are asked for: several ranks connect to such a thread.  A service thread listens
 * where it accepts first; its own rank connects first, with the communicator, and then
 * each one for which it is to post (NCCL 2.28.9, init.cc: initTransportsRank; proxy.cc:
 * ncclProxyConnect).
 *
 * Hides which accepted sockets tell that.
 */
#ifndef TAP_JOIN_NCCL_NET_GUEST_H
#define TAP_JOIN_NCCL_NET_GUEST_H

#include "join/base/table.h"
#include "join/model/layer.h"

struct tap_net_guests {
	struct tap_context *context; /* first: layer.h */
	struct tap_table services;   /* threads that accept, by (process, thread) */
	struct tap_table posters;    /* the first that served several ranks, by process */
};

extern const struct tap_layer tap_net_guests_layer;

/*
 * Whether several ranks had connected to a service thread of the process before this time
 * (INT64_MIN: at any time).
 */
bool tap_net_guests_are_there(const struct tap_net_guests *guests,
			      const struct tap_process *process, int64_t time_ns);

#endif
