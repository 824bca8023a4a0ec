/* SPDX-License-Identifier: MIT */
/*
 * Finds the kernels that the messages of one connection served, where they are of two
 * ranks: from the times of each message, and from how many messages each kernel has.
 *
 * Hides that what contradicts is given up, up to where times alone show the beginning of
 * a kernel's messages again.
 */
#ifndef TAP_JOIN_NCCL_NET_SERVED_H
#define TAP_JOIN_NCCL_NET_SERVED_H

#include "join/nccl/net_serving.h"

/*
 * Fills serving->served with all messages of the connection.  Returns 0, -ENOMEM, or
 * -EAGAIN where each message is to be looked at by itself.  is_last: nothing more will
 * become known.
 */
int tap_served_find(struct tap_serving *serving, const struct tap_candidate_world *world,
		    struct tap_net_route *route, bool is_last);

/*
 * Finds out, at the end, what the messages say of rules that are tried (run_count.h), and
 * nothing of themselves.  Returns 0 or -ENOMEM.
 */
int tap_served_learn(struct tap_serving *serving, const struct tap_candidate_world *world,
		     struct tap_net_route *route);

/*
 * Bounds the runs of a connection by all that is known, and says nothing of its messages.
 * Returns 0, -ENOMEM, or -EAGAIN where nothing follows from their order.
 */
int tap_served_bound(struct tap_serving *serving, const struct tap_candidate_world *world,
		     struct tap_net_route *route);

/* Forgets how far the connection was; called when messages were given up. */
void tap_served_restart(struct tap_net_route *route);

#endif
