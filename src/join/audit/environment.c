/* SPDX-License-Identifier: MIT */
/* The environment variables that steer NCCL, and whether all processes have the same. */
#include "join/audit/subject.h"
#include "join/report/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Variables with different values beyond these are counted together. */
#define ROWS_MAX 1024
/* Of a value in the summary. */
#define SHOWN_MAX 24

/* A value of a variable, with the processes that have it. */
struct row {
	char *name, *value;
	bool is_cut, is_withheld;
	uint64_t process_count;
	struct tap_audit_processes processes;
};

/* The value that a process has now. */
struct held {
	struct row *row;
	const struct tap_process *process;
};

struct environment {
	struct tap_audit_state state;
	struct tap_rows rows;		  /* by (hash of the name, hash of the value) */
	struct tap_rows held;		  /* by (process, hash of the name) */
	struct tap_audit_processes known; /* that recorded what they have */
	uint64_t others;
};

/* Variables by which all ranks of a communicator agree on what they do. */
static const char *const agreed[] = {
	"NCCL_ALGO",
	"NCCL_BUFFSIZE",
	"NCCL_COLLNET_ENABLE",
	"NCCL_LL128_BUFFSIZE",
	"NCCL_LL128_NTHREADS",
	"NCCL_LL_BUFFSIZE",
	"NCCL_MAX_CTAS",
	"NCCL_MAX_NCHANNELS",
	"NCCL_MIN_CTAS",
	"NCCL_MIN_NCHANNELS",
	"NCCL_NCHANNELS_PER_NET_PEER",
	"NCCL_NET",
	"NCCL_NET_PLUGIN",
	"NCCL_NTHREADS",
	"NCCL_NVLS_ENABLE",
	"NCCL_P2P_NET_CHUNKSIZE",
	"NCCL_PROTO",
};

/* What costs time, or takes a transport away. */
static const struct {
	const char *name, *value;
	enum tap_audit_grade grade;
	const char *what;
} costly[] = {
	{"CUDA_LAUNCH_BLOCKING", "1", TAP_AUDIT_WARNING,
	 "each launch waits for its kernel"},
	{"NCCL_DEBUG", "TRACE", TAP_AUDIT_NOTE, "NCCL writes a line for each call"},
	{"NCCL_IB_DISABLE", "1", TAP_AUDIT_NOTE, "NCCL uses no RDMA"},
	{"NCCL_P2P_DISABLE", "1", TAP_AUDIT_NOTE,
	 "NCCL does not use the GPUs' memory of one another"},
	{"NCCL_SHM_DISABLE", "1", TAP_AUDIT_NOTE,
	 "NCCL uses no shared memory between processes"},
};

/* Whether a process has the value still. */
static bool is_current(const struct row *row)
{
	return row->process_count;
}

static struct row *row_of(struct environment *environment,
			  const struct tap_variable *variable)
{
	const uint64_t name = tap_table_hash(variable->name);
	const uint64_t value = tap_table_hash(variable->value);
	struct row *row = tap_rows_find(&environment->rows, name, value);

	if (row)
		return row;
	row = tap_rows_add(&environment->rows, name, value, sizeof(*row));
	if (!row)
		return NULL;
	row->name = strdup(variable->name);
	row->value = strdup(variable->value);
	row->is_cut = variable->is_cut;
	row->is_withheld = variable->is_withheld;
	return row->name && row->value ? row : NULL;
}

static int take_variable(void *data, const struct tap_variable *variable)
{
	struct environment *environment = data;
	struct held *held;
	struct row *row;

	if (tap_audit_add_process(&environment->known, variable->process))
		return -ENOMEM;
	if (!*variable->name)
		return 0;
	if (environment->rows.count == ROWS_MAX) {
		environment->others++;
		return 0;
	}
	row = row_of(environment, variable);
	held = tap_rows_get(&environment->held, variable->process->number,
			    tap_table_hash(variable->name), sizeof(*held));
	if (!row || !held)
		return -ENOMEM;
	held->row = row;
	held->process = variable->process;
	return 0;
}

/* ---- Remarks ---- */

static bool is_listed(const char *name, const char *const *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

static void add_value(struct tap_buffer *text, const struct row *row)
{
	if (row->is_withheld)
		tap_buffer_add_string(text, "(not recorded)");
	else
		tap_buffer_add_visible(text, row->value);
	if (row->is_cut)
		tap_buffer_add_string(text, "...");
}

/* Some characters of it, for a line of many. */
static void add_short_value(struct tap_buffer *text, const struct row *row)
{
	const size_t start = text->used;

	add_value(text, row);
	if (text->used - start <= SHOWN_MAX)
		return;
	/* Not in the middle of a character. */
	for (text->used = start + SHOWN_MAX - 3;
	     text->used > start && (text->data[text->used] & 0xc0) == 0x80; text->used--)
		;
	tap_buffer_add_string(text, "...");
}

static int remark_costly(struct environment *environment, const struct row *row)
{
	struct tap_audit_remark *remark;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(costly); i++) {
		if (strcmp(row->name, costly[i].name) ||
		    strcmp(row->value, costly[i].value))
			continue;
		remark = tap_audit_add(environment, costly[i].grade, "costly",
				       TAP_KNOWN_EXACT);
		if (!remark || tap_audit_remark_on(remark, &row->processes))
			return -ENOMEM;
		tap_buffer_add_string(&remark->text, row->name);
		tap_buffer_add_char(&remark->text, '=');
		tap_buffer_add_string(&remark->text, row->value);
		tap_buffer_add_string(&remark->text, " of ");
		tap_audit_add_processes(&remark->text, &row->processes);
		tap_buffer_add_string(&remark->text, ": ");
		tap_buffer_add_string(&remark->text, costly[i].what);
		return 0;
	}
	return 0;
}

/* "Ring of rank 0, Tree of rank 1": the values of the variable from this row on. */
static int add_values(struct environment *environment, size_t from,
		      struct tap_audit_remark *remark)
{
	const struct row *first = environment->rows.all[from];
	uint64_t having = 0;
	size_t i;

	for (i = from; i < environment->rows.count; i++) {
		const struct row *row = environment->rows.all[i];

		if (strcmp(row->name, first->name) || !is_current(row))
			continue;
		tap_buffer_add_string(&remark->text, having ? ", " : ": ");
		add_short_value(&remark->text, row);
		tap_buffer_add_string(&remark->text, " of ");
		tap_audit_add_processes(&remark->text, &row->processes);
		having += row->process_count;
		if (tap_audit_remark_on(remark, &row->processes))
			return -ENOMEM;
	}
	if (having < environment->known.all.count) {
		tap_buffer_add_string(&remark->text, ", not set in ");
		tap_audit_add_count(&remark->text, environment->known.all.count - having,
				    "other");
	}
	return 0;
}

/* A variable is handled at its first row that is current. */
static int remark_differing(struct environment *environment, size_t at)
{
	const struct row *row = environment->rows.all[at];
	struct tap_audit_remark *remark;
	size_t i;

	if (!is_current(row) || row->process_count == environment->known.all.count ||
	    !is_listed(row->name, agreed, ARRAY_SIZE(agreed)))
		return 0;
	/* They are sorted by name. */
	for (i = at; i-- > 0;) {
		const struct row *before = environment->rows.all[i];

		if (strcmp(before->name, row->name))
			break;
		if (is_current(before))
			return 0;
	}
	remark =
		tap_audit_add(environment, TAP_AUDIT_WARNING, "differs", TAP_KNOWN_EXACT);
	if (!remark)
		return -ENOMEM;
	tap_buffer_add_string(&remark->text, row->name);
	tap_buffer_add_string(&remark->text, " is not the same in all processes");
	return add_values(environment, at, remark);
}

static void free_row(struct row *row)
{
	free(row->name);
	free(row->value);
	tap_audit_free_processes(&row->processes);
}

static int compare(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *) left;
	const struct row *b = *(const struct row *const *) right;
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->value, b->value);
}

static int conclude(void *data)
{
	struct environment *environment = data;
	struct tap_audit_remark *remark;
	size_t i;
	int ret = 0;

	for (i = 0; i < environment->held.count; i++) {
		const struct held *held = environment->held.all[i];

		if (tap_audit_add_process(&held->row->processes, held->process))
			return -ENOMEM;
	}
	for (i = 0; i < environment->rows.count; i++) {
		struct row *row = environment->rows.all[i];

		row->process_count = row->processes.all.count;
	}
	tap_rows_sort(&environment->rows, compare);
	for (i = 0; !ret && i < environment->rows.count; i++) {
		if (is_current(environment->rows.all[i]))
			ret = remark_costly(environment, environment->rows.all[i]);
		if (!ret)
			ret = remark_differing(environment, i);
	}
	if (ret || environment->known.all.count)
		return ret;
	remark = tap_audit_add(environment, TAP_AUDIT_UNKNOWN, "not-recorded",
			       TAP_KNOWN_EXACT);
	if (!remark)
		return -ENOMEM;
	remark->count = 0;
	tap_buffer_add_string(&remark->text,
			      "the trace does not say which variables were set");
	return 0;
}

/* ---- Output ---- */

static void add_name(struct tap_buffer *text, const void *data)
{
	tap_buffer_add_visible(text, ((const struct row *) data)->name);
}

static void add_name_indented(struct tap_buffer *text, const void *data)
{
	tap_buffer_add_string(text, "  ");
	add_name(text, data);
}

static void add_row_value(struct tap_buffer *text, const void *data)
{
	add_value(text, data);
}

static void add_raw_value(struct tap_buffer *text, const void *data)
{
	tap_buffer_add_string(text, ((const struct row *) data)->value);
}

static struct tap_value is_cut(const struct tap_column *column, const void *data)
{
	(void) column;
	return (struct tap_value){.number = ((const struct row *) data)->is_cut};
}

static struct tap_value is_withheld(const struct tap_column *column, const void *data)
{
	(void) column;
	return (struct tap_value){.number = ((const struct row *) data)->is_withheld};
}

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  variable", 34, add_name_indented),
	TAP_COLUMN_TEXT("name", NULL, 0, add_name),
	TAP_COLUMN("processes", "processes", 10, TAP_UNIT_COUNT, struct row,
		   process_count),
	TAP_COLUMN_TEXT(NULL, "value", 0, add_row_value),
	TAP_COLUMN_TEXT("value", NULL, 0, add_raw_value),
	TAP_COLUMN_VALUE("cut", NULL, 0, TAP_UNIT_COUNT, is_cut),
	TAP_COLUMN_VALUE("withheld", NULL, 0, TAP_UNIT_COUNT, is_withheld),
	TAP_COLUMNS_END,
};

static void summary(const void *data, struct tap_buffer *line)
{
	const struct environment *environment = data;
	uint64_t shown = 0, count = 0;
	size_t i;

	for (i = 0; i < environment->rows.count; i++) {
		const struct row *row = environment->rows.all[i];

		if (!is_current(row))
			continue;
		count++;
		if (shown == 4)
			continue;
		tap_buffer_add_string(line, shown ? ", " : "");
		tap_buffer_add_visible(line, row->name);
		tap_buffer_add_char(line, '=');
		add_short_value(line, row);
		shown++;
	}
	if (count > shown) {
		tap_buffer_add_string(line, " and ");
		tap_buffer_add_unsigned(line, count - shown);
		tap_buffer_add_string(line, " more");
	}
	if (!count)
		tap_buffer_add_string(line, environment->known.all.count
						    ? "no variable of NCCL is set"
						    : "not recorded");
}

static void json(const void *data, struct tap_json *json)
{
	const struct environment *environment = data;

	tap_json_unsigned(json, "processes", environment->known.all.count);
	tap_columns_add_json(json, "variables", columns, &environment->rows);
	tap_json_unsigned(json, "other_variables", environment->others);
}

static void free_all(void *data)
{
	struct environment *environment = data;
	size_t i;

	for (i = 0; i < environment->rows.count; i++)
		free_row(environment->rows.all[i]);
	tap_rows_free(&environment->rows);
	tap_rows_free(&environment->held);
	tap_audit_free_processes(&environment->known);
}

const struct tap_audit_subject tap_audit_environment = {
	.key = "environment",
	.title = "environment",
	.size = sizeof(struct environment),
	.table = {.columns = columns, .rows = offsetof(struct environment, rows)},
	.takes = {.variable = take_variable},
	.conclude = conclude,
	.summary = summary,
	.json = json,
	.free = free_all,
};
