/* SPDX-License-Identifier: MIT */
/*
 * How long calls took, summed up and shown: the report's two tables share it.
 *
 * Hides that not every complete call has a time, and what stands where none has.
 */
#ifndef TAP_JOIN_REPORT_TIMES_H
#define TAP_JOIN_REPORT_TIMES_H

#include "join/views/view.h"

/* All zero is none. */
struct tap_times {
	uint64_t timed; /* with a known duration: the ones in total_ns and max_ns */
	uint64_t total_ns;
	uint64_t max_ns;
};

void tap_times_add(struct tap_times *times, const struct tap_span *span);
void tap_times_add_up(struct tap_times *times, const struct tap_times *others);

/* Total, mean and maximum: three cells of a line, or the members "timed" to "max_ns". */
void tap_times_write(const struct tap_times *times, struct tap_buffer *line);
void tap_times_write_json(const struct tap_times *times, struct tap_json *json);

#endif
