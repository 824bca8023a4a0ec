/* SPDX-License-Identifier: MIT */
/*
 * A profiler plugin, which the program names in NCCL_PROFILER_PLUGIN, is told what the
 * library does, when and by the thread by which NCCL tells it (2.28.9,
 * plugin/profiler.cc).
 *
 * Hides which plugin there is, which version of the interface it has, and which of the
 * events it wants.  Where there is none, MINI_PROFILE() costs a look at a pointer.
 */
#ifndef MINI_NCCL_PROFILER_H
#define MINI_NCCL_PROFILER_H

#include "profiler_plugin.h"

#include <cuda.h>
#include <stdatomic.h>

struct mini_op;
struct mini_part;
struct mini_plan;
struct mini_proxy_op;
struct ncclComm;

struct mini_profiler;
extern const struct mini_profiler *_Atomic mini_profiler;

static inline bool mini_profiler_is_there(void)
{
	return atomic_load_explicit(&mini_profiler, memory_order_acquire);
}

#define MINI_PROFILE(call) \
	do { \
		if (mini_profiler_is_there()) \
			mini_profile_##call; \
	} while (0)

/* Of a communicator. */
struct mini_comm_profile {
	/* What the plugin calls it. */
	void *context;
	/* As the program's configuration has it; NULL: none. */
	const char *name;
	bool has_plugin;
	/* Collectives that were launched so far, of each function. */
	_Atomic uint64_t numbers[5];
};

/* Of an operation: what the plugin wanted when it was called, and its events. */
struct mini_op_profile {
	int mask;
	void *group_call;
	void *call;
	/* Of its last launch. */
	void *task;
};

/* The same of what a proxy does for it on one connection, perhaps another rank's. */
struct mini_proxy_profile {
	int mask;
	/* Who launched it. */
	pid_t pid;
	void *context;
	void *task;
	/* Bytes of a chunk. */
	size_t chunk;
	void *event;
	/* By the step on the connection, as many as MINI_STEPS. */
	void *steps[8];
	/* Of the last message. */
	size_t bytes;
};

/*
 * The plugin is loaded with the first communicator, and unloaded with the last one.  Once
 * the ranks have met, and before the communicator has any thread; and after all of it is
 * gone.
 */
void mini_profiler_open(struct ncclComm *comm);
void mini_profiler_close(struct ncclComm *comm);

/* Only where mini_profiler_is_there(), as all that begins with mini_profile_. */
int mini_profiler_mask(void);
void mini_profiler_start(void *context, void **handle, struct mini_event *event);
void mini_profiler_stop(void *handle);
void mini_profiler_record(void *handle, enum mini_event_state state,
			  union mini_event_argument argument);

/* As nccl.h calls the type. */
const char *mini_profiler_type(ncclDataType_t type);

/*
 * On the thread of the API.  An operation makes a group of its own, which is entered
 * before; `depth` is how many are open then.
 */
void mini_profile_enter(void);
void mini_profile_call_begin(struct ncclComm *comm, struct mini_op *op, int depth);
void mini_profile_call_end(const struct mini_op *op);
/* When a group's end is called, and when that returns. */
void mini_profile_group_end(void);
void mini_profile_group_over(void);

/* Whoever launches: the kernel of a plan, and what it gives to the proxy. */
void mini_profile_launch_begin(struct mini_plan *plan, CUstream stream);
void mini_profile_launch_end(struct mini_plan *plan);
/* What was begun, since the plan may be gone when that is over. */
struct mini_plan_profile {
	void *group;
	void **tasks;
	size_t count;
};
void mini_profile_plan_begin(struct mini_plan *plan, struct mini_plan_profile *profile);
void mini_profile_plan_end(struct mini_plan_profile *profile);

/* On the progress thread. */
void mini_profile_op(struct mini_proxy_profile *profile, const struct ncclComm *comm,
		     const struct mini_op *op, size_t chunk);
/* With the chunk of the first one that it stands together with. */
void mini_profile_op_begin(struct mini_proxy_op *op, size_t chunk);
void mini_profile_op_progress(struct mini_proxy_op *op);
void mini_profile_op_end(struct mini_proxy_op *op);
void mini_profile_step_begin(struct mini_proxy_op *op, int step);
void mini_profile_step_state(struct mini_proxy_op *op, int step,
			     enum mini_event_state state);
void mini_profile_step_end(struct mini_proxy_op *op, int step);

/* One state, or the first of two: then the event is over with the second. */
void mini_profile_control(void *context, enum mini_event_state state);
void mini_profile_control_begin(void *context, void **handle,
				enum mini_event_state state);
void mini_profile_control_end(void *handle, enum mini_event_state state, int added);

/* What a channel of a kernel does; several at once point to point. */
struct mini_kernel_profile;
void mini_profile_kernel_begin(struct mini_kernel_profile **profile,
			       const struct mini_plan *plan,
			       const struct mini_part *part);
void mini_profile_kernel_end(struct mini_kernel_profile *profile);

#endif
