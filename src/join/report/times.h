/* SPDX-License-Identifier: MIT */
/*
 * Sums of the durations of calls, and their columns, which two tables of the report
 * share.
 *
 * Hides that a complete call may have no known duration, and what a table shows then.
 */
#ifndef TAP_JOIN_REPORT_TIMES_H
#define TAP_JOIN_REPORT_TIMES_H

#include "join/model/span.h"
#include "join/report/columns.h"

/* All zero is empty. */
struct tap_times {
	uint64_t timed; /* calls with a known duration, the ones in total_ns and max_ns */
	uint64_t total_ns;
	uint64_t max_ns;
};

void tap_times_add(struct tap_times *times, const struct tap_span *span);
void tap_times_add_up(struct tap_times *times, const struct tap_times *others);

/*
 * The columns total, mean and maximum; JSON has the number of calls, too.  A part of
 * columns.
 */
extern const struct tap_column tap_times_columns[];
/* Mean and maximum in the text, below the same headers. */
extern const struct tap_column tap_times_wait_columns[];

/* Only the total, of a member that is a struct tap_times: "-" where it is unknown. */
#define TAP_COLUMN_TOTAL(header_, row, member) \
	{ \
		.header = (header_), .width = 13, .unit = TAP_UNIT_DURATION, \
		.value = tap_value_total, \
		.at = TAP_MEMBER(row, member, struct tap_times) \
	}
struct tap_value tap_value_total(const struct tap_column *column, const void *row);

#endif
