/* SPDX-License-Identifier: MIT */
/*
 * Emits a message: a span at each end, and a link from its CTS through both spans to its
 * pieces.
 *
 * Hides the fields of these spans, and how long a sender may have waited.
 */
#ifndef TAP_JOIN_NCCL_NET_SPAN_H
#define TAP_JOIN_NCCL_NET_SPAN_H

#include "join/model/span.h"
#include "join/nccl/net_message.h"

struct tap_qps;

struct tap_net_channel;

/*
 * What the connection is for, NULL unknown: nothing if its ends contradict each other, or
 * events are missing, and only one end tells.
 */
const struct tap_net_channel *tap_net_channel(const struct tap_context *context,
					      struct tap_net *net);

/* Names message `number` at one end of a connection. */
struct tap_work tap_net_work(const struct tap_net *net, enum tap_work_kind kind,
			     uint64_t number);

/* Each returns 0 or -errno. */

/*
 * Each makes the span of one end; the sender's begins with piece, the first one posted.
 */
int tap_net_span_receive(struct tap_context *context, struct tap_net_message *message,
			 const struct tap_rdma_list *cts);
int tap_net_span_send(struct tap_context *context, struct tap_net_message *message,
		      const struct tap_net_piece *piece);
/* Emits the begins of spans that have not begun, if the connection is proved. */
int tap_net_span_begin(struct tap_context *context, struct tap_net_message *message);
/*
 * Ends the spans of both ends, as far as they have begun, and emits the link of a linked
 * message; frees the spans.  `otherwise` is the state of an end without a completion.
 */
int tap_net_span_end(struct tap_context *context, const struct tap_qps *qps,
		     struct tap_net_message *message, enum tap_why why,
		     enum tap_span_state otherwise);

/*
 * Call when all pieces are posted: adds how long the sender may have waited for the
 * receiver.
 */
void tap_net_span_add_wait(struct tap_net_message *message);

#endif
