/* SPDX-License-Identifier: MIT */
/*
 * Streams and waits that hurt: a wait inside a group, whose operations begin only at its
 * end; copies that block the host between operations; operations on the default stream.
 *
 * A wait counts as inside a group when the calls of its thread before and after it are of
 * that group.  Those of NCCL's own threads are none of the program's.
 */
#include "join/audit/object.h"
#include "join/audit/subject.h"
#include "join/model/nccl_thread.h"
#include "join/report/columns.h"

#include <errno.h>
#include <string.h>

/* So many copies that block the host, of one process, are worth a warning. */
#define COPIES_MANY 16
/* Different waits of one thread in one group; others are not counted. */
#define PENDING_MAX 4

/* One waiting function of one thread; at the end, of one process. */
struct row {
	const struct tap_process *process;
	const struct tap_name *name;
	int64_t tid;
	uint64_t calls, total_ns;
	uint64_t in_groups;
	uint64_t between;	      /* after the first operation of the process */
	bool is_inferred;	      /* that those are in groups */
	struct tap_audit_place place; /* where all of these were opened */
};

struct thread {
	bool is_in_group;
	uint64_t group_id;	      /* 0: not known yet */
	struct tap_audit_place place; /* where it was opened */
	struct {
		struct row *row;
		uint64_t count;
	} pending[PENDING_MAX]; /* waits since its last call */
	size_t pending_count;
};

/* One process. */
struct process {
	const struct tap_process *process;
	uint64_t operations, on_default_stream;
};

struct waits {
	struct tap_audit_state state;
	struct tap_audit_objects objects;
	struct tap_rows threads;   /* of struct thread, by (process, thread) */
	struct tap_rows processes; /* of struct process, by (process, 0) */
	struct tap_rows by_thread; /* of struct row, by (process and name, thread) */
	struct tap_rows rows;	   /* by (process, name), at the end */
	struct tap_table ours;	   /* NCCL's own threads: (process, thread) */
	uint64_t in_groups;
};

/* ---- Groups ---- */

static void settle(struct thread *thread, bool is_in_group)
{
	size_t i;

	for (i = 0; i < thread->pending_count; i++) {
		struct row *row = thread->pending[i].row;

		if (!is_in_group)
			continue;
		if (!row->in_groups)
			row->place = thread->place;
		else if (tap_audit_place_compare(&row->place, &thread->place))
			row->place = (struct tap_audit_place){0};
		row->in_groups += thread->pending[i].count;
		row->is_inferred |= !thread->group_id;
	}
	thread->pending_count = 0;
}

/* Whether the call says which group it is in. */
static bool tells_group(const struct tap_span *span)
{
	return span->name->kind == TAP_NAME_GROUP_START ||
	       span->name->kind == TAP_NAME_GROUP_END || tap_audit_is_operation(span);
}

/* Whether the group goes on after a call that ends one. */
static bool is_inner_end(const struct tap_span *span)
{
	const struct tap_field *outcome = tap_fields_find(&span->exit, "group_outcome");

	return outcome && outcome->label && !strcmp(outcome->label, "inner");
}

static int take_group(struct waits *waits, const struct tap_span *span)
{
	const uint64_t group_id = span->operation.group_id;
	struct thread *thread = tap_rows_get(&waits->threads, span->process->number,
					     (uint64_t) span->tid, sizeof(*thread));
	bool was_in_group;

	if (!thread)
		return -ENOMEM;
	was_in_group = thread->is_in_group && group_id &&
		       (!thread->group_id || thread->group_id == group_id);
	/* The start of a group does not know its number yet; of one inside, it does. */
	settle(thread, was_in_group);
	if (span->name->kind == TAP_NAME_GROUP_END) {
		thread->is_in_group = is_inner_end(span);
		thread->group_id = thread->is_in_group ? group_id : 0;
		return 0;
	}
	if (span->name->kind == TAP_NAME_GROUP_START) {
		thread->is_in_group = true;
		thread->group_id = group_id;
		return was_in_group ? 0
				    : tap_audit_place_of(&waits->objects, span,
							 &thread->place);
	}
	if (!was_in_group)
		thread->place = (struct tap_audit_place){0};
	thread->is_in_group = group_id != 0;
	thread->group_id = group_id;
	return 0;
}

/* ---- Spans ---- */

static int take_operation(struct waits *waits, const struct tap_span *span)
{
	struct process *process = tap_rows_get(&waits->processes, span->process->number,
					       0, sizeof(*process));
	const struct tap_field *stream = tap_fields_find(&span->entry, "stream");
	uint64_t address;

	if (!process)
		return -ENOMEM;
	process->process = span->process;
	process->operations++;
	process->on_default_stream +=
		!tap_field_get_unsigned(stream, &address) && address == 0;
	return 0;
}

static bool is_blocking_copy(const struct tap_name *name)
{
	return name->is_cuda_wait &&
	       (name->cuda == TAP_CUDA_COPY || name->cuda == TAP_CUDA_SET);
}

static int take_wait(struct waits *waits, const struct tap_span *span)
{
	struct thread *thread = tap_rows_find(&waits->threads, span->process->number,
					      (uint64_t) span->tid);
	const uint64_t what = (uint64_t) span->process->number << 32 | span->name->number;
	struct row *row =
		tap_rows_get(&waits->by_thread, what, (uint64_t) span->tid, sizeof(*row));
	size_t i;

	if (!row)
		return -ENOMEM;
	row->process = span->process;
	row->name = span->name;
	row->tid = span->tid;
	row->calls++;
	row->total_ns += tap_span_has_duration(span) && tap_span_duration(span) > 0
				 ? (uint64_t) tap_span_duration(span)
				 : 0;
	row->between +=
		tap_rows_find(&waits->processes, span->process->number, 0) != NULL;
	if (!thread || !thread->is_in_group)
		return 0;
	for (i = 0; i < thread->pending_count; i++)
		if (thread->pending[i].row == row)
			break;
	if (i == PENDING_MAX)
		return 0;
	if (i == thread->pending_count) {
		thread->pending[i].row = row;
		thread->pending[i].count = 0;
		thread->pending_count++;
	}
	thread->pending[i].count++;
	return 0;
}

static int take_span(void *data, struct tap_span *span)
{
	int ret;

	if (span->state == TAP_SPAN_BEGIN_LOST)
		return 0;
	if (tap_audit_is_own_cuda(span))
		return span->name->is_cuda_wait ? take_wait(data, span) : 0;
	if (!tap_audit_is_own_call(span) || span->is_from_nvtx || !tells_group(span))
		return 0;
	/* Threads that the trace does not tell apart have no groups of their own. */
	ret = span->tid < 0 ? 0 : take_group(data, span);
	return !ret && tap_audit_is_operation(span) ? take_operation(data, span) : ret;
}

static int take_nccl_thread(void *data, const struct tap_nccl_thread *thread)
{
	struct waits *waits = data;

	return tap_table_set(&waits->ours, thread->process->number,
			     (uint64_t) thread->tid, waits);
}

/* ---- At the end ---- */

/* Adds what a thread of the program did to the row of its process. */
static int take_row(struct waits *waits, const struct row *from)
{
	struct row *row;

	if (tap_table_find(&waits->ours, from->process->number, (uint64_t) from->tid))
		return 0;
	row = tap_rows_get(&waits->rows, from->process->number, from->name->number,
			   sizeof(*row));
	if (!row)
		return -ENOMEM;
	if (!row->in_groups)
		row->place = from->place;
	else if (from->in_groups && tap_audit_place_compare(&row->place, &from->place))
		row->place = (struct tap_audit_place){0};
	row->process = from->process;
	row->name = from->name;
	row->calls += from->calls;
	row->total_ns += from->total_ns;
	row->in_groups += from->in_groups;
	row->between += from->between;
	row->is_inferred |= from->is_inferred;
	return 0;
}

static bool is_group_of(const struct row *row, const struct row *first)
{
	return row->in_groups && row->name == first->name &&
	       !tap_audit_place_compare(&row->place, &first->place);
}

/* Remarks on the waits of all processes in the group that is opened where this one is. */
static int remark_group(struct waits *waits, size_t at)
{
	const struct row *first = waits->rows.all[at];
	struct tap_audit_remark *remark;
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < at; i++)
		if (is_group_of(waits->rows.all[i], first))
			return 0;
	if (!first->in_groups)
		return 0;
	remark =
		tap_audit_add(waits, TAP_AUDIT_WARNING, "wait-in-group", TAP_KNOWN_EXACT);
	if (!remark)
		return -ENOMEM;
	remark->count = 0;
	for (i = at; i < waits->rows.count; i++) {
		const struct row *row = waits->rows.all[i];

		if (!is_group_of(row, first))
			continue;
		remark->count += row->in_groups;
		most = row->in_groups > most ? row->in_groups : most;
		/* Where events are lost, the end of the group may be among them. */
		if (row->is_inferred && waits->state.shared->may_lack_calls)
			remark->known = TAP_KNOWN_INFERRED;
		if (tap_audit_add_process(&remark->processes, row->process))
			return -ENOMEM;
	}
	waits->in_groups += remark->count;
	tap_buffer_add_visible(&remark->text, first->name->name);
	tap_buffer_add_string(&remark->text, " waits inside groups");
	if (first->place.object) {
		tap_buffer_add_string(&remark->text, " that begin at ");
		tap_audit_add_place(&remark->text, &first->place);
	}
	tap_buffer_add_string(&remark->text,
			      ", whose operations begin only at the end: ");
	tap_audit_add_processes(&remark->text, &remark->processes);
	tap_audit_add_most(&remark->text, most);
	return 0;
}

/* Remarks on a function that copies, in all processes: its first row is at this index. */
static int remark_copies(struct waits *waits, size_t at)
{
	const struct row *first = waits->rows.all[at];
	struct tap_audit_processes processes = {0};
	struct tap_audit_remark *remark;
	uint64_t most = 0, count = 0;
	size_t i;
	int ret = 0;

	if (!is_blocking_copy(first->name) ||
	    (at && ((const struct row *) waits->rows.all[at - 1])->name == first->name))
		return 0;
	for (i = at; !ret && i < waits->rows.count; i++) {
		const struct row *row = waits->rows.all[i];

		if (row->name != first->name || !row->between)
			continue;
		count += row->between;
		most = row->between > most ? row->between : most;
		ret = tap_audit_add_process(&processes, row->process);
	}
	if (!ret && count) {
		remark = tap_audit_add(waits,
				       most < COPIES_MANY ? TAP_AUDIT_NOTE
							  : TAP_AUDIT_WARNING,
				       "blocking-copy", TAP_KNOWN_EXACT);
		ret = remark ? tap_audit_remark_on(remark, &processes) : -ENOMEM;
		if (!ret) {
			remark->count = count;
			tap_buffer_add_visible(&remark->text, first->name->name);
			tap_buffer_add_string(
				&remark->text,
				" blocks the host after the first operation: ");
			tap_audit_add_processes(&remark->text, &processes);
			tap_audit_add_most(&remark->text, most);
		}
	}
	tap_audit_free_processes(&processes);
	return ret;
}

static int remark_default_stream(struct waits *waits)
{
	struct tap_audit_processes processes = {0};
	struct tap_audit_remark *remark;
	uint64_t count = 0;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < waits->processes.count; i++) {
		const struct process *process = waits->processes.all[i];

		count += process->on_default_stream;
		if (process->on_default_stream)
			ret = tap_audit_add_process(&processes, process->process);
	}
	if (!ret && count) {
		remark = tap_audit_add(waits, TAP_AUDIT_NOTE, "default-stream",
				       TAP_KNOWN_EXACT);
		ret = remark ? tap_audit_remark_on(remark, &processes) : -ENOMEM;
		if (!ret) {
			remark->count = count;
			tap_audit_add_count(&remark->text, count, "operation");
			tap_buffer_add_string(&remark->text, " of ");
			tap_audit_add_processes(&remark->text, &processes);
			tap_buffer_add_string(&remark->text,
					      " on the default stream, which waits for "
					      "the others");
		}
	}
	tap_audit_free_processes(&processes);
	return ret;
}

static int compare(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *) left;
	const struct row *b = *(const struct row *const *) right;
	int order = strcmp(a->name->name, b->name->name);

	if (!order)
		order = tap_rows_compare((uint64_t) tap_process_rank(a->process),
					 (uint64_t) tap_process_rank(b->process));
	return order ? order : tap_rows_compare(a->process->number, b->process->number);
}

static int conclude(void *data)
{
	struct waits *waits = data;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < waits->by_thread.count; i++)
		ret = take_row(waits, waits->by_thread.all[i]);
	tap_rows_sort(&waits->rows, compare);
	for (i = 0; !ret && i < waits->rows.count; i++)
		ret = remark_group(waits, i);
	for (i = 0; !ret && i < waits->rows.count; i++)
		ret = remark_copies(waits, i);
	return ret ? ret : remark_default_stream(waits);
}

/* ---- Output ---- */

static void add_name(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text, "  ");
	tap_buffer_add_visible(text, row->name->name);
}

static void add_process(struct tap_buffer *text, const void *data)
{
	tap_view_add_process(text, ((const struct row *) data)->process);
}

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  wait", 26, add_name),
	TAP_COLUMN_CALL("name", struct row, name),
	TAP_COLUMN_TEXT(NULL, "process", 14, add_process),
	TAP_COLUMN_PROCESS("process", struct row, process),
	TAP_COLUMN("calls", "calls", 9, TAP_UNIT_COUNT, struct row, calls),
	TAP_COLUMN("total_ns", "total", 12, TAP_UNIT_DURATION, struct row, total_ns),
	TAP_COLUMN("in_groups", "in groups", 11, TAP_UNIT_COUNT, struct row, in_groups),
	TAP_COLUMN("after_operations", "after NCCL", 12, TAP_UNIT_COUNT, struct row,
		   between),
	TAP_COLUMNS_END,
};

static void summary(const void *data, struct tap_buffer *line)
{
	const struct waits *waits = data;
	uint64_t calls = 0;
	size_t i;

	for (i = 0; i < waits->rows.count; i++)
		calls += ((const struct row *) waits->rows.all[i])->calls;
	tap_audit_add_count(line, calls, "wait");
	tap_buffer_add_string(line, " for a GPU; ");
	tap_buffer_add_unsigned(line, waits->in_groups);
	tap_buffer_add_string(line, " inside groups");
}

static void json(const void *data, struct tap_json *json)
{
	const struct waits *waits = data;

	tap_json_unsigned(json, "in_groups", waits->in_groups);
	tap_columns_add_json(json, "waits", columns, &waits->rows);
}

static void free_all(void *data)
{
	struct waits *waits = data;

	tap_rows_free(&waits->threads);
	tap_rows_free(&waits->processes);
	tap_rows_free(&waits->by_thread);
	tap_rows_free(&waits->rows);
	tap_table_free(&waits->ours);
	tap_audit_objects_free(&waits->objects);
}

const struct tap_audit_subject tap_audit_waits = {
	.key = "waits",
	.title = "streams and waits",
	.size = sizeof(struct waits),
	.table = {.columns = columns, .rows = offsetof(struct waits, rows)},
	.is_of_absence = true,
	.takes = {.span_ended = take_span, .nccl_thread = take_nccl_thread},
	.conclude = conclude,
	.summary = summary,
	.json = json,
	.free = free_all,
};
