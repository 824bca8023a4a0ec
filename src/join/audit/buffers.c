/* SPDX-License-Identifier: MIT */
/*
 * Whether the buffers of operations are registered with NCCL, so that it may move them
 * without a copy.
 */
#include "join/audit/subject.h"
#include "join/report/columns.h"

#include <errno.h>
#include <string.h>

/* Of one process; what it registers beyond is not looked up. */
#define RANGES_MAX 4096

struct range {
	uint64_t begin, end;
	uint64_t handle;
	uint64_t comm_id; /* 0: of ncclMemAlloc, for no communicator yet */
};

struct process {
	TAP_VEC(struct range) ranges; /* at present */
	bool is_full;
};

/* Of one communicator, of one process while the trace is read. */
struct row {
	const struct tap_member *member;
	const struct tap_comm *comm;
	uint64_t operations, registered, allocated, unknown;
	uint64_t bytes, registered_bytes;
};

struct buffers {
	struct tap_audit_state state;
	struct tap_rows processes; /* of struct process, by (process, 0) */
	struct tap_rows members;   /* of struct row, by (member, 0) */
	struct tap_rows rows;	   /* by (communicator, 0), at the end */
	uint64_t registrations;
	uint64_t operations, registered, unknown;
};

static uint64_t number_in(const struct tap_span *span, const char *name)
{
	uint64_t number = tap_fields_number(&span->exit, name);

	return number ? number : tap_fields_number(&span->entry, name);
}

static int add_range(struct buffers *buffers, struct process *process,
		     const struct tap_span *span, const char *address, const char *handle)
{
	const uint64_t begin = number_in(span, address), size = number_in(span, "size");
	const struct range range = {.begin = begin,
				    .end = begin + size,
				    .handle = number_in(span, handle),
				    .comm_id = span->operation.comm_id};

	buffers->registrations += range.comm_id != 0;
	if (process->ranges.count == RANGES_MAX) {
		process->is_full = true;
		return 0;
	}
	return begin && range.end > begin ? tap_vec_add(&process->ranges, range) : 0;
}

static void drop_range(struct process *process, uint64_t handle, bool is_memory)
{
	size_t i;

	for (i = 0; i < process->ranges.count; i++) {
		if (process->ranges.items[i].handle != handle ||
		    is_memory == (process->ranges.items[i].comm_id != 0))
			continue;
		process->ranges.items[i] = process->ranges.items[--process->ranges.count];
		return;
	}
}

/* ---- Operations ---- */

static bool is_in(const struct process *process, uint64_t comm_id, uint64_t address)
{
	size_t i;

	for (i = 0; i < process->ranges.count; i++)
		if (process->ranges.items[i].comm_id == comm_id &&
		    address >= process->ranges.items[i].begin &&
		    address < process->ranges.items[i].end)
			return true;
	return false;
}

static void judge(const struct process *process, struct row *row,
		  const struct tap_span *span)
{
	static const char *const names[] = {"sendbuff", "recvbuff", "buff", "localbuff"};
	const int64_t bytes = tap_operation_bytes(&span->operation);
	bool is_registered = true, is_allocated = true, is_known = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const uint64_t address = tap_fields_number(&span->entry, names[i]);

		if (!address)
			continue;
		is_known = true;
		is_registered =
			is_registered && is_in(process, span->operation.comm_id, address);
		is_allocated = is_allocated && is_in(process, 0, address);
	}
	row->operations++;
	row->bytes += bytes > 0 ? (uint64_t) bytes : 0;
	if (!is_known || process->is_full) {
		row->unknown++;
	} else if (is_registered) {
		row->registered++;
		row->registered_bytes += bytes > 0 ? (uint64_t) bytes : 0;
	} else if (is_allocated) {
		row->allocated++;
	}
}

static int take_operation(struct buffers *buffers, const struct process *process,
			  const struct tap_span *span)
{
	struct row *row;

	if (!span->member)
		return 0;
	row = tap_rows_get(&buffers->members, span->member->number, 0, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->member = span->member;
	judge(process, row, span);
	return 0;
}

static int take_span(void *data, struct tap_span *span)
{
	struct buffers *buffers = data;
	const char *name = span->name->name;
	struct process *process;

	if (!tap_audit_is_own_call(span) || span->is_from_nvtx ||
	    span->state == TAP_SPAN_BEGIN_LOST ||
	    tap_span_is_failure(tap_span_result(span)))
		return 0;
	process = tap_rows_get(&buffers->processes, span->process->number, 0,
			       sizeof(*process));
	if (!process)
		return -ENOMEM;
	if (tap_audit_is_operation(span))
		return take_operation(buffers, process, span);
	if (!strcmp(name, "ncclCommRegister"))
		return add_range(buffers, process, span, "buff", "handle");
	if (!strcmp(name, "ncclCommWindowRegister"))
		return add_range(buffers, process, span, "buff", "win");
	if (!strcmp(name, "ncclMemAlloc"))
		return add_range(buffers, process, span, "ptr", "ptr");
	if (!strcmp(name, "ncclCommDeregister"))
		drop_range(process, number_in(span, "handle"), false);
	else if (!strcmp(name, "ncclCommWindowDeregister"))
		drop_range(process, number_in(span, "win"), false);
	else if (!strcmp(name, "ncclMemFree"))
		drop_range(process, number_in(span, "ptr"), true);
	return 0;
}

/* ---- At the end ---- */

static int remark_row(struct buffers *buffers, const struct row *row)
{
	const uint64_t others = row->operations - row->registered - row->unknown;
	struct tap_audit_remark *remark;

	if (!row->registered || !others)
		return 0;
	remark = tap_audit_add(buffers, TAP_AUDIT_NOTE, "some-unregistered",
			       buffers->state.shared->may_lack_calls ? TAP_KNOWN_INFERRED
								     : TAP_KNOWN_EXACT);
	if (!remark)
		return -ENOMEM;
	remark->count = others;
	tap_view_add_key(&remark->text, row->comm->key);
	tap_buffer_add_string(&remark->text, ": ");
	tap_buffer_add_unsigned(&remark->text, others);
	tap_buffer_add_string(&remark->text, " of ");
	tap_audit_add_count(&remark->text, row->operations, "operation");
	tap_buffer_add_string(&remark->text,
			      " use a buffer that is not registered, though others are");
	return 0;
}

static int remark_unknown(struct buffers *buffers)
{
	struct tap_audit_remark *remark;

	if (!buffers->unknown)
		return 0;
	remark = tap_audit_add(buffers, TAP_AUDIT_UNKNOWN, "unknown", TAP_KNOWN_EXACT);
	if (!remark)
		return -ENOMEM;
	remark->count = buffers->unknown;
	tap_audit_add_count(&remark->text, buffers->unknown, "operation");
	tap_buffer_add_string(&remark->text,
			      ": whether their buffers are registered is not known");
	return 0;
}

static int take_member(struct buffers *buffers, const struct row *from)
{
	const struct tap_comm *comm = tap_member_comm(from->member);
	struct row *row = tap_rows_get(&buffers->rows, comm->number, 0, sizeof(*row));

	if (!row)
		return -ENOMEM;
	row->comm = comm;
	row->operations += from->operations;
	row->registered += from->registered;
	row->allocated += from->allocated;
	row->unknown += from->unknown;
	row->bytes += from->bytes;
	row->registered_bytes += from->registered_bytes;
	buffers->operations += from->operations;
	buffers->registered += from->registered;
	buffers->unknown += from->unknown;
	return 0;
}

static int conclude(void *data)
{
	struct buffers *buffers = data;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < buffers->members.count; i++)
		ret = take_member(buffers, buffers->members.all[i]);
	for (i = 0; !ret && i < buffers->rows.count; i++)
		ret = remark_row(buffers, buffers->rows.all[i]);
	return ret ? ret : remark_unknown(buffers);
}

/* ---- Output ---- */

static void add_key(struct tap_buffer *text, const void *data)
{
	tap_buffer_add_string(text, "  ");
	tap_view_add_key(text, ((const struct row *) data)->comm->key);
}

static struct tap_value comm_key(const struct tap_column *column, const void *data)
{
	const struct row *row = data;

	(void) column;
	return (struct tap_value){.is_unknown = !row->comm->key,
				  .number = row->comm->key};
}

#define COLUMN(key, header, width, unit, member) \
	TAP_COLUMN(key, header, width, unit, struct row, member)

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  communicator", 26, add_key),
	TAP_COLUMN_VALUE("comm_key", NULL, 0, TAP_UNIT_HEX, comm_key),
	COLUMN("operations", "operations", 12, TAP_UNIT_COUNT, operations),
	COLUMN("registered", "registered", 12, TAP_UNIT_COUNT, registered),
	COLUMN("allocated", "ncclMemAlloc", 14, TAP_UNIT_COUNT, allocated),
	COLUMN("unknown", "unknown", 9, TAP_UNIT_COUNT, unknown),
	COLUMN("bytes", "bytes", 14, TAP_UNIT_BYTES, bytes),
	COLUMN("registered_bytes", "registered B", 14, TAP_UNIT_BYTES, registered_bytes),
	TAP_COLUMNS_END,
};

static void summary(const void *data, struct tap_buffer *line)
{
	const struct buffers *buffers = data;

	tap_buffer_add_unsigned(line, buffers->registered);
	tap_buffer_add_string(line, " of ");
	tap_audit_add_count(line, buffers->operations, "operation");
	tap_buffer_add_string(line, " on registered buffers; ");
	tap_audit_add_count(line, buffers->registrations, "registration");
}

static void json(const void *data, struct tap_json *json)
{
	const struct buffers *buffers = data;

	tap_json_unsigned(json, "registrations", buffers->registrations);
	tap_columns_add_json(json, "communicators", columns, &buffers->rows);
}

static void free_all(void *data)
{
	struct buffers *buffers = data;
	size_t i;

	for (i = 0; i < buffers->processes.count; i++)
		tap_vec_free(&((struct process *) buffers->processes.all[i])->ranges);
	tap_rows_free(&buffers->processes);
	tap_rows_free(&buffers->members);
	tap_rows_free(&buffers->rows);
}

const struct tap_audit_subject tap_audit_buffers = {
	.key = "buffers",
	.title = "buffers",
	.size = sizeof(struct buffers),
	.table = {.columns = columns, .rows = offsetof(struct buffers, rows)},
	.is_of_absence = true,
	.takes = {.span_ended = take_span},
	.conclude = conclude,
	.summary = summary,
	.json = json,
	.free = free_all,
};
