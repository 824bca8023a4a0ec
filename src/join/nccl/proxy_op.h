/* SPDX-License-Identifier: MIT */
/*
 * The layer of what one operation moves over one connection, in one direction, on one
 * rank: a ProxyOp, as NCCL's profiler interface calls it, made of the messages that are
 * ascribed to a kernel.  The messages themselves are its ProxySteps.
 *
 * Hides when all messages of a ProxyOp are there: they are ascribed long after they have
 * passed, and others of the connection may still wait for that.
 */
#ifndef TAP_JOIN_NCCL_PROXY_OP_H
#define TAP_JOIN_NCCL_PROXY_OP_H

#include "join/model/layer.h"
#include "join/model/link.h"
#include "join/nccl/net_route.h"

struct tap_proxy_ops;

extern const struct tap_layer tap_proxy_ops_layer;

/*
 * Takes a message that was ascribed to kernels, as its link says.  The route is that of
 * the connection.  Returns 0 or -errno.
 */
int tap_proxy_ops_add(struct tap_proxy_ops *ops, const struct tap_net_route *route,
		      const struct tap_link *link, const struct tap_message_times *times);

#endif
