/* SPDX-License-Identifier: MIT */
/*
 * What the report says of the GPU: which streams were busy, where the time of each
 * collective went, from the call to the kernel, and which kernels are not NCCL's.
 */
#ifndef TAP_JOIN_REPORT_REPORT_GPU_H
#define TAP_JOIN_REPORT_REPORT_GPU_H

#include "join/views/view.h"

/* All zero is nothing. */
struct tap_report_gpu {
	struct tap_table by_stream; /* by (process, device and stream) */
	struct tap_table by_kernel; /* the first, by (process, hash of the name) */
	struct tap_table by_call;   /* by (communicator's member or process, name) */
	struct tap_gpu_sum **streams, **kernels, **calls;
	size_t stream_count, stream_room;
	size_t kernel_count, kernel_room;
	size_t call_count, call_room;
	uint64_t others; /* kernels beyond a bound */
};

/* A span of the layer of the GPU.  Returns 0 or -ENOMEM. */
int tap_report_gpu_end(struct tap_report_gpu *report, const struct tap_span *span);

/* Once, before what is written. */
void tap_report_gpu_sort(struct tap_report_gpu *report);
void tap_report_gpu_text(const struct tap_report_gpu *report, struct tap_buffer *line);
/* "gpu":{...} */
void tap_report_gpu_json(const struct tap_report_gpu *report, struct tap_json *json);

void tap_report_gpu_free(struct tap_report_gpu *report);

#endif
