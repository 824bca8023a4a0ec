/* SPDX-License-Identifier: MIT */
/*
 * Spans that are not calls: a work request, a message of NCCL's network code, what NCCL's
 * proxy makes of messages, work that ran on a GPU.
 *
 * Hides how such a span is made, and how every view names it and its row.
 */
#ifndef TAP_JOIN_MODEL_WORK_H
#define TAP_JOIN_MODEL_WORK_H

#include "join/model/span.h"

struct tap_context;

/* Makes a running span of work.  Returns NULL when memory is short. */
struct tap_span *tap_work_make_span(struct tap_context *context,
				    const struct tap_process *process, const char *layer,
				    const char *name, int64_t tid);
/* Adds the status of the work's completion. */
void tap_work_add_status(struct tap_fields *fields, uint64_t status);

/*
 * "0.q3.1.s17", "0.n3.s17", "0.p17", "0.c17" or "0.g17", a number that no other span of
 * the trace has.
 */
void tap_work_add_id(struct tap_buffer *buffer, const struct tap_process *process,
		     const struct tap_work *work);
/* "qp 3 send", "gpu 0", "net 3 send" or "thread 11", the row that shows it. */
void tap_work_add_row(struct tap_buffer *buffer, const struct tap_work *work);

#endif
