/* SPDX-License-Identifier: MIT */
/* Which calls the program makes, from which places, how often, and with how many bytes.
 */
#include "join/audit/object.h"
#include "join/audit/subject.h"
#include "join/report/columns.h"

#include <errno.h>

/* Call sites beyond these are counted together. */
#define SITES_MAX 4096

struct row {
	const struct tap_name *name;
	struct tap_audit_place place;
	bool is_looked_up, is_announced;
	uint64_t calls, failed, sized;
	uint64_t min_bytes, max_bytes;
	uint64_t process_count;
	struct tap_audit_processes processes;
};

struct sites {
	struct tap_audit_state state;
	struct tap_audit_objects objects;
	struct tap_rows rows;
	uint64_t calls, others;
};

static void count_bytes(struct row *row, const struct tap_operation *operation)
{
	const int64_t bytes = tap_operation_bytes(operation);

	if (bytes < 0)
		return;
	if (!row->sized || (uint64_t) bytes < row->min_bytes)
		row->min_bytes = (uint64_t) bytes;
	if ((uint64_t) bytes > row->max_bytes)
		row->max_bytes = (uint64_t) bytes;
	row->sized++;
}

static struct row *row_of(struct sites *sites, const struct tap_span *span,
			  const struct tap_audit_place *place)
{
	const uint64_t name = (uint64_t) span->name->number << 1 | span->is_from_nvtx;
	const uint64_t key = tap_audit_place_key(place);
	struct row *row = tap_rows_find(&sites->rows, name, key);

	if (row || sites->rows.count == SITES_MAX)
		return row;
	row = tap_rows_add(&sites->rows, name, key, sizeof(*row));
	if (!row)
		return NULL;
	row->name = span->name;
	row->place = *place;
	row->is_announced = span->is_from_nvtx;
	row->is_looked_up = tap_fields_number(&span->entry, "looked_up");
	return row;
}

static int take_span(void *data, struct tap_span *span)
{
	struct sites *sites = data;
	struct tap_audit_place place;
	struct row *row;

	if (!tap_audit_is_own_call(span) || span->state == TAP_SPAN_BEGIN_LOST)
		return 0;
	sites->calls++;
	if (tap_audit_place_of(&sites->objects, span, &place))
		return -ENOMEM;
	row = row_of(sites, span, &place);
	if (!row && sites->rows.count < SITES_MAX)
		return -ENOMEM;
	if (!row) {
		sites->others++;
		return 0;
	}
	row->calls++;
	row->failed += tap_span_is_failure(tap_span_result(span));
	count_bytes(row, &span->operation);
	return tap_audit_add_process(&row->processes, span->process);
}

/* Of a group, what is called most. */
static int compare(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *) left;
	const struct row *b = *(const struct row *const *) right;
	int order = tap_rows_compare(b->calls, a->calls);

	if (!order)
		order = tap_rows_compare(a->name->number, b->name->number);
	return order ? order : tap_audit_place_compare(&a->place, &b->place);
}

static int conclude(void *data)
{
	struct sites *sites = data;
	size_t i;

	for (i = 0; i < sites->rows.count; i++) {
		struct row *row = sites->rows.all[i];

		row->process_count = row->processes.all.count;
	}
	tap_rows_sort(&sites->rows, compare);
	return 0;
}

/* ---- Columns ---- */

static void add_call(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text, "  ");
	tap_buffer_add_visible(text, row->name->name);
}

static void add_site(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	if (row->place.object)
		tap_audit_add_place(text, &row->place);
}

static void add_site_or_not(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_audit_add_place(text, &row->place);
}

static void add_binding(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text, row->is_announced	? "NVTX only"
				    : row->is_looked_up ? "looked up"
							: "linked");
}

static struct tap_value min_bytes(const struct tap_column *column, const void *data)
{
	const struct row *row = data;

	(void) column;
	return (struct tap_value){.is_unknown = !row->sized, .number = row->min_bytes};
}

static struct tap_value max_bytes(const struct tap_column *column, const void *data)
{
	const struct row *row = data;

	(void) column;
	return (struct tap_value){.is_unknown = !row->sized, .number = row->max_bytes};
}

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  call", 26, add_call),
	TAP_COLUMN_CALL("name", struct row, name),
	TAP_COLUMN_TEXT(NULL, "from", 30, add_site_or_not),
	TAP_COLUMN_TEXT("site", NULL, 0, add_site),
	TAP_COLUMN_TEXT("binding", "bound", 9, add_binding),
	TAP_COLUMN("calls", "calls", 9, TAP_UNIT_COUNT, struct row, calls),
	TAP_COLUMN("failed", "failed", 8, TAP_UNIT_COUNT, struct row, failed),
	TAP_COLUMN_VALUE("min_bytes", "min B", 12, TAP_UNIT_BYTES, min_bytes),
	TAP_COLUMN_VALUE("max_bytes", "max B", 12, TAP_UNIT_BYTES, max_bytes),
	TAP_COLUMN("processes", "processes", 10, TAP_UNIT_COUNT, struct row,
		   process_count),
	TAP_COLUMNS_END,
};

/* ---- Output ---- */

static void summary(const void *data, struct tap_buffer *line)
{
	const struct sites *sites = data;
	const struct row *first = sites->rows.count ? sites->rows.all[0] : NULL;

	tap_audit_add_count(line, sites->calls, "call");
	tap_buffer_add_string(line, sites->state.shared->may_lack_calls ? " or more from "
									: " from ");
	tap_audit_add_count(line, sites->rows.count, "place");
	if (!first)
		return;
	tap_buffer_add_string(line, "; most often ");
	tap_buffer_add_visible(line, first->name->name);
	if (first->place.object) {
		tap_buffer_add_string(line, " at ");
		tap_audit_add_place(line, &first->place);
	}
}

static void text(const void *data, struct tap_buffer *line)
{
	const struct sites *sites = data;

	if (!sites->others)
		return;
	tap_buffer_add_string(line, "  and ");
	tap_audit_add_count(line, sites->others, "call");
	tap_buffer_add_string(line, " from other places\n");
}

static void json(const void *data, struct tap_json *json)
{
	const struct sites *sites = data;

	tap_json_unsigned(json, "calls", sites->calls);
	tap_columns_add_json(json, "sites", columns, &sites->rows);
	tap_json_unsigned(json, "other_calls", sites->others);
}

static void free_all(void *data)
{
	struct sites *sites = data;
	size_t i;

	for (i = 0; i < sites->rows.count; i++)
		tap_audit_free_processes(&((struct row *) sites->rows.all[i])->processes);
	tap_rows_free(&sites->rows);
	tap_audit_objects_free(&sites->objects);
}

const struct tap_audit_subject tap_audit_sites = {
	.key = "calls",
	.title = "calls",
	.size = sizeof(struct sites),
	.table = {.columns = columns, .rows = offsetof(struct sites, rows)},
	.takes = {.span_ended = take_span},
	.conclude = conclude,
	.summary = summary,
	.text = text,
	.json = json,
	.free = free_all,
};
