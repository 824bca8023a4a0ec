/* SPDX-License-Identifier: MIT */
/*
 * What a communicator has to do: operations, which a group collects, and the plans that
 * carry them out, each with one kernel.  A plan has two halves, as in NCCL: the device's,
 * which moves and reduces data between the program's buffers and those of connections,
 * and the proxy's, which sends and receives what is in the latter.  Both are gone on with
 * by the progress thread; the kernel waits in its stream for the end of the device's.
 */
#ifndef MINI_NCCL_PLAN_H
#define MINI_NCCL_PLAN_H

#include "profiler.h"
#include "protocol.h"

#include <cuda.h>
#include <nccl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* NCCL's MAXCHANNELS. */
#define MINI_MAX_CHANNELS 64

enum mini_function {
	MINI_BROADCAST,
	MINI_REDUCE,
	MINI_ALL_GATHER,
	MINI_REDUCE_SCATTER,
	MINI_ALL_REDUCE,
	MINI_SEND,
	MINI_RECV
};

/* With the numbers of NCCL's own. */
enum mini_algorithm { MINI_NO_ALGORITHM = -1, MINI_TREE = 0, MINI_RING = 1 };

/* What the device makes of ncclRedOp_t. */
enum mini_reduction {
	MINI_SUM,
	MINI_PROD,
	MINI_MIN_MAX,
	/* Each rank's data is multiplied before it is added. */
	MINI_PRE_MUL_SUM,
	/* The sum is divided by how many ranks there are. */
	MINI_SUM_POST_DIV
};

struct mini_operation {
	enum mini_reduction kind;
	bool is_max;
	/* What to multiply by, in the type of the data; where it is, if not here. */
	uint64_t scalar;
	const void *scalar_at;
};

/* What copy engines can do, where all ranks see each other's memory. */
enum mini_copies {
	MINI_COPIES_NONE,
	MINI_COPIES_ALL_GATHER,
	MINI_COPIES_ALL_TO_ALL,
	MINI_COPIES_GATHER,
	MINI_COPIES_SCATTER
};

struct mini_op {
	struct mini_op *next;
	enum mini_function function;
	enum mini_copies copies;
	bool is_by_copies;
	const void *send;
	void *recv;
	/* In elements; that of one rank's part in the functions with parts. */
	size_t count;
	ncclDataType_t type;
	ncclRedOp_t op;
	struct mini_operation operation;
	/* The root, or the peer of a send or receive. */
	int root;
	CUstream stream;
	/* The call that it came from: its name, and which call of the communicator. */
	const char *name;
	uint64_t ordinal;

	/* Known once there is a plan. */
	enum mini_algorithm algorithm;
	enum mini_protocol protocol;
	/* A mask; none where a rank sends to itself. */
	uint64_t channels;

	struct mini_op_profile profile;
};

/* A work on one of its channels; transfers of one batch are carried out at once. */
struct mini_part {
	struct mini_work *work;
	int channel;
	unsigned int batch;
};

struct mini_device;
struct mini_launch;
struct mini_proxy_batch;
struct mini_proxy_op;
struct mini_symmetric;
struct mini_work;

/* Only the first kind has anything to do for the progress thread. */
enum mini_plan_kind { MINI_BY_PROXY, MINI_BY_SYMMETRIC_KERNEL, MINI_BY_COPIES };

struct mini_plan {
	struct mini_plan *next;
	struct ncclComm *comm;
	enum mini_plan_kind kind;
	/* Collectives first, in the order in which they run, then sends and receives. */
	struct mini_op *ops;
	struct mini_work *works;
	/* What of them each channel does, in order. */
	struct mini_part *parts;
	size_t part_count;
	uint64_t channel_mask;
	/* Until it is launched. */
	struct mini_launch *launch;
	struct mini_symmetric *symmetric;
	/* Under the proxy's lock. */
	atomic_bool has_begun;
	bool is_done;
	bool is_left_by_kernel;
	bool is_over;
	/* A graph runs it: what its launch carries out at present is a copy. */
	bool is_captured;
	/* The operations and works are those of the plan that was captured. */
	bool is_copy;
	struct mini_plan *replay;
	/* The profiler's. */
	void *launch_event;

	/* The progress thread's. */
	struct mini_device *device;
	struct mini_proxy_op *proxy_ops;
	size_t proxy_op_count;
	/* What stands in a line for it and is not over. */
	size_t batches;
	/* The one whose kernel comes after its own. */
	struct mini_plan *next_kernel;
	bool is_kernel_done;
	int err;
};

static inline bool mini_op_is_p2p(const struct mini_op *op)
{
	return op->function == MINI_SEND || op->function == MINI_RECV;
}

/* The channels that an operation uses, as a mask; none where no connection is needed. */
static inline uint64_t mini_op_channels(const struct ncclComm *comm,
					const struct mini_op *op)
{
	(void) comm;
	return op->channels;
}

/*
 * Makes plans of the operations of a group, which they own from then on; on a failure the
 * operations are gone.  ncclInvalidUsage when a send or receive of the rank to itself has
 * no counterpart.
 */
ncclResult_t mini_plans_create(struct ncclComm *comm, struct mini_op *ops,
			       struct mini_plan **ret_plans);
/* Whether there is nothing to set up. */
bool mini_plans_are_connected(const struct mini_plan *plans);
/* Sets up the connections that they need; waits for the peers.  0 or -errno. */
int mini_plans_connect(struct mini_plan *plans);
/* Enqueues the kernels and hands the plans to the progress thread, whatever happens. */
ncclResult_t mini_plans_launch(struct mini_plan *plans);
void mini_plan_destroy(struct mini_plan *plan);
void mini_plans_destroy(struct mini_plan *plans);
void mini_ops_destroy(struct mini_op *ops);

/* What the kernel of a plan does. */
void mini_plan_kernel(struct mini_plan *plan);
/*
 * Whether the GPU is to stop dead in this kernel: it occupies its stream and does nothing
 * any more, while the threads of the process are well.
 */
bool mini_plan_is_dead(const struct mini_plan *plan);

/* A kernel of the library: so many blocks of threads, with arguments in a buffer. */
CUresult mini_kernel_launch(CUfunction function, CUstream stream, unsigned int blocks,
			    unsigned int threads, void *buffer, size_t size);
/* What was captured may be launched until the process ends. */
void mini_plan_keep(struct mini_plan *plan);

#endif
