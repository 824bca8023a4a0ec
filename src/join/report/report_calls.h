/* SPDX-License-Identifier: MIT */
/*
 * The report's part about each called function, for each process and for all: how often,
 * how long, with which results and from where; and about each kind of work request.
 *
 * Hides that calls of the CUDA driver and waits have tables of their own, and that
 * callers and results beyond a bound are counted together.
 */
#ifndef TAP_JOIN_REPORT_REPORT_CALLS_H
#define TAP_JOIN_REPORT_REPORT_CALLS_H

#include "join/base/json.h"
#include "join/model/span.h"
#include "join/report/rows.h"
#include "join/views/symbol.h"

/* All zero is empty. */
struct tap_report_calls {
	struct tap_rows sums; /* by (process or all, function) */
};

/*
 * Counts a call that has ended; with has_stacks, callers with different stacks are
 * different.  Returns 0 or -ENOMEM.
 */
int tap_report_calls_end(struct tap_report_calls *report, const struct tap_span *span,
			 bool has_stacks);

/* Adds up all processes, and sorts, once, at the end.  Returns 0 or -ENOMEM. */
int tap_report_calls_finish(struct tap_report_calls *report);

/* What the calls of a process add up to; inner calls are part of others. */
struct tap_calls_total {
	uint64_t calls;
	uint64_t failures;
	uint64_t requests;    /* work requests */
	uint64_t work_errors; /* of them, those that ended in an error */
	/*
	 * The most frequent failure of a call, and of a work request: flushes, which
	 * follow other errors, are the last to be named.  NULL: none.
	 */
	const struct tap_name *failed, *failed_work;
	const char *failure, *work_error; /* NULL: the result has no name */
};

/* Adds up the calls of a process, or of all when process is NULL; after the sorting. */
struct tap_calls_total tap_report_calls_total(const struct tap_report_calls *report,
					      const struct tap_process *process);

/*
 * Adds a table of at most `lines` lines of the functions that took most time, without
 * waits.
 */
void tap_report_calls_busiest(const struct tap_report_calls *report, size_t lines,
			      struct tap_buffer *line);

/* Adds a table of the work requests of all processes; nothing where there are none. */
void tap_report_calls_requests(const struct tap_report_calls *report,
			       struct tap_buffer *line);

/*
 * Adds the tables of a process, or of all when process is NULL: as text, or as
 * "calls":[...] and "cuda_calls":[...], for all processes "all" and "all_cuda". symbols
 * NULL: no stacks.  Both return 0 or -ENOMEM.
 */
int tap_report_calls_text(const struct tap_report_calls *report,
			  const struct tap_process *process, struct tap_symbols *symbols,
			  struct tap_buffer *line);
int tap_report_calls_json(const struct tap_report_calls *report,
			  const struct tap_process *process, struct tap_symbols *symbols,
			  struct tap_json *json);

void tap_report_calls_free(struct tap_report_calls *report);

#endif
