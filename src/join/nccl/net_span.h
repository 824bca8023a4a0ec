/* SPDX-License-Identifier: MIT */
/*
 * What is emitted of a message: a span at each end, and a link from its CTS through both
 * to its pieces.
 *
 * Hides the fields that they have, and how long a sender may have waited.
 */
#ifndef TAP_JOIN_NCCL_NET_SPAN_H
#define TAP_JOIN_NCCL_NET_SPAN_H

#include "join/model/span.h"
#include "join/nccl/net_message.h"

struct tap_qps;

/* The message of this number, as one end has it. */
struct tap_work tap_net_work(const struct tap_net *net, enum tap_work_kind kind,
			     uint64_t number);

/* Each returns 0 or -errno. */

/* Makes the span of an end; of the sender's, the first of its pieces is posted. */
int tap_net_span_receive(struct tap_context *context, struct tap_net_message *message,
			 const struct tap_rdma_list *cts);
int tap_net_span_send(struct tap_context *context, struct tap_net_message *message,
		      const struct tap_net_piece *piece);
/* Of a connection that is proved, the spans that have not begun begin. */
int tap_net_span_begin(struct tap_context *context, struct tap_net_message *message);
/* Both ends end, as far as they are known, and what they belong to. */
int tap_net_span_end(struct tap_context *context, const struct tap_qps *qps,
		     struct tap_net_message *message, enum tap_why why,
		     enum tap_span_state otherwise);

/* All of it is posted: how long the sender may have waited for the receiver. */
void tap_net_span_add_wait(struct tap_net_message *message);

#endif
