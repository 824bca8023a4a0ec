/* SPDX-License-Identifier: MIT */
/*
 * The layer of verbs: its events go in, spans and links of work requests come out.
 *
 * Hides all other headers of this folder from the join.  Memory grows with the queue
 * pairs and memory regions, with what is outstanding, and up to a bound with what waits
 * for the other end; never with the length of the trace.
 */
#ifndef TAP_JOIN_RDMA_VERBS_H
#define TAP_JOIN_RDMA_VERBS_H

#include "join/model/layer.h"
#include "join/rdma/post.h"
#include "join/rdma/flow.h"
#include "join/rdma/memory.h"
#include "join/rdma/qp.h"

/* Each part belongs to the file of its name, and knows those above it. */
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

/* Before the first event; there is one observer at most, which lives as long. */
void tap_verbs_observe(struct tap_verbs *verbs, const struct tap_rdma_observer *observer);

#endif
