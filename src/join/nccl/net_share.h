/* SPDX-License-Identifier: MIT */
/*
 * The ranks that a message of NET/IB was posted for.  With PXN one rank posts for others
 * of its node, and what several of them send to one rank on one channel may go over one
 * connection, as requests of one message too (NCCL_NET_SHARED_COMMS).  Each rank's data
 * lie in memory that the poster's service thread has registered for this rank
 * (NCCL 2.28.9, transport/net.cc: sharedNetBuffersInit, sendProxyConnect), so their
 * addresses tell them apart.
 *
 * Of each rank the requests are numbered by themselves, since they alone are in the order
 * of its kernels.  A request of no bytes comes from nowhere: where several ranks use the
 * connection it may be of any, has no such number, and is a part by itself.  Hides how
 * these numbers go on where messages are missing.
 */
#ifndef TAP_JOIN_NCCL_NET_SHARE_H
#define TAP_JOIN_NCCL_NET_SHARE_H

#include "join/nccl/net_message.h"

struct tap_context;

/* Numbers of a rank differ by no less where some may be missing in between. */
#define TAP_NET_SHARE_GAP (UINT64_C(1) << 32)

/*
 * Finds the parts of a message whose posts are known; calls are in the order of messages.
 * Returns 0 or -ENOMEM.
 */
int tap_net_share_split(const struct tap_context *context,
			struct tap_net_message *message);
void tap_net_shares_free(struct tap_net_shares *shares);

#endif
