/* SPDX-License-Identifier: MIT */
/*
 * What the report says of the wire: sums for each queue pair and for each pair of
 * processes that talk, with percentiles of the time from post to completion.
 *
 * Hides how percentiles are had in bounded memory.
 */
#ifndef TAP_JOIN_REPORT_REPORT_WORK_H
#define TAP_JOIN_REPORT_REPORT_WORK_H

#include "join/model/link.h"
#include "join/base/spread.h"
#include "join/views/view.h"

/* All zero is nothing. */
struct tap_report_work {
	struct tap_table by_queue; /* by (process, queue pair) */
	struct tap_table by_peer;  /* by (process, process) */
	struct tap_work_sum *queues, **queues_end;
	struct tap_work_sum *peers, **peers_end;
};

/* Each returns 0 or -ENOMEM; spans and links of other layers are passed over. */
int tap_report_work_begin(struct tap_report_work *report, const struct tap_span *span);
int tap_report_work_end(struct tap_report_work *report, const struct tap_span *span);
int tap_report_work_link(struct tap_report_work *report, const struct tap_link *link);

void tap_report_work_text(const struct tap_report_work *report, struct tap_buffer *line);
/* "queue_pairs":[...],"peers":[...] */
void tap_report_work_json(const struct tap_report_work *report, struct tap_json *json);

/* "rank 3", and a duration in a column; -1 unknown. */
void tap_report_work_add_process(struct tap_buffer *line,
				 const struct tap_process *process);
void tap_report_work_add_duration(struct tap_buffer *line, int64_t ns);
/* "1.234 ms" where it is exact, "~1.2 ms" where it is not. */
void tap_report_work_add_percentile(struct tap_buffer *line,
				    const struct tap_spread *spread,
				    unsigned int percent);

void tap_report_work_free(struct tap_report_work *report);

#endif
