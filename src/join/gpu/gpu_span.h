/* SPDX-License-Identifier: MIT */
/*
 * Emits runs on the GPU as spans, with their fields, operation and links.
 *
 * Hides the names of the fields, where kernel names are kept, and how certain it is which
 * collective a kernel is a part of.
 */
#ifndef TAP_JOIN_GPU_GPU_SPAN_H
#define TAP_JOIN_GPU_GPU_SPAN_H

#include "join/gpu/gpu_run.h"

/* Empty when all zero. */
struct tap_gpu_spans {
	struct tap_table functions; /* names by (process, number) */
	uint64_t count;		    /* spans made */
};

/* Takes the event that gives a kernel's name a number.  Returns 0 or -ENOMEM. */
int tap_gpu_spans_name(struct tap_gpu_spans *spans, struct tap_context *context,
		       const struct tap_process *process, const struct tap_event *event);

/* Makes the span of a run from its event, whose fields move.  NULL: memory is short. */
struct tap_span *tap_gpu_spans_make(struct tap_gpu_spans *spans,
				    struct tap_context *context,
				    const struct tap_process *process,
				    struct tap_event *event);

/* Copies the fields that kernel.h adds to a launch.  Returns 0 or -ENOMEM. */
int tap_gpu_copy_about(struct tap_fields *to, const struct tap_fields *from);

/*
 * Emits a run about which nothing more can become known; `why` says why it has no launch.
 * Returns 0, -ENOMEM or the consumer's error.
 */
int tap_gpu_emit(struct tap_context *context, const struct tap_gpu_calls *calls,
		 struct tap_gpu_run *run, enum tap_why why);

void tap_gpu_spans_free(struct tap_gpu_spans *spans);

#endif
