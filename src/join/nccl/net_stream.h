/* SPDX-License-Identifier: MIT */
/*
 * The messages of NCCL's NET/Socket, from what passed over the sockets of a connection.  The
 * tracer has read each header, so its number, size and offset are the same at both ends.
 *
 * A message's payload follows its header, or it goes in tasks over the connection's other
 * sockets, which take turns.  Hides how tasks find their message, and what waits for the
 * other end; its number is bounded.
 */
#ifndef TAP_JOIN_NCCL_NET_STREAM_H
#define TAP_JOIN_NCCL_NET_STREAM_H

#include "join/model/event.h"
#include "join/nccl/net_stream_span.h"

struct tap_calls_message;

/* An event that moved bytes of this end's data; `tasks` is that of the event's socket. */
int tap_streams_take(struct tap_streams *streams, struct tap_stream_end *end,
		     struct tap_stream_tasks *tasks, const struct tap_event *event);
/*
 * A message of which nothing is decoded has passed (net_calls.h); its number is the next.
 */
int tap_streams_pass(struct tap_streams *streams, struct tap_stream_end *from,
		     struct tap_stream_end *to, const struct tap_calls_message *passed);
/* No event comes any more: emits what is left. */
int tap_streams_finish(struct tap_streams *streams, struct tap_stream_end *end);
void tap_streams_free(struct tap_streams *streams, struct tap_stream_end *end);
void tap_stream_tasks_free(struct tap_stream_tasks *tasks);

#endif
