/* SPDX-License-Identifier: MIT */
/*
 * What the report says of the CUDA driver: sums for each stream, for each kernel, and for
 * each function that something was launched in.
 */
#ifndef TAP_JOIN_REPORT_REPORT_CUDA_H
#define TAP_JOIN_REPORT_REPORT_CUDA_H

#include "join/model/link.h"
#include "join/views/view.h"

/* All zero is nothing. */
struct tap_report_cuda {
	struct tap_table by_stream; /* by (process, stream) */
	struct tap_table by_kernel; /* the first, by (process, hash of the name) */
	struct tap_table by_call;   /* by (process, name of the call) */
	struct tap_stream_sum *streams, **streams_end;
	struct tap_kernel_sum **kernels;
	size_t kernel_count, kernel_room;
	uint64_t other_launches; /* of kernels beyond a bound */
	struct tap_launch_sum *calls, **calls_end;
};

/* Each returns 0 or -ENOMEM; spans and links of other layers are passed over. */
int tap_report_cuda_end(struct tap_report_cuda *report, const struct tap_span *span);
int tap_report_cuda_link(struct tap_report_cuda *report, const struct tap_link *link);

/* Once, before what is written. */
void tap_report_cuda_sort(struct tap_report_cuda *report);
void tap_report_cuda_text(const struct tap_report_cuda *report, struct tap_buffer *line);
/* "cuda":{...} */
void tap_report_cuda_json(const struct tap_report_cuda *report, struct tap_json *json);

void tap_report_cuda_free(struct tap_report_cuda *report);

#endif
