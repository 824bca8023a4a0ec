/* SPDX-License-Identifier: MIT */
/*
 * How many bytes operations move, and places that ask for many small ones by themselves:
 * each has the latency of a launch, which a group or one larger operation has only once.
 */
#include "join/audit/object.h"
#include "join/audit/subject.h"
#include "join/report/columns.h"

#include <errno.h>

/* An operation of at most so many bytes is small; so many from one place are many. */
#define SMALL_BYTES 8192
#define MANY 256

/* One operation, of all processes. */
struct row {
	const struct tap_name *name;
	uint64_t operations;
	uint64_t small, medium, large, huge; /* to 8 KiB, 256 KiB, 8 MiB, and more */
	uint64_t unknown;
	uint64_t in_groups, captured;
};

/* Small operations outside of groups and graphs, of one process from one place. */
struct small {
	const struct tap_process *process;
	const struct tap_name *name;
	struct tap_audit_place place;
	uint64_t operations;
};

struct sizes {
	struct tap_audit_state state;
	struct tap_audit_objects objects;
	struct tap_rows rows;	/* by (name, 0) */
	struct tap_rows places; /* of struct small, by (process and name, place) */
};

static void count_size(struct row *row, int64_t bytes)
{
	if (bytes < 0)
		row->unknown++;
	else if (bytes <= SMALL_BYTES)
		row->small++;
	else if (bytes <= 256 << 10)
		row->medium++;
	else if (bytes <= 8 << 20)
		row->large++;
	else
		row->huge++;
}

static bool is_captured(const struct tap_span *span)
{
	int64_t capture;

	return !tap_fields_get_signed(&span->entry, "capture", &capture) && capture == 1;
}

static int take_place(struct sizes *sizes, const struct tap_span *span)
{
	const uint64_t who = (uint64_t) span->process->number << 32 | span->name->number;
	struct tap_audit_place place;
	struct small *small;

	if (tap_audit_place_of(&sizes->objects, span, &place))
		return -ENOMEM;
	small = tap_rows_get(&sizes->places, who, tap_audit_place_key(&place),
			     sizeof(*small));
	if (!small)
		return -ENOMEM;
	small->process = span->process;
	small->name = span->name;
	small->place = place;
	small->operations++;
	return 0;
}

static int take_span(void *data, struct tap_span *span)
{
	struct sizes *sizes = data;
	const int64_t bytes = tap_operation_bytes(&span->operation);
	bool is_alone;
	struct row *row;

	if (!tap_audit_is_operation(span) || span->state == TAP_SPAN_BEGIN_LOST)
		return 0;
	row = tap_rows_get(&sizes->rows, span->name->operation->number, 0, sizeof(*row));
	if (!row)
		return -ENOMEM;
	is_alone = !span->operation.group_id && !is_captured(span);
	row->name = span->name->operation;
	row->operations++;
	row->in_groups += span->operation.group_id != 0;
	row->captured += is_captured(span);
	count_size(row, bytes);
	return is_alone && bytes >= 0 && bytes <= SMALL_BYTES ? take_place(sizes, span)
							      : 0;
}

/* ---- At the end ---- */

static bool is_many(const void *data, const void *none)
{
	(void) none;
	return ((const struct small *) data)->operations >= MANY;
}

/* Places of one function together, then the ranks. */
static int compare_places(const void *left, const void *right)
{
	const struct small *a = *(const struct small *const *) left;
	const struct small *b = *(const struct small *const *) right;
	int order = tap_rows_compare(a->name->number, b->name->number);

	if (!order)
		order = tap_audit_place_compare(&a->place, &b->place);
	if (!order)
		order = tap_rows_compare((uint64_t) tap_process_rank(a->process),
					 (uint64_t) tap_process_rank(b->process));
	return order ? order : tap_rows_compare(a->process->number, b->process->number);
}

static bool is_same_place(const struct small *a, const struct small *b)
{
	return a->name == b->name && !tap_audit_place_compare(&a->place, &b->place);
}

/* Remarks on the place at this index in all processes; *next becomes that of another. */
static int remark(struct sizes *sizes, size_t at, size_t *next)
{
	const struct small *first = sizes->places.all[at];
	struct tap_audit_remark *one = tap_audit_add(sizes, TAP_AUDIT_WARNING,
						     "small-and-many", TAP_KNOWN_EXACT);

	if (!one)
		return -ENOMEM;
	one->count = 0;
	for (; at < sizes->places.count; at++) {
		const struct small *small = sizes->places.all[at];

		if (!is_same_place(first, small))
			break;
		if (small->operations > one->count)
			one->count = small->operations;
		if (tap_audit_add_process(&one->processes, small->process))
			return -ENOMEM;
	}
	*next = at;
	tap_buffer_add_visible(&one->text, first->name->name);
	if (first->place.object) {
		tap_buffer_add_string(&one->text, " at ");
		tap_audit_add_place(&one->text, &first->place);
	}
	tap_buffer_add_string(&one->text, " moves 8 KiB or less, outside of any group: ");
	tap_audit_add_processes(&one->text, &one->processes);
	tap_audit_add_most(&one->text, one->count);
	return 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *) left;
	const struct row *b = *(const struct row *const *) right;
	int order = tap_rows_compare(b->operations, a->operations);

	return order ? order : tap_rows_compare(a->name->number, b->name->number);
}

static int conclude(void *data)
{
	struct sizes *sizes = data;
	size_t at = 0;
	int ret = 0;

	tap_rows_sort(&sizes->rows, compare_rows);
	tap_rows_keep(&sizes->places, is_many, NULL);
	tap_rows_sort(&sizes->places, compare_places);
	while (!ret && at < sizes->places.count)
		ret = remark(sizes, at, &at);
	return ret;
}

/* ---- Output ---- */

static void add_name(struct tap_buffer *text, const void *data)
{
	tap_buffer_add_string(text, "  ");
	tap_buffer_add_visible(text, ((const struct row *) data)->name->name);
}

#define COLUMN(key, header, width, member) \
	TAP_COLUMN(key, header, width, TAP_UNIT_COUNT, struct row, member)

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  operation", 26, add_name),
	TAP_COLUMN_CALL("name", struct row, name),
	COLUMN("operations", "count", 9, operations),
	COLUMN("to_8_kib", "to 8 KiB", 10, small),
	COLUMN("to_256_kib", "256 KiB", 9, medium),
	COLUMN("to_8_mib", "8 MiB", 8, large),
	COLUMN("more", "more", 8, huge),
	COLUMN("unknown", "unknown", 9, unknown),
	COLUMN("in_groups", "in groups", 11, in_groups),
	COLUMN("captured", "captured", 10, captured),
	TAP_COLUMNS_END,
};

static void summary(const void *data, struct tap_buffer *line)
{
	const struct sizes *sizes = data;
	uint64_t operations = 0, small = 0;
	size_t i;

	for (i = 0; i < sizes->rows.count; i++) {
		const struct row *row = sizes->rows.all[i];

		operations += row->operations;
		small += row->small;
	}
	tap_buffer_add_unsigned(line, small);
	tap_buffer_add_string(line, " of ");
	tap_audit_add_count(line, operations, "operation");
	tap_buffer_add_string(line, " move 8 KiB or less");
}

static void free_all(void *data)
{
	struct sizes *sizes = data;

	tap_rows_free(&sizes->rows);
	tap_rows_free(&sizes->places);
	tap_audit_objects_free(&sizes->objects);
}

const struct tap_audit_subject tap_audit_sizes = {
	.key = "sizes",
	.title = "sizes",
	.size = sizeof(struct sizes),
	.table = {.columns = columns,
		  .rows = offsetof(struct sizes, rows),
		  .key = "operations"},
	.is_of_absence = true,
	.takes = {.span_ended = take_span},
	.conclude = conclude,
	.summary = summary,
	.free = free_all,
};
