/* SPDX-License-Identifier: MIT */
/* Counts, sums and maxima. */
#include "join/report/times.h"

void tap_times_add(struct tap_times *times, const struct tap_span *span)
{
	int64_t duration;

	if (!tap_span_has_duration(span))
		return;
	duration = tap_span_duration(span);
	if (duration < 0)
		duration = 0;
	times->timed++;
	times->total_ns += (uint64_t) duration;
	if ((uint64_t) duration > times->max_ns)
		times->max_ns = (uint64_t) duration;
}

void tap_times_add_up(struct tap_times *times, const struct tap_times *others)
{
	times->timed += others->timed;
	times->total_ns += others->total_ns;
	if (others->max_ns > times->max_ns)
		times->max_ns = others->max_ns;
}

static void write_cell(struct tap_buffer *line, bool is_known, uint64_t ns)
{
	size_t start = line->used;

	if (is_known)
		tap_view_add_duration(line, (int64_t) ns);
	else
		tap_buffer_add_char(line, '-');
	tap_buffer_align_right(line, start, 13);
}

void tap_times_write(const struct tap_times *times, struct tap_buffer *line)
{
	write_cell(line, times->timed, times->total_ns);
	write_cell(line, times->timed, times->timed ? times->total_ns / times->timed : 0);
	write_cell(line, times->timed, times->max_ns);
}

void tap_times_write_json(const struct tap_times *times, struct tap_json *json)
{
	tap_json_unsigned(json, "timed", times->timed);
	tap_json_unsigned(json, "total_ns", times->total_ns);
	if (times->timed) {
		tap_json_unsigned(json, "mean_ns", times->total_ns / times->timed);
		tap_json_unsigned(json, "max_ns", times->max_ns);
	} else {
		tap_json_null(json, "mean_ns");
		tap_json_null(json, "max_ns");
	}
}
