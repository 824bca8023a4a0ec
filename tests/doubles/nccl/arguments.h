/* SPDX-License-Identifier: MIT */
/*
 * The argument buffer of a kernel, laid out as NCCL 2.28.9 does it: a head, a list of
 * batches for each channel, of works of one device function each, and the works, which
 * are in the buffer if they fit and else where the head points to.
 */
#ifndef MINI_NCCL_ARGUMENTS_H
#define MINI_NCCL_ARGUMENTS_H

#include "plan.h"

enum { MINI_ARGUMENT_BYTES = 4096, MINI_FIFO_BYTES = 1 << 16 };
enum mini_storage { MINI_IN_ARGUMENTS = 0, MINI_IN_FIFO = 1, MINI_PERSISTENT = 2 };

/* What a communicator has on its device: kernels are given its address. */
struct mini_device_comm {
	struct ncclComm *comm;
	char pad[504];
	char fifo[MINI_FIFO_BYTES];
};

/* What one launch carries. */
struct mini_launch {
	uint64_t channel_mask;
	unsigned int batch_count;
	unsigned int op_count;
	unsigned int threads;
	unsigned int kernel;
	bool has_own_kernel;
	enum mini_storage storage;
	/* The arguments, once they are complete. */
	char *buffer;
	size_t size;
	struct mini_arguments *arguments;
};

/* False without memory. */
bool mini_launch_begin(struct mini_launch *launch, struct ncclComm *comm);
/* False when the batches of one more operation do not fit. */
bool mini_launch_add(struct mini_launch *launch, const struct mini_op *op);
/*
 * Writes the buffer.  The kernel of it runs the plan, which may be NULL; it is kept where
 * the buffer ends, behind all that NCCL has in it.  False without memory.
 */
bool mini_launch_finish(struct mini_launch *launch, struct mini_plan *plan,
			bool is_captured);
void mini_launch_free(struct mini_launch *launch);

/* Every kernel. */
void mini_arguments_run(const void *arguments, size_t size);

#endif
