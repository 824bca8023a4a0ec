/* SPDX-License-Identifier: MIT */
/*
 * The operations of each rank of a communicator, as far as they matter to a message:
 * collectives, and for each peer what is sent to it and received from it, each with
 * numbers of its own.
 *
 * Hides how they are found, and the bound on what is kept of them: what is given up makes
 * it less certain which operation a message is of.
 */
#ifndef TAP_JOIN_NCCL_RANK_OPS_H
#define TAP_JOIN_NCCL_RANK_OPS_H

#include "join/model/context.h"
#include "join/nccl/op_times.h"

struct tap_net_route;

/* One rank of a communicator. */
struct tap_rank_ops {
	const struct tap_member *member;
	uint64_t kernels; /* that the owner has counted */
	/*
	 * When a kernel ended that was called in the recording, at the earliest: all that
	 * was called before has ended by then.
	 */
	bool has_kernel;
	int64_t first_end_ns;
	TAP_VEC(struct tap_net_route *) routes; /* for the owner: attribution.c */
};

/* Of which operations: op_times has one for each. */
enum tap_op_series { TAP_OPS_COLLECTIVE, TAP_OPS_SEND, TAP_OPS_RECEIVE };

/* A fact that is kept. */
struct tap_op_fact {
	struct tap_op_times *times;
	bool is_call;
};

struct tap_ranks_ops {
	/* The owner sets these; the rest starts as zero. */
	size_t kept_max;

	bool is_cut;		    /* a series is not kept: there were too many */
	struct tap_table by_member; /* struct tap_rank_ops */
	struct tap_table series; /* struct tap_op_times, by (member, series and peer) */
	/* What is kept, oldest first; those before `first` are forgotten. */
	TAP_VEC(struct tap_op_fact) kept;
	size_t first;
};

/* Made when new; NULL: memory is short. */
struct tap_rank_ops *tap_rank_ops_of(struct tap_ranks_ops *ranks,
				     const struct tap_member *member);

/* NULL: no operation of this series is known; peer is -1 of collectives. */
struct tap_op_times *tap_rank_ops_find(const struct tap_ranks_ops *ranks,
				       const struct tap_member *member,
				       enum tap_op_series series, int64_t peer);

/* All return 0 or -ENOMEM; the first three are as in op_times.h. */
int tap_rank_ops_call(struct tap_ranks_ops *ranks, const struct tap_member *member,
		      enum tap_op_series series, int64_t peer, uint64_t number,
		      const struct tap_op_call *call);
int tap_rank_ops_captured(struct tap_ranks_ops *ranks, const struct tap_member *member,
			  enum tap_op_series series, int64_t peer, uint64_t number);
/* *ret_place is 0 where there are too many series. */
int tap_rank_ops_repeated(struct tap_ranks_ops *ranks, const struct tap_member *member,
			  enum tap_op_series series, int64_t peer,
			  const struct tap_op_call *call, uint64_t *ret_place);
int tap_rank_ops_kernel(struct tap_ranks_ops *ranks, const struct tap_member *member,
			enum tap_op_series series, int64_t peer,
			const struct tap_op_kernel *kernel, int64_t error_ns);

void tap_ranks_ops_free(struct tap_ranks_ops *ranks);

#endif
