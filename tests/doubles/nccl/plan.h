/* SPDX-License-Identifier: MIT */
/*
 * What a communicator has to do: operations, which a group collects, and the
 * plan that carries out those of one group with one kernel and the progress
 * thread.
 */
#ifndef MINI_NCCL_PLAN_H
#define MINI_NCCL_PLAN_H

#include <cuda.h>
#include <nccl.h>
#include <stdbool.h>
#include <stdint.h>

enum mini_function {
	MINI_BROADCAST,
	MINI_REDUCE,
	MINI_ALL_GATHER,
	MINI_REDUCE_SCATTER,
	MINI_ALL_REDUCE,
	MINI_SEND,
	MINI_RECV
};

struct mini_op {
	struct mini_op *next;
	enum mini_function function;
	const void *send;
	void *recv;
	/* In elements; that of one rank's part in the functions with parts. */
	size_t count;
	ncclDataType_t type;
	ncclRedOp_t op;
	/* The root, or the peer of a send or receive. */
	int root;
	CUstream stream;
	/* The call that it came from: its name, and which call of the communicator. */
	const char *name;
	uint64_t ordinal;
};

struct mini_plan {
	struct mini_plan *next;
	struct ncclComm *comm;
	/* Collectives first, in the order in which they run, then sends and receives. */
	struct mini_op *ops;
	/* Under the proxy's lock. */
	bool has_begun;
	bool is_done;
	/* A graph runs it: what its launch carries out at present is a copy. */
	bool is_captured;
	struct mini_plan *replay;
};

static inline bool mini_op_is_p2p(const struct mini_op *op)
{
	return op->function == MINI_SEND || op->function == MINI_RECV;
}

/* Makes the plan of a list of operations, which it owns from then on; NULL without
 * memory. */
struct mini_plan *mini_plan_create(struct ncclComm *comm, struct mini_op *ops);
/* ncclInvalidUsage when a send or receive of the rank to itself has no counterpart. */
ncclResult_t mini_plan_check(const struct mini_plan *plan);
/* Whether there is nothing to set up. */
bool mini_plan_is_connected(const struct mini_plan *plan);
/* Sets up the connections that the plan needs; waits for the peers.  0 or -errno. */
int mini_plan_connect(struct mini_plan *plan);
/* Enqueues the kernel and hands the plan to the progress thread. */
ncclResult_t mini_plan_launch(struct mini_plan *plan);
/* How many elements of a collective, or of one rank's part, are a channel's; the last's
 * are fewer. */
size_t mini_op_elements_per_channel(const struct ncclComm *comm,
				    const struct mini_op *op);
/* The channels that an operation uses, as a mask; none where no connection is needed. */
uint64_t mini_op_channels(const struct ncclComm *comm, const struct mini_op *op);
/* Moves and reduces all the data, on the progress thread.  0 or -errno. */
int mini_plan_run(struct mini_plan *plan);
/* The part of that from the first send or receive on. */
int mini_transfers_run(struct ncclComm *comm, const struct mini_op *ops);
void mini_plan_destroy(struct mini_plan *plan);
void mini_ops_destroy(struct mini_op *ops);

/* What the kernel of a plan does. */
void mini_plan_kernel(struct mini_plan *plan);

#endif
