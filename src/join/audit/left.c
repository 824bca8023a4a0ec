/* SPDX-License-Identifier: MIT */
/*
 * What the program made and never destroyed: communicators, registrations, windows,
 * memory, reduction operators, graphs.
 */
#include "join/audit/subject.h"
#include "join/findings/analysis.h"
#include "join/report/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	COMMUNICATOR,
	REGISTRATION,
	WINDOW,
	MEMORY,
	OPERATOR,
	DEVICE_COMMUNICATOR,
	GRAPH,
	GRAPH_EXEC,
	KINDS
};

static const struct {
	const char *name, *key;
	/* How NCCL makes and destroys one, and the fields that have its handle. */
	const char *make, *made, *destroy, *destroyed;
} kinds[KINDS] = {
	[COMMUNICATOR] = {"communicator handle", "communicators", NULL, NULL, NULL, NULL},
	[REGISTRATION] = {"registered buffer", "registered_buffers", "ncclCommRegister",
			  "handle", "ncclCommDeregister", "handle"},
	[WINDOW] = {"window", "windows", "ncclCommWindowRegister", "win",
		    "ncclCommWindowDeregister", "win"},
	[MEMORY] = {"ncclMemAlloc buffer", "memory", "ncclMemAlloc", "ptr", "ncclMemFree",
		    "ptr"},
	[OPERATOR] = {"reduction operator", "reduction_operators",
		      "ncclRedOpCreatePreMulSum", "op", "ncclRedOpDestroy", "op"},
	[DEVICE_COMMUNICATOR] = {"device communicator", "device_communicators",
				 "ncclDevCommCreate", "outDevComm", "ncclDevCommDestroy",
				 "devComm"},
	[GRAPH] = {"graph", "graphs", NULL, NULL, NULL, NULL},
	[GRAPH_EXEC] = {"instantiated graph", "graph_execs", NULL, NULL, NULL, NULL},
};

/* Of one process and one kind. */
struct row {
	const struct tap_process *process;
	enum kind kind;
	uint64_t made, left;
};

struct left {
	struct tap_audit_state state;
	struct tap_table alive[KINDS]; /* rows by (process, handle) */
	struct tap_rows rows;	       /* by (process, kind) */
	uint64_t made[KINDS], remaining[KINDS];
};

static struct row *row_of(struct left *left, const struct tap_process *process,
			  enum kind kind)
{
	struct row *row = tap_rows_get(&left->rows, process->number, kind, sizeof(*row));

	if (row) {
		row->process = process;
		row->kind = kind;
	}
	return row;
}

static int make(struct left *left, const struct tap_process *process, enum kind kind,
		uint64_t handle)
{
	struct row *row = row_of(left, process, kind);

	if (!row)
		return -ENOMEM;
	row->made++;
	/* What was destroyed out of sight has its handle given to another. */
	if (!tap_table_find(&left->alive[kind], process->number, handle))
		row->left++;
	return tap_table_set(&left->alive[kind], process->number, handle, row);
}

static void destroy(struct left *left, const struct tap_process *process, enum kind kind,
		    uint64_t handle)
{
	struct row *row = tap_table_remove(&left->alive[kind], process->number, handle);

	if (row)
		row->left--;
}

/* The handle in the arguments, or else in what the call returned; 0: none. */
static uint64_t handle_in(const struct tap_span *span, const char *name)
{
	const struct tap_field *field = tap_fields_find(&span->exit, name);
	uint64_t handle = 0;
	int64_t number;

	if (!field)
		field = tap_fields_find(&span->entry, name);
	if (tap_field_get_unsigned(field, &handle) &&
	    !tap_field_get_signed(field, &number))
		handle = (uint64_t) number;
	return handle;
}

static int take_nccl(struct left *left, const struct tap_span *span)
{
	uint64_t handle;
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		if (!kinds[kind].make)
			continue;
		if (!strcmp(span->name->name, kinds[kind].make)) {
			handle = handle_in(span, kinds[kind].made);
			return handle ? make(left, span->process, kind, handle) : 0;
		}
		if (strcmp(span->name->name, kinds[kind].destroy))
			continue;
		/* An operator's number is no field: the decoder has made it a part of the
		 * operation. */
		handle = kind == OPERATOR ? (uint64_t) span->operation.redop
					  : handle_in(span, kinds[kind].destroyed);
		destroy(left, span->process, kind, handle);
		return 0;
	}
	return 0;
}

static uint64_t graph_in(const struct tap_span *span, enum tap_call_role role)
{
	uint64_t graph = 0;

	if (tap_call_get(span->name->row, role, &span->exit, &graph) &&
	    tap_call_get(span->name->row, role, &span->entry, &graph))
		return 0;
	return graph;
}

static int take_cuda(struct left *left, const struct tap_span *span)
{
	uint64_t graph;

	switch (span->name->cuda) {
	case TAP_CUDA_END_CAPTURE:
	case TAP_CUDA_CLONE_GRAPH:
		graph = graph_in(span, TAP_ROLE_MADE_GRAPH);
		return graph ? make(left, span->process, GRAPH, graph) : 0;
	case TAP_CUDA_INSTANTIATE_GRAPH:
		graph = graph_in(span, TAP_ROLE_MADE_GRAPH_EXEC);
		return graph ? make(left, span->process, GRAPH_EXEC, graph) : 0;
	case TAP_CUDA_DESTROY_GRAPH:
		destroy(left, span->process, GRAPH, graph_in(span, TAP_ROLE_GRAPH));
		return 0;
	case TAP_CUDA_DESTROY_GRAPH_EXEC:
		destroy(left, span->process, GRAPH_EXEC,
			graph_in(span, TAP_ROLE_GRAPH_EXEC));
		return 0;
	default:
		return 0;
	}
}

static int take_span(void *data, struct tap_span *span)
{
	const struct tap_field *result;

	if (span->state != TAP_SPAN_COMPLETE)
		return 0;
	result = tap_span_result(span);
	if (tap_span_is_failure(result))
		return 0;
	if (tap_audit_is_own_call(span))
		return take_nccl(data, span);
	return tap_audit_is_own_cuda(span) ? take_cuda(data, span) : 0;
}

/* ---- At the end ---- */

/* Communicators have a state of their own. */
static int take_members(struct left *left)
{
	const struct tap_comms *comms = &left->state.shared->view->context->comms;
	struct row *row;
	size_t i;

	for (i = 0; i < comms->member_count; i++) {
		const struct tap_member *member = comms->members[i];

		/* A fork's child has those of its parent, which are not its own. */
		if (!member->is_made)
			continue;
		row = row_of(left, member->process, COMMUNICATOR);
		if (!row)
			return -ENOMEM;
		row->made++;
		row->left += !member->is_over;
	}
	return 0;
}

/* Whether it is certain that the process is over, and of it nothing is missing. */
static bool is_certain(const struct left *left, const struct tap_process *process)
{
	const struct tap_end_state *end =
		tap_findings_end_of(left->state.shared->findings, process);

	return end && end->end != TAP_END_NOT_SEEN && !left->state.shared->may_lack_calls;
}

/* Returns 0 or -ENOMEM. */
static int remark(struct left *left, enum kind kind, bool is_sure)
{
	struct tap_audit_processes processes = {0};
	struct tap_audit_remark *one;
	uint64_t count = 0;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < left->rows.count; i++) {
		const struct row *row = left->rows.all[i];

		if (row->kind != kind || !row->left ||
		    is_certain(left, row->process) != is_sure)
			continue;
		count += row->left;
		ret = tap_audit_add_process(&processes, row->process);
	}
	if (ret || !count) {
		tap_audit_free_processes(&processes);
		return ret;
	}
	one = tap_audit_add(left, is_sure ? TAP_AUDIT_WARNING : TAP_AUDIT_UNKNOWN,
			    is_sure ? "never-destroyed" : "not-seen-destroyed",
			    TAP_KNOWN_EXACT);
	ret = one ? tap_audit_remark_on(one, &processes) : -ENOMEM;
	if (!ret) {
		one->count = count;
		tap_audit_add_count(&one->text, count, kinds[kind].name);
		tap_buffer_add_string(&one->text, " of ");
		tap_audit_add_processes(&one->text, &processes);
		tap_buffer_add_string(
			&one->text,
			is_sure ? count == 1 ? " was never destroyed"
					     : " were never destroyed"
			: left->state.shared->may_lack_calls
				? " not seen destroyed; events are lost"
				: " not destroyed when the trace ended; the end of the "
				  "process is not in it");
	}
	tap_audit_free_processes(&processes);
	return ret;
}

static int conclude(void *data)
{
	struct left *left = data;
	enum kind kind;
	size_t i;
	int ret = take_members(left);

	for (i = 0; i < left->rows.count; i++) {
		const struct row *row = left->rows.all[i];

		left->made[row->kind] += row->made;
		left->remaining[row->kind] += row->left;
	}
	for (kind = 0; !ret && kind < KINDS; kind++) {
		ret = remark(left, kind, true);
		if (!ret)
			ret = remark(left, kind, false);
	}
	return ret;
}

/* ---- Output ---- */

static void summary(const void *data, struct tap_buffer *line)
{
	const struct left *left = data;
	bool has_before = false;
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		if (!left->made[kind])
			continue;
		tap_buffer_add_string(line, has_before ? ", " : "made: ");
		tap_audit_add_count(line, left->made[kind], kinds[kind].name);
		has_before = true;
	}
	if (!has_before)
		tap_buffer_add_string(line, "nothing was made");
}

static void add_kind(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text, kinds[row->kind].key);
}

static void add_kind_indented(struct tap_buffer *text, const void *data)
{
	tap_buffer_add_string(text, "  ");
	add_kind(text, data);
}

static void add_process(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_view_add_process(text, row->process);
}

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  what", 26, add_kind_indented),
	TAP_COLUMN_TEXT("what", NULL, 0, add_kind),
	TAP_COLUMN_TEXT(NULL, "process", 14, add_process),
	TAP_COLUMN_PROCESS("process", struct row, process),
	TAP_COLUMN("made", "made", 9, TAP_UNIT_COUNT, struct row, made),
	TAP_COLUMN("left", "left", 9, TAP_UNIT_COUNT, struct row, left),
	TAP_COLUMNS_END,
};

static void free_all(void *data)
{
	struct left *left = data;
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++)
		tap_table_free(&left->alive[kind]);
	tap_rows_free(&left->rows);
}

const struct tap_audit_subject tap_audit_left = {
	.key = "left_behind",
	.title = "never destroyed",
	.size = sizeof(struct left),
	.table = {.columns = columns,
		  .rows = offsetof(struct left, rows),
		  .key = "objects"},
	.is_of_absence = true,
	.takes = {.span_ended = take_span},
	.conclude = conclude,
	.summary = summary,
	.free = free_all,
};
