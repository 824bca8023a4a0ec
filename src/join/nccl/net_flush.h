/* SPDX-License-Identifier: MIT */
/*
 * The reads by which NCCL's receiver makes sure that a message's data is there, each
 * linked to its message.
 *
 * Nothing in a flush names a message, but it reads at the address of one.  Hides which
 * messages are kept for that, how long a flush waits, and when it may be of another.
 */
#ifndef TAP_JOIN_NCCL_NET_FLUSH_H
#define TAP_JOIN_NCCL_NET_FLUSH_H

#include <stddef.h>
#include <stdint.h>

struct tap_net;
struct tap_net_flushes;
struct tap_rdma_list;
struct tap_context;

/* A message lacks something. */
void tap_net_flush_lost(struct tap_net *net, uint64_t number);

/* Each returns 0 or -errno. */

int tap_net_flush_add(struct tap_context *context, struct tap_net *net,
		      const struct tap_rdma_list *list);
/* A message is there whole, the data of its last request at address, 0 none. */
int tap_net_flush_received(struct tap_context *context, struct tap_net *net,
			   uint64_t number, uint64_t address, int64_t received_ns);
/* All messages are over. */
int tap_net_flush_finish(struct tap_context *context, struct tap_net *net);

void tap_net_flush_free(struct tap_net_flushes *flushes);

#endif
