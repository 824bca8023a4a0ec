/* SPDX-License-Identifier: MIT */
/*
 * Launches that may still have runs, by process and correlation number.
 *
 * Hides how long a launch is kept: a kernel's until the kernel has run, a copy's or
 * graph's, which may have several runs, until none has come for a while; that numbers
 * start anew; and the bounds beyond which the oldest launch is given up.
 */
#ifndef TAP_JOIN_GPU_GPU_LAUNCH_H
#define TAP_JOIN_GPU_GPU_LAUNCH_H

#include "common/list.h"
#include "join/gpu/gpu_call.h"
#include "join/gpu/gpu_cupti.h"
#include "join/model/layer.h"

/* Empty when all zero. */
struct tap_gpu_launches {
	struct tap_table by_number;		      /* the newest first */
	TAP_LIST(struct tap_gpu_pending) outstanding; /* by begin_ns */
	TAP_LIST(struct tap_gpu_pending) retained;    /* by the time of the last run */
	TAP_LIST(struct tap_gpu_pending) repeated;    /* with several runs */
	size_t outstanding_count, repeated_count;
};

/* CUPTI's correlation number of a launch.  Returns 0, or -ENOENT where there is none. */
int tap_gpu_launch_number(const struct tap_span *span, uint64_t *ret_number);

/* Makes the launch of a span; the caller puts it.  NULL when memory is short. */
struct tap_gpu_launch *tap_gpu_launch_make(const struct tap_span *span);

/* Whether a launch may have several runs. */
bool tap_gpu_launch_is_repeated(const struct tap_gpu_launch *launch);

/* Files a launch; is_pending: a run is expected.  Returns 0 or -ENOMEM. */
int tap_gpu_launches_add(struct tap_gpu_launches *launches, struct tap_context *context,
			 struct tap_gpu_launch *launch, bool is_pending);

/* A run whose launch is wanted. */
struct tap_gpu_wanted {
	const struct tap_process *process;
	uint64_t number;
	int64_t begin_ns, reported_ns;
};

/*
 * The launch of a run: of those with its number, the last that began before the run.
 * *ret_is_ambiguous: an older one of these has no run yet.
 */
struct tap_gpu_launch *tap_gpu_launches_find(const struct tap_gpu_launches *launches,
					     const struct tap_gpu_wanted *wanted,
					     bool *ret_is_ambiguous);

/* Whether the launch began before a run was reported, and so may be the run's. */
bool tap_gpu_launch_is_possible(const struct tap_gpu_launch *launch, int64_t reported_ns);

/* Notes a run of the launch. */
void tap_gpu_launches_found(struct tap_gpu_launches *launches,
			    struct tap_gpu_launch *launch, int64_t now_ns);
/* Notes that a run of the launch was emitted. */
void tap_gpu_launches_emitted(struct tap_gpu_launches *launches,
			      struct tap_gpu_launch *launch);

static inline bool tap_gpu_launches_are_retained(const struct tap_gpu_launches *launches)
{
	return launches->retained.first != NULL;
}

void tap_gpu_launches_advance(struct tap_gpu_launches *launches, int64_t now_ns);
/* Call after the last event: counts the launches without a run, with the reason. */
void tap_gpu_launches_finish(struct tap_gpu_launches *launches,
			     struct tap_context *context, struct tap_gpu_cupti *cupti);

/* When the oldest outstanding launch began; INT64_MAX: none is outstanding. */
int64_t tap_gpu_launches_horizon(const struct tap_gpu_launches *launches);

void tap_gpu_launches_free(struct tap_gpu_launches *launches,
			   struct tap_context *context);

#endif
