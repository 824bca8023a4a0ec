/* SPDX-License-Identifier: MIT */
/*
 * What a search for the kernels of a connection's messages (net_served.h) begins with:
 * the bounds that times give each message, and the operations of its ranks as runs.
 *
 * Hides how it is found out of which kind the operations of a connection are.
 */
#ifndef TAP_JOIN_NCCL_NET_SERVING_H
#define TAP_JOIN_NCCL_NET_SERVING_H

#include "join/nccl/net_lane.h"

#define TAP_STEP_UNKNOWN UINT64_MAX

enum tap_verdict {
	TAP_VERDICT_OPEN,
	TAP_VERDICT_SERVED,
	TAP_VERDICT_CONTRADICTED,
	TAP_VERDICT_GIVEN_UP, /* what is missing is no longer expected */
};

/* What is found of one message; what follows the verdict only where it SERVED. */
struct tap_served {
	struct tap_routed_message *message;
	enum tap_verdict verdict;
	struct tap_rank_pair pair;
	const struct tap_op_kernel *from, *to;
	bool is_mixed; /* their operations are numbered apart */
	uint64_t step; /* which message of the kernel; TAP_STEP_UNKNOWN */
	enum tap_known known;
	enum tap_why why;
	bool is_left_over; /* by the bytes of others (net_total.h) */
};

/* What one search needs; the owner keeps it for the next one.  All zero is empty. */
struct tap_serving {
	TAP_VEC(struct tap_served) served; /* of all messages of the connection */
	TAP_VEC(struct tap_net_run_message) bounds;
	struct tap_net_lanes lanes;
};

/*
 * Finds out of which operations the messages of the connection are, as far as that is
 * known, and notes it there.
 */
enum tap_series tap_serving_find_series(const struct tap_candidate_world *world,
					struct tap_net_route *route);

/*
 * Returns 0, -ENOMEM, or -EAGAIN where each message is to be looked at by itself.
 */
int tap_serving_fill(struct tap_serving *serving, const struct tap_candidate_world *world,
		     struct tap_net_route *route);

void tap_serving_free(struct tap_serving *serving);

#endif
