/* SPDX-License-Identifier: MIT */
/*
 * From sender to receiver: the k-th request of one queue pair that uses up a receive
 * is the k-th receive that its peer completes.
 *
 * Where nothing may get lost on the way that is exact.  Where something may, it is so
 * once both counts are seen to be equal while nothing was under way; until then a pair
 * is held.  Hides what waits for its other half, which is bounded.
 */
#ifndef TAP_JOIN_RDMA_FLOW_H
#define TAP_JOIN_RDMA_FLOW_H

#include "join/model/context.h"
#include "join/rdma/side.h"

#include <stddef.h>

struct tap_name;
struct tap_qps;

/* One half of a message. */
struct tap_endpoint {
	const struct tap_process *process;
	struct tap_work work;
	const struct tap_name *name;
	uint64_t ordinal;
	uint64_t length; /* or, of a receive, byte_len */
	uint32_t imm_data;
	bool has_length, has_imm;
	bool is_unread;	      /* what it was the program did not ask */
	enum tap_why failure; /* of its request, none */
	bool is_open;	      /* it had not completed: whether it arrived nobody knows */
	bool is_receive;
	enum tap_why why; /* it is not sure */
};

struct tap_flows {
	/* Set by the owner; the rest is zero at first. */
	struct tap_context *context;
	const struct tap_qps *qps;

	struct tap_table messages; /* that wait, by (side, ordinal) */
	struct tap_table sides; /* of datagrams, by (generation, generation or number) */
	uint64_t side_count;
	struct tap_flow_side *datagrams;
	TAP_LIST(struct tap_message) all, unused;
	size_t held; /* of all */
};

/* All return 0 or -errno. */

/* The sender's request number ordinal is posted, and began at begin_ns. */
int tap_flow_posted(struct tap_flows *flows, struct tap_flow_side *side, uint64_t ordinal,
		    int64_t begin_ns);
/* A half has ended, and looks for the other. */
int tap_flow_take(struct tap_flows *flows, struct tap_flow_side *side,
		  const struct tap_endpoint *endpoint, int64_t time_ns);
/* Both sides are known to be each other's: what waits meets. */
int tap_flow_meet(struct tap_flows *flows, struct tap_flow_side *sender,
		  struct tap_flow_side *receiver);
/* What a datagram queue pair sends to another, or gets from a number; NULL: no memory. */
struct tap_flow_side *tap_flow_datagram(struct tap_flows *flows,
					struct tap_generation *sender,
					struct tap_generation *receiver,
					uint64_t src_qp_num);
/* All events are over. */
int tap_flows_finish(struct tap_flows *flows);

void tap_flows_free(struct tap_flows *flows);

#endif
