/* SPDX-License-Identifier: MIT */
/*
 * Which collectives a launch may be of: those of the NCCL call that it was made in, which
 * is one, or, of the end of a group, those of the group.
 *
 * Hides how a launch of a group finds its own: by the device communicator and the
 * functions that NCCL told its kernel, and by what is known of that communicator from
 * calls that are alone.  Where two readings are left, none is taken.
 */
#ifndef TAP_JOIN_GPU_GPU_CALL_H
#define TAP_JOIN_GPU_GPU_CALL_H

#include "common/vec.h"
#include "join/model/link.h"

/* Operations of a group beyond so many are not told apart. */
#define TAP_GPU_OPS_MAX 1024
/* Launches of kernels in one call, the same. */
#define TAP_GPU_LAUNCHES_MAX 64

/* A call of NCCL that asks for something. */
struct tap_gpu_op {
	uint64_t call_id;
	const struct tap_name *name;
	struct tap_member *member;
	struct tap_operation operation;
	int64_t begin_ns;
};

/* A call in which something was launched. */
struct tap_gpu_call {
	unsigned int references;
	const struct tap_process *process;
	const struct tap_name *name;
	uint64_t call_id;
	int64_t begin_ns, end_ns;
	bool is_over;
	bool is_cut; /* there are more operations, or launches, than are kept */
	struct tap_gpu_op *ops;
	size_t op_count;
	TAP_VEC(struct tap_gpu_site_launch) launches; /* NCCL's kernels, in order */
};

/*
 * A call of the CUDA driver that put something on a stream.  Who keeps one has a
 * reference; gpu_launch.h makes it.
 */
struct tap_gpu_launch {
	unsigned int references;
	const struct tap_process *process;
	const struct tap_name *name;
	uint64_t call_id;
	int64_t begin_ns, end_ns;
	struct tap_gpu_call *call; /* that it was made in, or NULL */
	struct tap_fields about;   /* what is decoded of it: kernel.h */
};

/* All zero is none. */
struct tap_gpu_calls {
	struct tap_table open;	       /* calls by (process, number) */
	struct tap_table groups;       /* by (process, thread) */
	struct tap_table device_comms; /* comm_id by (process, device communicator) */
	struct tap_table comms;	       /* a device communicator by (process, comm_id) */
};

/* Both return 0 or -ENOMEM. */

/* A launch in this call, which is open; NULL: in none. */
int tap_gpu_calls_launch(struct tap_gpu_calls *calls, const struct tap_span *call,
			 struct tap_gpu_launch *launch);
/* The call that this span is, when something was launched in it; NULL: nothing was. */
const struct tap_gpu_call *tap_gpu_calls_find(const struct tap_gpu_calls *calls,
					      const struct tap_span *span);
/* A call of NCCL has ended. */
int tap_gpu_calls_ended(struct tap_gpu_calls *calls, const struct tap_span *span);

/* Which operations something is a part of. */
struct tap_gpu_reading {
	enum tap_known known;
	enum tap_why why; /* NONE: it has some */
	const struct tap_gpu_op **ops;
	size_t count;
};

/*
 * What a launch, whose call is over, is a part of; about tells of the kernel itself where
 * the launch does not.  The list is the caller's to free.  Returns 0 or -ENOMEM.
 */
int tap_gpu_calls_read(const struct tap_gpu_calls *calls,
		       const struct tap_gpu_launch *launch,
		       const struct tap_fields *about, struct tap_gpu_reading *reading);

void tap_gpu_launch_put(struct tap_gpu_launch *launch);

void tap_gpu_calls_free(struct tap_gpu_calls *calls);

#endif
