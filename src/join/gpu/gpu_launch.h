/* SPDX-License-Identifier: MIT */
/*
 * The launches for which something may still run, by process and correlation number.
 *
 * Hides for how long: for a kernel until it ran, for a copy or a graph, for which more
 * than one thing runs, until nothing ran for a while; that numbers begin anew; and the
 * bounds beyond which the oldest is given up.
 */
#ifndef TAP_JOIN_GPU_GPU_LAUNCH_H
#define TAP_JOIN_GPU_GPU_LAUNCH_H

#include "common/list.h"
#include "join/gpu/gpu_call.h"
#include "join/gpu/gpu_cupti.h"
#include "join/model/layer.h"

/* All zero is none. */
struct tap_gpu_launches {
	struct tap_table by_number;		      /* the newest first */
	TAP_LIST(struct tap_gpu_pending) outstanding; /* by their beginnings */
	TAP_LIST(struct tap_gpu_pending) retained;    /* by when something last ran */
	TAP_LIST(struct tap_gpu_pending) repeated;    /* those that stay */
	size_t outstanding_count, repeated_count;
};

/* The number by which CUPTI knows a launch.  Returns 0, -ENOENT where there is none. */
int tap_gpu_launch_number(const struct tap_span *span, uint64_t *ret_number);

/* The launch that a span is, for its owner to put.  NULL when memory is short. */
struct tap_gpu_launch *tap_gpu_launch_make(const struct tap_span *span);

/* More than one thing may run for it. */
bool tap_gpu_launch_is_repeated(const struct tap_gpu_launch *launch);

/* It can be found from here on; pending: something will run for it.  0 or -ENOMEM. */
int tap_gpu_launches_add(struct tap_gpu_launches *launches, struct tap_context *context,
			 struct tap_gpu_launch *launch, bool is_pending);

/* What ran, and when it was reported. */
struct tap_gpu_wanted {
	const struct tap_process *process;
	uint64_t number;
	int64_t begin_ns, reported_ns;
};

/*
 * The launch of what ran: the one that began last before it, where the numbers began
 * anew.  Two for which nothing ran yet are no answer.
 */
struct tap_gpu_launch *tap_gpu_launches_find(const struct tap_gpu_launches *launches,
					     const struct tap_gpu_wanted *wanted,
					     bool *ret_is_ambiguous);

/* What is reported before a launch began did not run for it. */
bool tap_gpu_launch_is_possible(const struct tap_gpu_launch *launch, int64_t reported_ns);

/* Something ran for it. */
void tap_gpu_launches_found(struct tap_gpu_launches *launches,
			    struct tap_gpu_launch *launch, int64_t now_ns);
/* What ran for it has been given to the consumer. */
void tap_gpu_launches_emitted(struct tap_gpu_launches *launches,
			      struct tap_gpu_launch *launch);

void tap_gpu_launches_advance(struct tap_gpu_launches *launches, int64_t now_ns);
/* All events are over: counts those for which nothing ran, with the reason. */
void tap_gpu_launches_finish(struct tap_gpu_launches *launches,
			     struct tap_context *context, struct tap_gpu_cupti *cupti);

/* When the oldest that is outstanding began; INT64_MAX: there is none. */
int64_t tap_gpu_launches_horizon(const struct tap_gpu_launches *launches);

void tap_gpu_launches_free(struct tap_gpu_launches *launches,
			   struct tap_context *context);

#endif
