/* SPDX-License-Identifier: MIT */
/*
 * Calls that the program makes again and again while it waits: that many in a row, each
 * soon after the one before, keep a processor busy.
 */
#include "join/audit/object.h"
#include "join/audit/subject.h"
#include "join/report/columns.h"

#include <errno.h>

/* A run of polls with shorter pauses than this, and at least so many. */
#define PAUSE_NS 1000000
#define RUN_LONG 100

/* One function that is polled, from one place of a process. */
struct row {
	const struct tap_process *process;
	const struct tap_name *name;
	struct tap_audit_place place;
	uint64_t calls, longest, longest_ns;
};

struct thread {
	struct row *row; /* polled at last; NULL: the last call was another */
	uint64_t run;
	int64_t begin_ns, end_ns; /* of the run */
};

struct polling {
	struct tap_audit_state state;
	struct tap_audit_objects objects;
	struct tap_rows threads; /* by (process, thread) */
	struct tap_rows rows;	 /* by (process and name, place) */
	uint64_t polls;
};

static struct row *row_of(struct polling *polling, const struct tap_span *span)
{
	const uint64_t who = (uint64_t) span->process->number << 32 | span->name->number;
	struct tap_audit_place place;
	struct row *row;

	if (tap_audit_place_of(&polling->objects, span, &place))
		return NULL;
	row = tap_rows_get(&polling->rows, who, tap_audit_place_key(&place),
			   sizeof(*row));
	if (row) {
		row->process = span->process;
		row->name = span->name;
		row->place = place;
	}
	return row;
}

static int take_poll(struct polling *polling, struct thread *thread,
		     const struct tap_span *span)
{
	struct row *row = row_of(polling, span);

	if (!row)
		return -ENOMEM;
	polling->polls++;
	row->calls++;
	if (thread->row != row || span->begin_ns - thread->end_ns > PAUSE_NS) {
		thread->row = row;
		thread->run = 0;
		thread->begin_ns = span->begin_ns;
	}
	thread->run++;
	thread->end_ns = span->state == TAP_SPAN_COMPLETE ? span->end_ns : span->begin_ns;
	if (thread->run > row->longest) {
		row->longest = thread->run;
		row->longest_ns = thread->end_ns > thread->begin_ns
					  ? (uint64_t) (thread->end_ns - thread->begin_ns)
					  : 0;
	}
	return 0;
}

static int take_span(void *data, struct tap_span *span)
{
	struct polling *polling = data;
	const bool is_call = tap_audit_is_own_call(span);
	struct thread *thread;

	if ((!is_call && !tap_audit_is_own_cuda(span)) ||
	    span->state == TAP_SPAN_BEGIN_LOST || span->tid < 0)
		return 0;
	thread = tap_rows_get(&polling->threads, span->process->number,
			      (uint64_t) span->tid, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	if (is_call && tap_name_is_poll(span->name))
		return take_poll(polling, thread, span);
	thread->row = NULL;
	return 0;
}

static bool is_busy(const struct row *row)
{
	return row->longest >= RUN_LONG;
}

static bool is_same_place(const struct row *a, const struct row *b)
{
	return a->name == b->name && !tap_audit_place_compare(&a->place, &b->place);
}

/* Remarks on the place at this index in all processes; *next becomes that of another. */
static int remark(struct polling *polling, size_t at, size_t *next)
{
	const struct row *first = polling->rows.all[at];
	struct tap_audit_processes processes = {0};
	struct tap_audit_remark *one;
	uint64_t longest = 0;
	int ret = 0;

	for (; !ret && at < polling->rows.count; at++) {
		const struct row *row = polling->rows.all[at];

		if (!is_same_place(row, first))
			break;
		if (!is_busy(row))
			continue;
		longest = row->longest > longest ? row->longest : longest;
		ret = tap_audit_add_process(&processes, row->process);
	}
	*next = at;
	if (!ret && longest) {
		one = tap_audit_add(polling, TAP_AUDIT_WARNING, "busy-polling",
				    TAP_KNOWN_EXACT);
		ret = one ? tap_audit_remark_on(one, &processes) : -ENOMEM;
		if (!ret) {
			one->count = longest;
			tap_buffer_add_visible(&one->text, first->name->name);
			if (first->place.object) {
				tap_buffer_add_string(&one->text, " at ");
				tap_audit_add_place(&one->text, &first->place);
			}
			tap_buffer_add_string(&one->text, " is polled without a pause: ");
			tap_audit_add_processes(&one->text, &processes);
			tap_audit_add_most(&one->text, longest);
			tap_buffer_add_string(&one->text, " in a row");
		}
	}
	tap_audit_free_processes(&processes);
	return ret;
}

static int compare(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *) left;
	const struct row *b = *(const struct row *const *) right;
	int order = tap_rows_compare(a->name->number, b->name->number);

	if (!order)
		order = tap_audit_place_compare(&a->place, &b->place);
	if (!order)
		order = tap_rows_compare((uint64_t) tap_process_rank(a->process),
					 (uint64_t) tap_process_rank(b->process));
	return order ? order : tap_rows_compare(a->process->number, b->process->number);
}

static int conclude(void *data)
{
	struct polling *polling = data;
	size_t at = 0;
	int ret = 0;

	tap_rows_sort(&polling->rows, compare);
	while (!ret && at < polling->rows.count)
		ret = remark(polling, at, &at);
	return ret;
}

/* ---- Output ---- */

static void add_name(struct tap_buffer *text, const void *data)
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

static void add_process(struct tap_buffer *text, const void *data)
{
	tap_view_add_process(text, ((const struct row *) data)->process);
}

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  poll", 26, add_name),
	TAP_COLUMN_CALL("name", struct row, name),
	TAP_COLUMN_TEXT("site", "from", 30, add_site),
	TAP_COLUMN_TEXT(NULL, "process", 14, add_process),
	TAP_COLUMN_PROCESS("process", struct row, process),
	TAP_COLUMN("calls", "calls", 9, TAP_UNIT_COUNT, struct row, calls),
	TAP_COLUMN("longest", "in a row", 10, TAP_UNIT_COUNT, struct row, longest),
	TAP_COLUMN("longest_ns", "for", 12, TAP_UNIT_DURATION, struct row, longest_ns),
	TAP_COLUMNS_END,
};

static void summary(const void *data, struct tap_buffer *line)
{
	const struct polling *polling = data;

	tap_audit_add_count(line, polling->polls, "poll");
	tap_buffer_add_string(line,
			      " of communicators; queries of streams and events are not "
			      "recorded");
}

static void free_all(void *data)
{
	struct polling *polling = data;

	tap_rows_free(&polling->threads);
	tap_rows_free(&polling->rows);
	tap_audit_objects_free(&polling->objects);
}

const struct tap_audit_subject tap_audit_polling = {
	.key = "polling",
	.title = "polling",
	.size = sizeof(struct polling),
	.table = {.columns = columns,
		  .rows = offsetof(struct polling, rows),
		  .key = "polls"},
	.is_of_absence = true,
	.takes = {.span_ended = take_span},
	.conclude = conclude,
	.summary = summary,
	.free = free_all,
};
