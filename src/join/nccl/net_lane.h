/* SPDX-License-Identifier: MIT */
/*
 * The operations that may use a connection, in the order in which they do: those of one
 * communicator or of several, collectives as well as sends and receives.  Each kind that
 * is numbered by itself is a lane; the connection carries their messages one operation
 * after the other, in the order of the sender's calls.
 *
 * Hides how lanes are merged into one sequence of runs (net_run.h), and how the numbers
 * of the two ranks are laid side by side.
 */
#ifndef TAP_JOIN_NCCL_NET_LANE_H
#define TAP_JOIN_NCCL_NET_LANE_H

#include "join/nccl/candidate.h"
#include "join/nccl/net_route.h"
#include "join/nccl/net_run.h"

/* More operations are left for the next search. */
#define TAP_SERVING_RUNS_MAX 256

/* What is known of a run. */
struct tap_served_run {
	struct tap_rank_pair pair;
	const struct tap_op_kernel *from, *to; /* NULL unknown */
	struct tap_run_count *count;	       /* NULL unknown */
	bool is_possible;
	bool is_mixed; /* its kernel is of several lanes */
};

/* A run's place in a lane: its operations there. */
struct tap_lane_place {
	uint64_t first, last;
	size_t run;
};

struct tap_net_lane {
	struct tap_rank_pair pair;
	bool is_messages; /* sends and receives */
	const struct tap_op_times *from, *to;
	struct tap_message_facts facts; /* of any message of the connection */
	struct tap_ccl_place place;
	uint64_t next; /* operation that is not in a run yet */
	TAP_VEC(struct tap_lane_place) places;
};

/* All that one search looks at; the owner keeps it for the next one. */
struct tap_net_lanes {
	struct tap_net_lane all[TAP_LANES_MAX];
	TAP_VEC(struct tap_net_run)
	runs; /* with one more that says where the last ends */
	TAP_VEC(struct tap_served_run) about;
	unsigned int used;	 /* bits of those that have operations */
	struct tap_table proofs; /* run_count.h */
};

/*
 * Finds the lanes of a connection whose messages are of collectives, or of what is made
 * of sends and receives.  Returns false where these have no known order.
 */
bool tap_net_lanes_find(struct tap_net_lanes *lanes,
			const struct tap_candidate_world *world,
			const struct tap_net_route *route, bool is_messages);

/*
 * Fills runs and about with the operations from those on that the first message may be
 * of. Returns 0, -ENOMEM, or -EAGAIN where these have no known order.
 */
int tap_net_lanes_fill(struct tap_net_lanes *lanes,
		       const struct tap_candidate_world *world,
		       struct tap_net_route *route);

/* The next search begins with this run. */
void tap_net_lanes_pass(const struct tap_net_lanes *lanes, struct tap_route_order *order,
			size_t run);

void tap_net_lanes_free(struct tap_net_lanes *lanes);

#endif
