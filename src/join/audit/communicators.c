/* SPDX-License-Identifier: MIT */
/* Which communicators there are, of which ranks, and what the program asked of them. */
#include "join/audit/subject.h"
#include "join/report/columns.h"

#include <errno.h>
#include <string.h>

/* The value of a field of ncclConfig_t that the program leaves to NCCL. */
#define UNDEFINED INT32_MIN

static const char config[] = "config_";

struct row {
	const struct tap_comm *comm;
	const struct tap_member *member; /* of the lowest rank that describes it */
	uint64_t ranks;			 /* that are in the trace */
	uint64_t collectives;
	struct tap_audit_processes processes;
};

/* What is seen of one rank. */
struct seen {
	uint64_t collectives;
};

struct communicators {
	struct tap_audit_state state;
	struct tap_rows seen; /* by (member, 0) */
	struct tap_rows rows; /* by (communicator, 0) */
};

static int take_span(void *data, struct tap_span *span)
{
	struct communicators *communicators = data;
	struct seen *seen;

	if (!tap_audit_is_operation(span) || !span->member ||
	    span->name->kind != TAP_NAME_COLLECTIVE)
		return 0;
	seen = tap_rows_get(&communicators->seen, span->member->number, 0, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	seen->collectives++;
	return 0;
}

/* ---- Fields of a member ---- */

static const char *label(const struct tap_member *member, const char *name)
{
	const struct tap_field *field = tap_fields_find(&member->about, name);

	return field ? field->label : NULL;
}

static bool is_config(const struct tap_field *field)
{
	return !strncmp(field->name, config, strlen(config));
}

static bool is_asked_for(const struct tap_fields *fields, const struct tap_field *field)
{
	int64_t number;

	if (field->kind == TAP_FIELD_STRING)
		return *tap_fields_string(fields, field);
	return !tap_field_get_signed(field, &number) && number != UNDEFINED;
}

/* "minCTAs=4, commName=world" */
static void add_config(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;
	const struct tap_fields *about = &row->member->about;
	bool has_before = false;
	size_t i;

	for (i = 0; i < about->count; i++) {
		const struct tap_field *field = &about->list[i];

		if (!is_config(field) || !is_asked_for(about, field))
			continue;
		tap_buffer_add_string(text, has_before ? ", " : "");
		tap_buffer_add_visible(text, field->name + strlen(config));
		tap_buffer_add_char(text, '=');
		tap_view_add_value(text, about, field);
		has_before = true;
	}
}

/* Whether both have this field with the same value. */
static bool is_same(const struct tap_member *a, const struct tap_field *field,
		    const struct tap_member *b)
{
	const struct tap_field *other = tap_fields_find(&b->about, field->name);
	int64_t left = 0, right = 0;

	if (!other)
		return true;
	if (field->kind == TAP_FIELD_STRING && other->kind == TAP_FIELD_STRING)
		return !strcmp(tap_fields_string(&a->about, field),
			       tap_fields_string(&b->about, other));
	return tap_field_get_signed(field, &left) ||
	       tap_field_get_signed(other, &right) || left == right;
}

/* ---- Remarks ---- */

static struct tap_audit_remark *remark_on(struct communicators *communicators,
					  const struct row *row,
					  enum tap_audit_grade grade, const char *kind)
{
	struct tap_audit_remark *remark =
		tap_audit_add(communicators, grade, kind, TAP_KNOWN_EXACT);

	if (!remark || tap_audit_remark_on(remark, &row->processes))
		return NULL;
	tap_view_add_key(&remark->text, row->comm->key);
	return remark;
}

static int remark_error(struct communicators *communicators, const struct row *row,
			const struct tap_member *member)
{
	const struct tap_field *field = tap_fields_find(&member->about, "async_error");
	struct tap_audit_remark *remark;

	if (!tap_span_is_failure(field))
		return 0;
	remark = remark_on(communicators, row, TAP_AUDIT_ERROR, "async-error");
	if (!remark)
		return -ENOMEM;
	tap_buffer_add_string(&remark->text, ": ncclCommGetAsyncError reported ");
	tap_buffer_add_visible(&remark->text, field->label ? field->label : "an error");
	tap_buffer_add_string(&remark->text, " to ");
	tap_view_add_process(&remark->text, member->process);
	return 0;
}

/* Returns the field of the configuration that the two do not share, or NULL. */
static const struct tap_field *differing(const struct tap_member *a,
					 const struct tap_member *b)
{
	size_t i;

	for (i = 0; i < a->about.count; i++)
		if (is_config(&a->about.list[i]) && !is_same(a, &a->about.list[i], b))
			return &a->about.list[i];
	return NULL;
}

static int remark_config(struct communicators *communicators, const struct row *row)
{
	const struct tap_field *field = NULL;
	const struct tap_member *member;
	struct tap_audit_remark *remark;

	for (member = row->comm->members; member && !field; member = member->next)
		if (member->about.count)
			field = differing(row->member, member);
	if (!field)
		return 0;
	remark = remark_on(communicators, row, TAP_AUDIT_NOTE, "config-differs");
	if (!remark)
		return -ENOMEM;
	tap_buffer_add_string(&remark->text,
			      ": ranks asked for different configurations: ");
	tap_buffer_add_visible(&remark->text, field->name + strlen(config));
	return 0;
}

static int remark_ranks(struct communicators *communicators, const struct row *row)
{
	struct tap_audit_remark *remark;

	if (row->comm->nranks < 0 || row->ranks >= (uint64_t) row->comm->nranks)
		return 0;
	remark = remark_on(communicators, row, TAP_AUDIT_UNKNOWN, "ranks-not-seen");
	if (!remark)
		return -ENOMEM;
	remark->count = (uint64_t) row->comm->nranks - row->ranks;
	tap_buffer_add_string(&remark->text, ": ");
	tap_buffer_add_unsigned(&remark->text, row->ranks);
	tap_buffer_add_string(&remark->text, " of ");
	tap_audit_add_count(&remark->text, (uint64_t) row->comm->nranks, "rank");
	tap_buffer_add_string(&remark->text,
			      " are in the trace: what the others call is not known");
	return 0;
}

/* A communicator that existed before the recording, or that NCCL was made past us. */
static int remark_origin(struct communicators *communicators, const struct row *row)
{
	struct tap_audit_remark *remark;

	if (row->comm->key)
		return 0;
	remark = tap_audit_add(communicators, TAP_AUDIT_UNKNOWN, "not-seen-made",
			       TAP_KNOWN_EXACT);
	if (!remark || tap_audit_remark_on(remark, &row->processes))
		return -ENOMEM;
	tap_buffer_add_string(&remark->text, "a communicator of ");
	tap_audit_add_processes(&remark->text, &row->processes);
	tap_buffer_add_string(
		&remark->text,
		" was not seen being made: which ranks it joins is not known");
	return 0;
}

/* ---- At the end ---- */

/* As the process counts them, also those that are not in the trace, or as it shows. */
static uint64_t count_collectives(const struct communicators *communicators,
				  const struct tap_member *member)
{
	const struct seen *seen = tap_rows_find(&communicators->seen, member->number, 0);
	uint64_t count = tap_fields_number(&member->about, "collectives");

	if (member->collectives > count)
		count = member->collectives;
	return seen && seen->collectives > count ? seen->collectives : count;
}

static int take_comm(struct communicators *communicators, const struct tap_comm *comm)
{
	const struct tap_member *member;
	struct row *row;
	int ret;

	if (comm->united || !comm->members)
		return 0;
	row = tap_rows_add(&communicators->rows, comm->number, 0, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->comm = comm;
	row->member = comm->members;
	for (member = comm->members; member; member = member->next) {
		const uint64_t collectives = count_collectives(communicators, member);

		row->ranks++;
		if (!row->member->about.count ||
		    (member->about.count &&
		     (uint64_t) member->rank < (uint64_t) row->member->rank))
			row->member = member;
		if (collectives > row->collectives)
			row->collectives = collectives;
		if (tap_audit_add_process(&row->processes, member->process))
			return -ENOMEM;
	}
	for (member = comm->members; member; member = member->next) {
		ret = remark_error(communicators, row, member);
		if (ret)
			return ret;
	}
	ret = remark_origin(communicators, row);
	if (!ret && row->comm->key)
		ret = remark_ranks(communicators, row);
	return ret ? ret : remark_config(communicators, row);
}

static int conclude(void *data)
{
	struct communicators *communicators = data;
	const struct tap_comms *comms =
		&communicators->state.shared->view->context->comms;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < comms->count; i++)
		ret = take_comm(communicators, comms->all[i]);
	return ret;
}

/* ---- Columns ---- */

static void add_short_key(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text, "  ");
	tap_view_add_key(text, row->comm->key);
}

static struct tap_value comm_key(const struct tap_column *column, const void *data)
{
	const struct row *row = data;

	(void) column;
	return (struct tap_value){.is_unknown = !row->comm->key,
				  .number = row->comm->key};
}

static struct tap_value nranks(const struct tap_column *column, const void *data)
{
	const struct row *row = data;

	(void) column;
	return tap_value_not_negative(row->comm->nranks);
}

static void add_origin(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;
	const char *origin = label(row->member, "origin");

	tap_buffer_add_visible(text, origin ? origin : "unknown");
}

static void add_phase(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;
	const char *phase = label(row->member, "phase");

	tap_buffer_add_visible(text, phase ? phase : "unknown");
}

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  communicator", 26, add_short_key),
	TAP_COLUMN_VALUE("comm_key", NULL, 0, TAP_UNIT_HEX, comm_key),
	TAP_COLUMN_VALUE("nranks", "ranks", 7, TAP_UNIT_COUNT, nranks),
	TAP_COLUMN("ranks_seen", "seen", 6, TAP_UNIT_COUNT, struct row, ranks),
	TAP_COLUMN("collectives", "collectives", 13, TAP_UNIT_COUNT, struct row,
		   collectives),
	TAP_COLUMN_TEXT("origin", "made by", 9, add_origin),
	TAP_COLUMN_TEXT("phase", "at the end", 12, add_phase),
	TAP_COLUMN_TEXT("config", "configuration", 0, add_config),
	TAP_COLUMNS_END,
};

/* ---- Output ---- */

static void summary(const void *data, struct tap_buffer *line)
{
	const struct communicators *communicators = data;
	uint64_t collectives = 0;
	size_t i;

	if (!communicators->rows.count) {
		tap_buffer_add_string(line, "none was made");
		return;
	}
	for (i = 0; i < communicators->rows.count; i++)
		collectives +=
			((const struct row *) communicators->rows.all[i])->collectives;
	tap_buffer_add_unsigned(line, communicators->rows.count);
	tap_buffer_add_string(line, ", with ");
	tap_audit_add_count(line, collectives, "collective");
}

static void free_all(void *data)
{
	struct communicators *communicators = data;
	size_t i;

	for (i = 0; i < communicators->rows.count; i++)
		tap_audit_free_processes(
			&((struct row *) communicators->rows.all[i])->processes);
	tap_rows_free(&communicators->rows);
	tap_rows_free(&communicators->seen);
}

const struct tap_audit_subject tap_audit_communicators = {
	.key = "communicators",
	.title = "communicators",
	.size = sizeof(struct communicators),
	.table = {.columns = columns,
		  .rows = offsetof(struct communicators, rows),
		  .key = "communicators"},
	.takes = {.span_ended = take_span},
	.conclude = conclude,
	.summary = summary,
	.free = free_all,
};
