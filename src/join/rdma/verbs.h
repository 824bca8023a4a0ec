/* SPDX-License-Identifier: MIT */
/*
 * The layer of verbs: its events go in, spans and links of work requests come out.
 *
 * Hides all of qp.h, wr.h and flow.h from the join.  Memory grows with the queue pairs
 * and memory regions, with what is outstanding, and up to a bound with what waits for
 * the other end; never with the length of the trace.
 */
#ifndef TAP_JOIN_RDMA_VERBS_H
#define TAP_JOIN_RDMA_VERBS_H

#include "join/model/layer.h"
#include "join/model/link.h"
#include "join/rdma/observer.h"
#include "join/rdma/qp.h"

struct tap_verbs {
	struct tap_context *context;		  /* first: layer.h */
	const struct tap_rdma_observer *observer; /* set by the owner; NULL none */

	/* Of qp.c. */
	struct tap_table qps;	      /* by (process, number) */
	struct tap_table srqs;	      /* the same */
	struct tap_table processes;   /* by number */
	struct tap_table connections; /* lives, by (local, remote) */
	struct tap_table handles;     /* by (process, number) */
	struct tap_table regions;     /* by (process, number) */
	struct tap_table keys;	      /* regions by (process, rkey) */
	struct tap_table datagrams;   /* queue pairs by qp_num */
	struct tap_qp *all_qps;
	struct tap_srq *all_srqs;
	uint64_t srq_count;
	struct tap_verbs_process *all_processes;

	/* Of wr.c. */
	struct tap_table by_wr_id; /* requests of shared queues */
	struct tap_request *oldest, *newest, *free_requests;
	size_t open;
	struct tap_completion *free_completions;

	/* Of flow.c. */
	struct tap_table messages; /* by (side, ordinal) */
	struct tap_table flows;	   /* datagrams: sides by (life, life or number) */
	uint64_t side_count;
	struct tap_flow_side *all_flows;
	struct tap_message *oldest_message, *newest_message, *free_messages;
	size_t held;
};

extern const struct tap_layer tap_verbs_layer;

/* A relation was found, or not.  Counts it. */
void tap_verbs_count(struct tap_verbs *verbs, enum tap_match_kind kind,
		     enum tap_known known, enum tap_why why);
void tap_verbs_unmatched(struct tap_verbs *verbs, enum tap_match_kind kind,
			 enum tap_why why);

/* The number of this name, 0 where there is none. */
uint64_t tap_verbs_number(const struct tap_event *event, const char *name);

#endif
