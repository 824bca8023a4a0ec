/* SPDX-License-Identifier: MIT */
/*
 * What stands together in a line: an operation on one connection, or transfers of one
 * batch of the kernel.
 *
 * Hides from the lines how messages are posted and tested.
 */
#ifndef MINI_NCCL_PROXY_BATCH_H
#define MINI_NCCL_PROXY_BATCH_H

#include "proxy_op.h"

/* Transfers that a channel carries out at once. */
enum { MINI_BATCH_OPS = 8 };

struct mini_proxy_batch {
	/* In the line, and of those whose turn it is. */
	struct mini_proxy_batch *next;
	struct mini_proxy_batch *next_active;
	/* NULL: of another rank, which this one posts for; the operations are the
	 * batch's. */
	struct mini_plan *plan;
	struct mini_line *line;
	uint64_t number;
	bool is_started;
	/* Of another rank's. */
	bool has_failed;
	bool is_send;
	int count;
	int done;
	struct mini_proxy_op *ops[MINI_BATCH_OPS];
};

/* Whether it is point to point, whose connections share a pool. */
static inline bool mini_proxy_op_is_pooled(const struct mini_proxy_op *op)
{
	return op->flow->index == 1;
}

/* Goes on, when it is its turn: 1 when it is over, 0, or -errno. */
int mini_proxy_batch_step(struct mini_proxy_batch *batch, bool *moved);

#endif
