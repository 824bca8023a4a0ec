/* SPDX-License-Identifier: MIT */
/*
 * Finds the collectives that a launch may belong to: the one that the enclosing NCCL call
 * asks for or, if that call ends a group, those of the group.
 *
 * Hides how a launch is matched within a group: by the GPU, by the device communicator
 * and the functions in the kernel's arguments, and by what calls with a single
 * communicator show about that device communicator.  Where two readings remain, neither
 * is taken.
 */
#ifndef TAP_JOIN_GPU_GPU_CALL_H
#define TAP_JOIN_GPU_GPU_CALL_H

#include "common/vec.h"
#include "join/model/link.h"

/*
 * A group with more operations than this is given up: an all-to-all of sends and receives
 * has two for each rank, and a process may have several ranks in one group.
 */
#define TAP_GPU_OPS_MAX 32768
/* So many are kept for all calls that are not forgotten; more calls are given up. */
#define TAP_GPU_OPS_KEPT_MAX 1048576
/* A call with more kernel launches than this is given up. */
#define TAP_GPU_LAUNCHES_MAX 64

/* An NCCL call that asks for an operation. */
struct tap_gpu_op {
	uint64_t call_id;
	const struct tap_name *name;
	struct tap_member *member;
	struct tap_operation operation;
	int64_t begin_ns;
	bool is_captured; /* it is for a graph */
};

/* A call that encloses launches. */
struct tap_gpu_call {
	unsigned int references;
	const struct tap_process *process;
	const struct tap_name *name;
	uint64_t call_id;
	int64_t begin_ns, end_ns;
	bool is_over;
	bool is_kept;	  /* it returned, but a thread of NCCL's still works for it */
	bool is_worked;	  /* that thread has ended */
	bool is_cut;	  /* it has more operations, or launches, than are kept */
	bool has_batches; /* copy engines may carry some of its operations out */
	bool has_unknown; /* it launches kernels that may be NCCL's or not */
	struct tap_gpu_op *ops;
	size_t op_count;
	size_t *kept_ops; /* of all calls: these are counted there */
	TAP_VEC(struct tap_gpu_site_launch) launches; /* NCCL's kernels, in order */
};

/*
 * A CUDA driver call that put work on a stream; gpu_launch.h makes it.  Each holder has a
 * reference.
 */
struct tap_gpu_launch {
	unsigned int references;
	const struct tap_process *process;
	const struct tap_name *name;
	uint64_t call_id;
	int64_t begin_ns, end_ns;
	struct tap_gpu_call *call; /* that encloses it, or NULL */
	uint64_t context;	   /* 0 unknown */
	struct tap_fields about;   /* decoded fields: kernel.h */
	uint64_t blocks;	   /* of a kernel's grid, its first component */
};

/* Empty when all zero. */
struct tap_gpu_calls {
	struct tap_table open;	       /* calls by (process, number) */
	struct tap_table groups;       /* by (process, thread) */
	struct tap_table device_comms; /* comm_id by (process, device communicator) */
	struct tap_table comms;	       /* a device communicator by (process, comm_id) */
	/* Calls that are kept, in the order in which they returned. */
	TAP_VEC(struct tap_gpu_call *) kept;
	size_t kept_ops; /* of all calls that have references */
};

/* All return 0 or -ENOMEM. */

/* Adds a launch to the open call that encloses it; NULL: no call does. */
int tap_gpu_calls_launch(struct tap_gpu_calls *calls, const struct tap_span *call,
			 struct tap_gpu_launch *launch);
/* The call encloses what NCCL makes collectives of by copy engines; NULL: none does. */
int tap_gpu_calls_batch(struct tap_gpu_calls *calls, const struct tap_span *call);
/* The call of this span if it encloses launches, else NULL. */
const struct tap_gpu_call *tap_gpu_calls_find(const struct tap_gpu_calls *calls,
					      const struct tap_span *span);
/* Takes an NCCL call that has ended; is_kept: until tap_gpu_calls_drop(). */
int tap_gpu_calls_ended(struct tap_gpu_calls *calls, const struct tap_span *span,
			bool is_kept);

/* The oldest call that is kept, if there are more than so many; NULL: there are not. */
const struct tap_gpu_call *tap_gpu_calls_kept(const struct tap_gpu_calls *calls,
					      size_t more_than);
/*
 * A thread has done what it was created for in this call.  Returns the call if it is
 * kept; else NULL, and the call will not be.
 */
const struct tap_gpu_call *tap_gpu_calls_worked(struct tap_gpu_calls *calls,
						const struct tap_process *process,
						uint64_t call_id);
/* No thread works any more for a call that is kept: it is over. */
void tap_gpu_calls_drop(struct tap_gpu_calls *calls, const struct tap_gpu_call *call);

/* The operations that a run is a part of. */
struct tap_gpu_reading {
	enum tap_known known;
	enum tap_why why; /* NONE: ops has some */
	const struct tap_gpu_op **ops;
	size_t count;
};

/*
 * Finds the operations that a launch, whose call is over, is a part of; `about` describes
 * the kernel where the launch does not.  The caller frees the list.  Returns 0 or
 * -ENOMEM.
 */
int tap_gpu_calls_read(const struct tap_gpu_calls *calls,
		       const struct tap_gpu_launch *launch,
		       const struct tap_fields *about, struct tap_gpu_reading *reading);

/*
 * Whether copy engines carried out the operation of this call, which is over.  Then it
 * has no kernel, and no messages.
 */
bool tap_gpu_calls_is_copied(const struct tap_gpu_call *call,
			     const struct tap_gpu_op *op);

/*
 * Whether the reading has all operations of the call on its communicator that kernels
 * carry out, and no other launch of the call has a part in them.
 */
bool tap_gpu_calls_is_whole(const struct tap_gpu_launch *launch,
			    const struct tap_gpu_reading *reading);

void tap_gpu_launch_put(struct tap_gpu_launch *launch);

void tap_gpu_calls_free(struct tap_gpu_calls *calls);

#endif
