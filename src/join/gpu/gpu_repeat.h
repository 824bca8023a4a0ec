/* SPDX-License-Identifier: MIT */
/*
 * The operations of NCCL's that executable graphs repeat, for attribution.h.
 *
 * Hides that a graph's nodes are copied when it becomes executable, which leads to the
 * calls that were captured; and where that is not seen, or the graph is changed, so that
 * it is not known what it repeats.
 */
#ifndef TAP_JOIN_GPU_GPU_REPEAT_H
#define TAP_JOIN_GPU_GPU_REPEAT_H

#include "join/gpu/gpu_call.h"
#include "join/model/context.h"
#include "join/nccl/kernel_ops.h"

/* Empty when all zero. */
struct tap_gpu_repeats {
	struct tap_table copied; /* by (process, call that copies) */
	struct tap_table execs;	 /* by (process, address) */
};

/* What attribution.h wants to know of it. */
struct tap_attribution_operation tap_gpu_operation_of(const struct tap_gpu_op *op);

/* All return 0 or -ENOMEM. */

/* The call copies the node that this launch was captured for. */
int tap_gpu_repeats_copied(struct tap_gpu_repeats *repeats, uint64_t call_id,
			   struct tap_gpu_launch *launch);
/* Takes a call of the driver that has ended. */
int tap_gpu_repeats_ended(struct tap_gpu_repeats *repeats, const struct tap_span *span);
/* Takes one that launches a graph; capture as in model/stream.h. */
int tap_gpu_repeats_launched(struct tap_gpu_repeats *repeats, struct tap_context *context,
			     const struct tap_span *span, int64_t capture);

void tap_gpu_repeats_free(struct tap_gpu_repeats *repeats);

#endif
