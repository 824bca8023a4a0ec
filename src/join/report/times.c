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

static const struct tap_times *times_of(const struct tap_column *column, const void *row)
{
	return (const void *) ((const char *) row + column->at);
}

struct tap_value tap_value_total(const struct tap_column *column, const void *row)
{
	const struct tap_times *times = times_of(column, row);

	return (struct tap_value){.is_unknown = !times->timed, .number = times->total_ns};
}

static struct tap_value mean(const struct tap_column *column, const void *row)
{
	const struct tap_times *times = times_of(column, row);

	if (!times->timed)
		return (struct tap_value){.is_unknown = true};
	return (struct tap_value){.number = times->total_ns / times->timed};
}

static struct tap_value longest(const struct tap_column *column, const void *row)
{
	const struct tap_times *times = times_of(column, row);

	return (struct tap_value){.is_unknown = !times->timed, .number = times->max_ns};
}

const struct tap_column tap_times_columns[] = {
	TAP_COLUMN("timed", NULL, 0, TAP_UNIT_COUNT, struct tap_times, timed),
	TAP_COLUMN("total_ns", NULL, 0, TAP_UNIT_DURATION, struct tap_times, total_ns),
	TAP_COLUMN_VALUE(NULL, "total", 13, TAP_UNIT_DURATION, tap_value_total),
	TAP_COLUMN_VALUE("mean_ns", "mean", 13, TAP_UNIT_DURATION, mean),
	TAP_COLUMN_VALUE("max_ns", "max", 13, TAP_UNIT_DURATION, longest),
	TAP_COLUMNS_END,
};

const struct tap_column tap_times_wait_columns[] = {
	TAP_COLUMN_VALUE(NULL, "mean", 26, TAP_UNIT_DURATION, mean),
	TAP_COLUMN_VALUE(NULL, "max", 13, TAP_UNIT_DURATION, longest),
	TAP_COLUMNS_END,
};
