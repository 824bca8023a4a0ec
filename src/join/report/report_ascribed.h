/* SPDX-License-Identifier: MIT */
/*
 * The report's part about what NCCL's messages were for: messages and bytes on the wire
 * by communicator and function, and those that are ascribed to none.
 *
 * Hides how links become these sums.
 */
#ifndef TAP_JOIN_REPORT_REPORT_ASCRIBED_H
#define TAP_JOIN_REPORT_REPORT_ASCRIBED_H

#include "join/base/json.h"
#include "join/model/link.h"
#include "join/report/rows.h"

/* All zero is empty. */
struct tap_report_ascribed {
	struct tap_rows functions; /* by (communicator, function) */
};

/* Returns 0 or -ENOMEM, and ignores other links. */
int tap_report_ascribed_link(struct tap_report_ascribed *report,
			     const struct tap_link *link);

/* Sorts the table, once, before it is written. */
void tap_report_ascribed_sort(struct tap_report_ascribed *report);
void tap_report_ascribed_text(const struct tap_report_ascribed *report,
			      struct tap_buffer *line);
/* "ascribed":[...] */
void tap_report_ascribed_json(const struct tap_report_ascribed *report,
			      struct tap_json *json);

void tap_report_ascribed_free(struct tap_report_ascribed *report);

#endif
