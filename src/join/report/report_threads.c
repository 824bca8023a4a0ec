/* SPDX-License-Identifier: MIT */
/* Sums by process, role and communicator. */
#include "join/report/report_threads.h"

#include "join/model/process.h"
#include "join/report/columns.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct role_sum {
	const struct tap_process *process;
	char *name;
	enum tap_thread_role role;
	uint64_t comm_id;
	const struct tap_member *member; /* NULL unknown */
	uint64_t threads;
	uint64_t exact; /* of these, threads whose role and communicator are certain */
	uint64_t sleeps;
	uint64_t asleep_ns;
	uint64_t yields;
};

int tap_report_threads_add(struct tap_report_threads *report,
			   const struct tap_nccl_thread *thread)
{
	struct role_sum *sum =
		tap_rows_get(&report->roles,
			     (uint64_t) thread->process->number << 8 | thread->role,
			     thread->comm_id, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	sum->process = thread->process;
	sum->role = thread->role;
	sum->name = (char *) tap_thread_role_name(thread->role);
	sum->comm_id = thread->comm_id;
	sum->member = thread->member;
	sum->threads++;
	sum->exact += thread->how && tap_thread_known(thread->how) == TAP_KNOWN_EXACT &&
		      !(thread->comm_id && thread->comm_known == TAP_KNOWN_INFERRED);
	sum->sleeps += thread->sleeps;
	sum->asleep_ns += (uint64_t) thread->asleep_ns;
	sum->yields += thread->yields;
	return 0;
}

static int compare_sums(const void *left, const void *right)
{
	const struct role_sum *a = *(const struct role_sum *const *) left;
	const struct role_sum *b = *(const struct role_sum *const *) right;
	int order = tap_rows_compare(a->process->number, b->process->number);

	if (!order)
		order = tap_rows_compare(a->comm_id, b->comm_id);
	return order ? order : tap_rows_compare(a->role, b->role);
}

void tap_report_threads_sort(struct tap_report_threads *report)
{
	tap_rows_sort(&report->roles, compare_sums);
}

/* ---- Columns ---- */

static void add_title(struct tap_buffer *line, const void *row)
{
	const struct role_sum *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
	tap_buffer_add_char(line, ' ');
	tap_buffer_add_string(line, sum->name);
}

static void add_comm(struct tap_buffer *line, const void *row)
{
	const struct role_sum *sum = row;

	if (sum->member)
		tap_view_add_key(line, tap_member_comm(sum->member)->key);
	else
		tap_buffer_add_char(line, '-');
}

#define COLUMN(key, header, width, unit, member) \
	TAP_COLUMN(key, header, width, unit, struct role_sum, member)

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "NCCL's threads", 30, add_title),
	TAP_COLUMN_PROCESS("process", struct role_sum, process),
	TAP_COLUMN_NAME("role", NULL, 0, struct role_sum, name),
	TAP_COLUMN_TEXT(NULL, "communicator", 14, add_comm),
	COLUMN("comm_id", NULL, 0, TAP_UNIT_COUNT, comm_id),
	COLUMN("threads", "threads", 8, TAP_UNIT_COUNT, threads),
	COLUMN("exact", "certain", 8, TAP_UNIT_COUNT, exact),
	COLUMN("sleeps", "sleeps", 9, TAP_UNIT_COUNT, sleeps),
	COLUMN("asleep_ns", "asleep", 13, TAP_UNIT_DURATION, asleep_ns),
	COLUMN("yields", "yields", 11, TAP_UNIT_COUNT, yields),
	TAP_COLUMNS_END,
};

void tap_report_threads_text(const struct tap_report_threads *report,
			     struct tap_buffer *line)
{
	tap_columns_add_section(line, columns, &report->roles);
}

void tap_report_threads_json(const struct tap_report_threads *report,
			     struct tap_json *json)
{
	tap_columns_add_json(json, "nccl_threads", columns, &report->roles);
}

void tap_report_threads_free(struct tap_report_threads *report)
{
	tap_rows_free(&report->roles);
}
