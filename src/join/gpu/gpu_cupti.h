/* SPDX-License-Identifier: MIT */
/*
 * The state of CUPTI in each process: whether the tracer owns it, who else does, and how
 * many records it lost.  This gives the reason why a kernel is not in the trace.
 *
 * Hides the intervals in which the tracer could not see kernels, which are problems of
 * the trace, and the losses that no launch accounts for yet.
 */
#ifndef TAP_JOIN_GPU_GPU_CUPTI_H
#define TAP_JOIN_GPU_GPU_CUPTI_H

#include "common/list.h"
#include "join/model/layer.h"

/* Empty when all zero. */
struct tap_gpu_cupti {
	int64_t first_ns; /* begin of the trace; the owner sets it */
	struct tap_table by_process;
	TAP_LIST(struct tap_gpu_observer) all;
};

/* Each returns 0 or -errno. */

/* Takes an event that reports the owner of CUPTI. */
int tap_gpu_cupti_owner(struct tap_gpu_cupti *cupti, struct tap_context *context,
			const struct tap_process *process, const struct tap_event *event);
/* Takes an event that reports lost records. */
int tap_gpu_cupti_lost(struct tap_gpu_cupti *cupti, struct tap_context *context,
		       const struct tap_process *process, const struct tap_event *event);
/* Call after the last event: reports the intervals that have not ended. */
int tap_gpu_cupti_finish(struct tap_gpu_cupti *cupti, struct tap_context *context);

/*
 * Takes an event that reports how well the tracer aligned the GPU's clock with its own.
 */
void tap_gpu_cupti_clock(struct tap_context *context, const struct tap_event *event);

/* Whether the tracer is known not to own CUPTI in this process. */
bool tap_gpu_cupti_is_foreign(const struct tap_gpu_cupti *cupti,
			      const struct tap_process *process);

/*
 * Why nothing ran for a launch, at the end of the trace; each lost record is the reason
 * for one launch.  NONE: it may still run.
 */
enum tap_why tap_gpu_cupti_why_nothing(struct tap_gpu_cupti *cupti,
				       const struct tap_process *process);

void tap_gpu_cupti_free(struct tap_gpu_cupti *cupti);

#endif
