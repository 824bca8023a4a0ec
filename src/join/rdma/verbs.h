/* SPDX-License-Identifier: MIT */
/*
 * The verbs layer: turns verbs events into spans and links of work requests.
 *
 * Hides the other headers of this folder from the join.  Memory grows with queue pairs,
 * memory regions and open requests, and up to a bound with messages that wait for the
 * opposite endpoint; never with the length of the trace.
 */
#ifndef TAP_JOIN_RDMA_VERBS_H
#define TAP_JOIN_RDMA_VERBS_H

#include "join/model/layer.h"
#include "join/rdma/post.h"
#include "join/rdma/flow.h"
#include "join/rdma/memory.h"
#include "join/rdma/qp.h"

/* Each part belongs to the file of its name, and uses only the parts above it. */
struct tap_verbs {
	struct tap_context *context;		  /* first: layer.h */
	const struct tap_rdma_observer *observer; /* NULL none */
	struct tap_qps qps;
	struct tap_memory memory;
	struct tap_flows flows;
	struct tap_requests requests;
	struct tap_outcomes outcomes;
	struct tap_completions completions;
	struct tap_posts posts;
};

extern const struct tap_layer tap_verbs_layer;

/* Call before the first event.  At most one observer; it lives as long as the layer. */
void tap_verbs_observe(struct tap_verbs *verbs, const struct tap_rdma_observer *observer);

#endif
