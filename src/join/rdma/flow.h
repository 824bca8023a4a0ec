/* SPDX-License-Identifier: MIT */
/*
 * Links sends to receives: the k-th request of a queue pair that uses up a receive
 * matches the k-th receive that the peer completes.
 *
 * On a reliable connection this match is exact.  On a lossy one it is exact once both
 * sides are seen with equal counts and no message in flight; until then the flow holds
 * the pair.  Hides the endpoints that wait for each other; their number is bounded.
 */
#ifndef TAP_JOIN_RDMA_FLOW_H
#define TAP_JOIN_RDMA_FLOW_H

#include "join/model/context.h"
#include "join/rdma/side.h"

#include <stddef.h>

struct tap_name;
struct tap_qps;

/* One endpoint of a message: the send or the receive. */
struct tap_endpoint {
	const struct tap_process *process;
	struct tap_work work;
	const struct tap_name *name;
	uint64_t ordinal;
	uint64_t length; /* byte_len of a receive */
	uint32_t imm_data;
	bool has_length, has_imm;
	bool is_unread;	      /* the program did not read what arrived */
	enum tap_why failure; /* how its request failed, or TAP_WHY_NONE */
	bool is_open;	      /* not completed: whether it arrived is unknown */
	bool is_receive;
	enum tap_why why; /* reason of doubt, or TAP_WHY_NONE */
};

struct tap_flows {
	/* The owner sets these; the rest starts as zero. */
	struct tap_context *context;
	const struct tap_qps *qps;

	struct tap_table messages; /* waiting endpoints, by (side, ordinal) */
	struct tap_table sides;	   /* of datagrams, by (generation, peer or qp_num) */
	uint64_t side_count;
	struct tap_flow_side *datagrams;
	TAP_LIST(struct tap_message) all, unused;
	size_t held; /* entries in all */
};

/* All return 0 or -errno. */

/* Notes that a call which began at begin_ns posted the sender's message `ordinal`. */
int tap_flow_posted(struct tap_flows *flows, struct tap_flow_side *side, uint64_t ordinal,
		    int64_t begin_ns);
/* Matches an endpoint that has ended, or keeps it until the opposite one comes. */
int tap_flow_take(struct tap_flows *flows, struct tap_flow_side *side,
		  const struct tap_endpoint *endpoint, int64_t time_ns);
/* Connects two sides that are each other's peers, and matches what waits there. */
int tap_flow_meet(struct tap_flows *flows, struct tap_flow_side *sender,
		  struct tap_flow_side *receiver);
/*
 * The side for what a datagram queue pair sends to `receiver` or, with sender NULL,
 * receives from src_qp_num.  NULL when memory is short.
 */
struct tap_flow_side *tap_flow_datagram(struct tap_flows *flows,
					struct tap_generation *sender,
					struct tap_generation *receiver,
					uint64_t src_qp_num);
/* Call after the last event: settles every endpoint and pair that is left. */
int tap_flows_finish(struct tap_flows *flows);

void tap_flows_free(struct tap_flows *flows);

#endif
