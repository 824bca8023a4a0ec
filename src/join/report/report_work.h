/* SPDX-License-Identifier: MIT */
/*
 * The report's part about work requests: sums for each queue pair and for each pair of
 * processes that exchange messages, with percentiles of the time from post to completion.
 *
 * Hides how spans and links become the sums of a queue pair and of a pair of processes.
 */
#ifndef TAP_JOIN_REPORT_REPORT_WORK_H
#define TAP_JOIN_REPORT_REPORT_WORK_H

#include "join/base/json.h"
#include "join/base/spread.h"
#include "join/model/link.h"
#include "join/report/rows.h"

/* All zero is empty. */
struct tap_report_work {
	struct tap_rows queues; /* by (process, queue pair) */
	struct tap_rows peers;	/* by (process, process) */
};

/* Each returns 0 or -ENOMEM, and ignores spans and links of other layers. */
int tap_report_work_begin(struct tap_report_work *report, const struct tap_span *span);
int tap_report_work_end(struct tap_report_work *report, const struct tap_span *span);
int tap_report_work_link(struct tap_report_work *report, const struct tap_link *link);

/* What a process sent to another, NULL: the peer is not known. */
struct tap_work_traffic {
	const struct tap_process *from, *to;
	uint64_t messages, bytes;
	const struct tap_spread *latency; /* from the posts until they are completed */
};
struct tap_work_traffic tap_report_work_traffic(const struct tap_report_work *report,
						size_t at);

/* Sorts the tables, once, before they are written. */
void tap_report_work_sort(struct tap_report_work *report);
/* Adds a table of at most `lines` lines of the queue pairs that matter most. */
void tap_report_work_top(const struct tap_report_work *report, size_t lines,
			 struct tap_buffer *line);
void tap_report_work_text(const struct tap_report_work *report, struct tap_buffer *line);
/* "queue_pairs":[...],"peers":[...] */
void tap_report_work_json(const struct tap_report_work *report, struct tap_json *json);

void tap_report_work_free(struct tap_report_work *report);

#endif
