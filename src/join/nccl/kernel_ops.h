/* SPDX-License-Identifier: MIT */
/*
 * The operations that one kernel carries out, as those of its rank (rank_ops.h).
 *
 * Hides how those of a group, which have one kernel, are told apart by what they are
 * numbered with, and what makes two kernels alike.
 */
#ifndef TAP_JOIN_NCCL_KERNEL_OPS_H
#define TAP_JOIN_NCCL_KERNEL_OPS_H

#include "join/model/span.h"
#include "join/nccl/rank_ops.h"

struct tap_attribution_operation {
	const struct tap_name *name;
	const struct tap_operation *operation;
	const struct tap_member *member;
	uint64_t call_id;
	uint64_t place; /* op_times.h; 0: that of its number */
};

/*
 * A kernel, with operations of one communicator that have no other kernel.  If they are
 * of a group, they are all that kernels carry out of it on the communicator.
 */
struct tap_attribution_kernel {
	const struct tap_span *span;
	const struct tap_member *member;
	const struct tap_fields *about; /* what kernel.h says of the launch */
	uint64_t blocks;
	struct tap_attribution_operation *operations;
	size_t count;
	uint64_t graph_launch_id; /* of the call that launched its graph; 0: none did */
};

/*
 * Adds the operations of a kernel on a rank whose buffers have these sizes.  Returns 0 or
 * -ENOMEM; times of kernels may be wrong by error_ns.
 */
int tap_kernel_ops_add(struct tap_ranks_ops *ranks,
		       const struct tap_attribution_kernel *kernel,
		       const struct tap_ccl_sizes *sizes, int64_t error_ns);

/* With what calls of this name are numbered; peer: -1 of collectives. */
enum tap_op_series tap_kernel_ops_series(const struct tap_name *name);
int64_t tap_kernel_ops_peer(const struct tap_name *name, int64_t peer);

/* Whether calls of this name are made of sends and receives. */
bool tap_kernel_ops_are_messages(const struct tap_name *name);

/* What an operation made of these sends; returns whether its bytes are known. */
bool tap_kernel_ops_transfer(const struct tap_name *name,
			     const struct tap_operation *operation,
			     struct tap_op_transfer *ret);

#endif
