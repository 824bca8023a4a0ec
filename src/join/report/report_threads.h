/* SPDX-License-Identifier: MIT */
/*
 * The report's part about NCCL's own threads: for each process, role and communicator how
 * many there were, how certain that is, and how the threads rested.
 *
 * Hides how threads become these sums.
 */
#ifndef TAP_JOIN_REPORT_REPORT_THREADS_H
#define TAP_JOIN_REPORT_REPORT_THREADS_H

#include "join/base/json.h"
#include "join/model/nccl_thread.h"
#include "join/report/rows.h"

/* All zero is empty. */
struct tap_report_threads {
	struct tap_rows roles;
};

/* Returns 0 or -ENOMEM. */
int tap_report_threads_add(struct tap_report_threads *report,
			   const struct tap_nccl_thread *thread);

/* Sorts the table, once, before it is written. */
void tap_report_threads_sort(struct tap_report_threads *report);
void tap_report_threads_text(const struct tap_report_threads *report,
			     struct tap_buffer *line);
/* "nccl_threads":[...] */
void tap_report_threads_json(const struct tap_report_threads *report,
			     struct tap_json *json);

void tap_report_threads_free(struct tap_report_threads *report);

#endif
