/* SPDX-License-Identifier: MIT */
/*
 * The layer that emits each end of NCCL's connections, once, at the end: over which
 * transport, for which channel and peer.
 *
 * Hides where that is from: NCCL's messages to its service thread, where they are
 * decoded, else queue pairs, sockets and their order (connection_order.h); and that the
 * threads which made a connection have ended before.
 */
#ifndef TAP_JOIN_NCCL_CONNECTION_H
#define TAP_JOIN_NCCL_CONNECTION_H

#include "join/model/layer.h"

/* It finishes before the layer of threads, which then forgets them. */
extern const struct tap_layer tap_connections_layer;

#endif
