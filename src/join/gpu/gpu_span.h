/* SPDX-License-Identifier: MIT */
/*
 * What ran on the GPU as a span, with the fields, the operation and the links that the
 * consumer gets.
 *
 * Hides which field says what, where the name of a kernel is kept, and how sure it is of
 * which collective a kernel is a part.
 */
#ifndef TAP_JOIN_GPU_GPU_SPAN_H
#define TAP_JOIN_GPU_GPU_SPAN_H

#include "join/gpu/gpu_run.h"

/* All zero is none. */
struct tap_gpu_spans {
	struct tap_table functions; /* names by (process, number) */
	uint64_t count;		    /* that were made */
};

/* The name of a kernel, by the number that its events have.  Returns 0 or -ENOMEM. */
int tap_gpu_spans_name(struct tap_gpu_spans *spans, struct tap_context *context,
		       const struct tap_process *process, const struct tap_event *event);

/* What an event of something that ran says; its fields move.  NULL: memory is short. */
struct tap_span *tap_gpu_spans_make(struct tap_gpu_spans *spans,
				    struct tap_context *context,
				    const struct tap_process *process,
				    struct tap_event *event);

/* What kernel.h says of a launch, as fields.  Returns 0 or -ENOMEM. */
int tap_gpu_copy_about(struct tap_fields *to, const struct tap_fields *from);

/*
 * Gives a run to the consumer: all that can be known of it is; why: it has no launch.
 * Returns 0, -ENOMEM or what the consumer says.
 */
int tap_gpu_emit(struct tap_context *context, const struct tap_gpu_calls *calls,
		 struct tap_gpu_run *run, enum tap_why why);

void tap_gpu_spans_free(struct tap_gpu_spans *spans);

#endif
