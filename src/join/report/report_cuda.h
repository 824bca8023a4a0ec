/* SPDX-License-Identifier: MIT */
/*
 * The report's part about the CUDA driver: sums for each stream, for each kernel, and for
 * each function that launched something.
 *
 * Hides how spans and links become these sums, and that kernels beyond a bound are
 * counted together.
 */
#ifndef TAP_JOIN_REPORT_REPORT_CUDA_H
#define TAP_JOIN_REPORT_REPORT_CUDA_H

#include "join/base/json.h"
#include "join/model/link.h"
#include "join/report/rows.h"

/* All zero is empty. */
struct tap_report_cuda {
	struct tap_rows streams; /* by (process, stream) */
	struct tap_rows kernels;
	uint64_t other_launches; /* launches of kernels beyond a bound */
	struct tap_rows calls;	 /* by (process, name of the call) */
};

/* Each returns 0 or -ENOMEM, and ignores spans and links of other layers. */
int tap_report_cuda_end(struct tap_report_cuda *report, const struct tap_span *span);
int tap_report_cuda_link(struct tap_report_cuda *report, const struct tap_link *link);

/* Sorts the tables, once, before they are written. */
void tap_report_cuda_sort(struct tap_report_cuda *report);
void tap_report_cuda_text(const struct tap_report_cuda *report, struct tap_buffer *line);
/* "cuda":{...} */
void tap_report_cuda_json(const struct tap_report_cuda *report, struct tap_json *json);

void tap_report_cuda_free(struct tap_report_cuda *report);

#endif
