/* SPDX-License-Identifier: MIT */
/*
 * What CUPTI is to each process: whether the tracer has it, who else does, and what it
 * lost.  So a kernel that is not in the trace has a reason there.
 *
 * Hides from when to when nothing could be seen, which is a problem of the trace, and for
 * which losses no launch has accounted yet.
 */
#ifndef TAP_JOIN_GPU_GPU_CUPTI_H
#define TAP_JOIN_GPU_GPU_CUPTI_H

#include "common/list.h"
#include "join/model/layer.h"

/* All zero is none. */
struct tap_gpu_cupti {
	int64_t first_ns; /* of the trace; set by the owner */
	struct tap_table by_process;
	TAP_LIST(struct tap_gpu_observer) all;
};

/* Each returns 0 or -errno. */

/* Who has CUPTI now. */
int tap_gpu_cupti_owner(struct tap_gpu_cupti *cupti, struct tap_context *context,
			const struct tap_process *process, const struct tap_event *event);
/* Records that were lost. */
int tap_gpu_cupti_lost(struct tap_gpu_cupti *cupti, struct tap_context *context,
		       const struct tap_process *process, const struct tap_event *event);
/* All events are over. */
int tap_gpu_cupti_finish(struct tap_gpu_cupti *cupti, struct tap_context *context);

/* How well the clock of the GPU was compared with ours. */
void tap_gpu_cupti_clock(struct tap_context *context, const struct tap_event *event);

/* Whether it is known that another has CUPTI in this process. */
bool tap_gpu_cupti_is_foreign(const struct tap_gpu_cupti *cupti,
			      const struct tap_process *process);

/*
 * Why nothing ran for a launch, when all events are over; a loss is the reason of as many
 * launches as were lost.  NONE: it may still run.
 */
enum tap_why tap_gpu_cupti_why_nothing(struct tap_gpu_cupti *cupti,
				       const struct tap_process *process);

void tap_gpu_cupti_free(struct tap_gpu_cupti *cupti);

#endif
