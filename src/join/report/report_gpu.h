/* SPDX-License-Identifier: MIT */
/*
 * The report's part about GPUs: which streams were busy, how long each collective took
 * from its call to the end of its kernel, step by step, and which kernels are not NCCL's.
 *
 * Hides how spans become these sums, and that rows beyond a bound are counted together.
 */
#ifndef TAP_JOIN_REPORT_REPORT_GPU_H
#define TAP_JOIN_REPORT_REPORT_GPU_H

#include "join/base/json.h"
#include "join/model/span.h"
#include "join/report/rows.h"

/* All zero is empty. */
struct tap_report_gpu {
	struct tap_rows streams; /* by (process, device and stream) */
	struct tap_rows kernels;
	struct tap_rows calls; /* by (member of a communicator or process, name) */
	uint64_t others;       /* spans beyond a bound */
};

/* Counts a span of the layer of the GPU. Returns 0 or -ENOMEM. */
int tap_report_gpu_end(struct tap_report_gpu *report, const struct tap_span *span);

/* Sorts the tables, once, before they are written. */
void tap_report_gpu_sort(struct tap_report_gpu *report);
void tap_report_gpu_text(const struct tap_report_gpu *report, struct tap_buffer *line);
/* "gpu":{...} */
void tap_report_gpu_json(const struct tap_report_gpu *report, struct tap_json *json);

void tap_report_gpu_free(struct tap_report_gpu *report);

#endif
