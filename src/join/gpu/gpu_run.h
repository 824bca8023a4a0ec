/* SPDX-License-Identifier: MIT */
/*
 * Runs that wait: for their launch, which is recorded when its call returns, or for the
 * end of the enclosing NCCL call.
 *
 * Hides how a waiting run is found by the number of its launch, and that memory is
 * reused.
 */
#ifndef TAP_JOIN_GPU_GPU_RUN_H
#define TAP_JOIN_GPU_GPU_RUN_H

#include "common/list.h"
#include "join/gpu/gpu_call.h"
#include "join/model/layer.h"

/* A kernel, copy or memset that ran on the GPU. */
struct tap_gpu_run {
	struct tap_span *span;
	struct tap_gpu_launch *launch; /* NULL: not found yet; owned */
	struct tap_gpu_launch *root;   /* the launch, or what its graph captured; owned */
	uint64_t number;	       /* of its launch, 0 none */
	uint64_t node;		       /* of a graph, 0 none */
	int64_t reported_ns;	       /* time of its event */
	bool is_in_graph;

	/* For struct tap_gpu_runs. */
	TAP_LIST_LINK(struct tap_gpu_run) all;
	struct tap_gpu_run *next; /* waiting for the same launch; unused */
};

/* Empty when all zero. */
struct tap_gpu_runs {
	TAP_LIST(struct tap_gpu_run) all; /* by reported_ns */
	size_t count, waiting_count;
	struct tap_table waiting; /* for their launches, by (process, number) */
	int64_t waiting_min_ns;	  /* no waiting run began earlier */
	struct tap_gpu_run *unused;
};

/* By reported_ns; NULL after the last. */
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

/* Whether any run waits for its launch. */
static inline bool tap_gpu_runs_are_waiting(const struct tap_gpu_runs *runs)
{
	return runs->waiting_count;
}

/* Makes a run that owns the span; NULL when memory is short. */
struct tap_gpu_run *tap_gpu_runs_add(struct tap_gpu_runs *runs, struct tap_span *span);
/* Drops a run that does not wait for its launch. */
void tap_gpu_runs_drop(struct tap_gpu_runs *runs, struct tap_context *context,
		       struct tap_gpu_run *run);

/* Makes a run wait for its launch.  Returns 0 or -ENOMEM. */
int tap_gpu_runs_wait(struct tap_gpu_runs *runs, struct tap_gpu_run *run);
/* Ends the wait of a run that has its launch, or will get none. */
void tap_gpu_runs_wait_no_more(struct tap_gpu_runs *runs, struct tap_gpu_run *run);

/* The first run that waits for a launch of this number; `next` leads to the others. */
struct tap_gpu_run *tap_gpu_runs_waiting(const struct tap_gpu_runs *runs,
					 const struct tap_process *process,
					 uint64_t number);

/* No run that waits for its launch began earlier; INT64_MAX: no run waits. */
int64_t tap_gpu_runs_horizon(const struct tap_gpu_runs *runs);

void tap_gpu_runs_free(struct tap_gpu_runs *runs, struct tap_context *context);

#endif
