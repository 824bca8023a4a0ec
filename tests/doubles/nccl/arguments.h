/* SPDX-License-Identifier: MIT */
/*
 * What a kernel is launched with.  Since 2.22 that is an argument buffer: a head, a list
 * of batches for each channel, of works of one device function each, and the works, which
 * are in the buffer if they fit and else where the head points to.  Before, it was three
 * parameters, and the works always lay in memory.
 *
 * Hides the form of each release.
 */
#ifndef MINI_NCCL_ARGUMENTS_H
#define MINI_NCCL_ARGUMENTS_H

#include "plan.h"

enum {
	MINI_ARGUMENT_BYTES = 4096,
	MINI_FIFO_BYTES = 1 << 20,
	/* Of a transfer in there. */
	MINI_P2P_BYTES = 48,
	/* Until 2.21: of each work, how many there are, and of the parameters. */
	MINI_RING_WORK_BYTES = 512,
	MINI_RING_WORKS = MINI_FIFO_BYTES / MINI_RING_WORK_BYTES,
	MINI_RING_PARAMETER_BYTES = 24
};
enum mini_storage { MINI_IN_ARGUMENTS = 0, MINI_IN_FIFO = 1, MINI_PERSISTENT = 2 };

/* What a communicator has on its device: kernels are given its address. */
struct mini_device_comm {
	struct ncclComm *comm;
	char pad[504];
	char fifo[MINI_FIFO_BYTES];
};

/* What one launch carries. */
struct mini_launch {
	/* Of the process, from 1. */
	unsigned int number;
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
	/* Until 2.21, instead: the first work. */
	void *work_head;
	struct mini_arguments *arguments;
};

/* Whether the release has parameters instead of a buffer. */
bool mini_launch_is_ring(void);
/* Of a collective in the buffer. */
size_t mini_coll_bytes(void);

/* False without memory. */
bool mini_launch_begin(struct mini_launch *launch, struct ncclComm *comm);
/*
 * Whether there is room for so many more batches and bytes of works; NULL is an empty
 * one.
 */
bool mini_launch_fits(const struct mini_launch *launch, unsigned int batches,
		      size_t work_bytes);
/* Adds the plan's parts, too.  False without memory. */
bool mini_launch_add(struct mini_launch *launch, struct mini_plan *plan,
		     struct mini_work *work);
/*
 * Writes the buffer.  The kernel of it runs the plan, which is kept where the buffer
 * ends, behind all that NCCL has in it.  False without memory.
 */
bool mini_launch_finish(struct mini_launch *launch, struct mini_plan *plan,
			bool is_captured);
/* The same until 2.21; the plan is a fourth parameter, which NCCL has not. */
bool mini_launch_finish_ring(struct mini_launch *launch, const struct mini_plan *plan,
			     bool is_captured);
void mini_launch_free(struct mini_launch *launch);

/* Every kernel. */
void mini_arguments_run(const void *arguments, size_t size);

#endif
