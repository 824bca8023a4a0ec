/* SPDX-License-Identifier: MIT */
/*
 * What the report says of each called function, for each process and for all: how often,
 * how long, with which results and from where.
 *
 * Hides that the CUDA driver's calls are a table of their own, and what becomes of very
 * many callers and results.
 */
#ifndef TAP_JOIN_REPORT_REPORT_CALLS_H
#define TAP_JOIN_REPORT_REPORT_CALLS_H

#include "join/base/json.h"
#include "join/model/span.h"
#include "join/report/rows.h"
#include "join/views/symbol.h"

/* All zero is nothing. */
struct tap_report_calls {
	struct tap_rows sums; /* by (process or all, function) */
};

/* A call has ended; callers are told apart by their stacks, too.  0 or -ENOMEM. */
int tap_report_calls_end(struct tap_report_calls *report, const struct tap_span *span,
			 bool has_stacks);

/* Once, before what is written. */
void tap_report_calls_sort(struct tap_report_calls *report);

/*
 * Of a process, or, where it is NULL, of all: its tables, or "calls":[...] and
 * "cuda_calls":[...], of all "all" and "all_cuda".  symbols NULL: no stacks.  Both return
 * 0 or -ENOMEM.
 */
int tap_report_calls_text(const struct tap_report_calls *report,
			  const struct tap_process *process, struct tap_symbols *symbols,
			  struct tap_buffer *line);
int tap_report_calls_json(const struct tap_report_calls *report,
			  const struct tap_process *process, struct tap_symbols *symbols,
			  struct tap_json *json);

void tap_report_calls_free(struct tap_report_calls *report);

#endif
