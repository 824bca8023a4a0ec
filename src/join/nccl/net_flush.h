/* SPDX-License-Identifier: MIT */
/*
 * Links each flush, the read by which NCCL's receiver makes sure that a message's data
 * has arrived, to its message.
 *
 * A flush names no message, but it reads at a message's address.  Hides which messages
 * are kept for that, how long a flush waits, and when its message is ambiguous.
 */
#ifndef TAP_JOIN_NCCL_NET_FLUSH_H
#define TAP_JOIN_NCCL_NET_FLUSH_H

#include <stddef.h>
#include <stdint.h>

struct tap_net;
struct tap_net_flushes;
struct tap_rdma_list;
struct tap_context;

/* Notes that a message is incomplete. */
void tap_net_flush_lost(struct tap_net *net, uint64_t number);

/* Each returns 0 or -errno. */

int tap_net_flush_add(struct tap_context *context, struct tap_net *net,
		      const struct tap_rdma_list *list);
/*
 * Notes that a message was received completely; address is that of its last request's
 * data, 0: none.
 */
int tap_net_flush_received(struct tap_context *context, struct tap_net *net,
			   uint64_t number, uint64_t address, int64_t received_ns);
/* Call after the last message: takes the flushes that still wait. */
int tap_net_flush_finish(struct tap_context *context, struct tap_net *net);

void tap_net_flush_free(struct tap_net_flushes *flushes);

#endif
