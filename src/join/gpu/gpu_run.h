/* SPDX-License-Identifier: MIT */
/*
 * What ran on the GPU and waits: for its launch, which is recorded when the call has
 * returned, or for the end of the NCCL call around that.
 *
 * Hides how what waits is found by the number of its launch, and that memory is used
 * again.
 */
#ifndef TAP_JOIN_GPU_GPU_RUN_H
#define TAP_JOIN_GPU_GPU_RUN_H

#include "common/list.h"
#include "join/gpu/gpu_call.h"
#include "join/model/layer.h"

/* One kernel, copy or set. */
struct tap_gpu_run {
	struct tap_span *span;
	struct tap_gpu_launch *launch; /* NULL: not there yet; owned */
	struct tap_gpu_launch *root; /* the same; of a graph, what was captured; owned */
	uint64_t number;	     /* of its launch, 0 none */
	uint64_t node;		     /* of a graph, 0 none */
	int64_t reported_ns;	     /* when its event came */
	bool is_in_graph;

	/* Of the structure below. */
	TAP_LIST_LINK(struct tap_gpu_run) all;
	struct tap_gpu_run *next; /* waiting for the same launch; unused */
};

/* All zero is none. */
struct tap_gpu_runs {
	TAP_LIST(struct tap_gpu_run) all; /* in order of being reported */
	size_t count, waiting_count;
	struct tap_table waiting; /* for their launches, by (process, number) */
	int64_t waiting_min_ns;	  /* none of these began earlier */
	struct tap_gpu_run *unused;
};

/* In order of being reported; NULL: there is none, or no other. */
static inline struct tap_gpu_run *tap_gpu_runs_first(const struct tap_gpu_runs *runs)
{
	return runs->all.first;
}

static inline struct tap_gpu_run *tap_gpu_runs_next(const struct tap_gpu_run *run)
{
	return run->all.after;
}

static inline size_t tap_gpu_runs_count(const struct tap_gpu_runs *runs)
{
	return runs->count;
}

/* Whether any waits for its launch. */
static inline bool tap_gpu_runs_are_waiting(const struct tap_gpu_runs *runs)
{
	return runs->waiting_count;
}

/* A run of this span, which it owns; NULL when memory is short. */
struct tap_gpu_run *tap_gpu_runs_add(struct tap_gpu_runs *runs, struct tap_span *span);
/* The run is over; it waits for no launch. */
void tap_gpu_runs_drop(struct tap_gpu_runs *runs, struct tap_context *context,
		       struct tap_gpu_run *run);

/* It waits for its launch.  Returns 0 or -ENOMEM. */
int tap_gpu_runs_wait(struct tap_gpu_runs *runs, struct tap_gpu_run *run);
/* It has its launch, or gets none. */
void tap_gpu_runs_wait_no_more(struct tap_gpu_runs *runs, struct tap_gpu_run *run);

/* The first that waits for a launch of this number; those after it are its `next`. */
struct tap_gpu_run *tap_gpu_runs_waiting(const struct tap_gpu_runs *runs,
					 const struct tap_process *process,
					 uint64_t number);

/* What waits for a launch began at this time or later; INT64_MAX: nothing does. */
int64_t tap_gpu_runs_horizon(const struct tap_gpu_runs *runs);

void tap_gpu_runs_free(struct tap_gpu_runs *runs, struct tap_context *context);

#endif
