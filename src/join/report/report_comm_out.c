/* SPDX-License-Identifier: MIT */
/* The communicators in the report, as text and as JSON. */
#include "join/report/report_comm.h"

#include "join/report/columns.h"
#include "join/views/view.h"

#include <stdlib.h>

static int compare_members(const void *left, const void *right)
{
	const struct tap_member *a = *(const struct tap_member *const *) left;
	const struct tap_member *b = *(const struct tap_member *const *) right;
	int order = tap_rows_compare((uint64_t) a->rank, (uint64_t) b->rank);

	return order ? order : tap_rows_compare(a->number, b->number);
}

/* The members in order of their ranks, or NULL when memory is short. */
static const struct tap_member **sort_members(const struct tap_comm *comm, size_t *count)
{
	const struct tap_member *member, **members;

	*count = 0;
	for (member = comm->members; member; member = member->next)
		++*count;
	members = malloc(*count * sizeof(*members));
	if (!members)
		return NULL;
	*count = 0;
	for (member = comm->members; member; member = member->next)
		members[(*count)++] = member;
	qsort(members, *count, sizeof(*members), compare_members);
	return members;
}

/* Whether the report shows the communicator. */
static bool is_shown(const struct tap_comm *comm)
{
	return !comm->united && comm->members;
}

/* The member with the best description of the communicator, or the first. */
static const struct tap_member *describer(const struct tap_member *const *members,
					  size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (members[i]->about.count)
			return members[i];
	return members[0];
}

static const char *label(const struct tap_member *member, const char *name)
{
	const struct tap_field *field = tap_fields_find(&member->about, name);

	return field ? field->label : NULL;
}

/* The name of the first error that was reported after the calls, or NULL. */
static const char *async_error(const struct tap_member *member)
{
	const struct tap_field *field = tap_fields_find(&member->about, "async_error");

	return tap_span_is_failure(field) ? field->label : NULL;
}

static const char *comm_name(const struct tap_member *member)
{
	const char *name = tap_fields_get_string(&member->about, "config_commName");

	return name && *name ? name : NULL;
}

/* The communicator that the member's was made from, or NULL. */
static const struct tap_comm *find_parent(const struct tap_comms *comms,
					  const struct tap_member *member)
{
	const struct tap_member *parent;
	uint64_t comm_id;

	if (tap_fields_get_unsigned(&member->about, "parent_comm_id", &comm_id) ||
	    !comm_id)
		return NULL;
	parent = tap_table_find(&comms->by_id, member->process->number, comm_id);
	return parent ? tap_member_comm(parent) : NULL;
}

/* The communicator's sum at this index, or NULL behind its last one. */
static const struct tap_comm_sum *sum_at(const struct tap_report_comms *report, size_t at,
					 const struct tap_comm *comm)
{
	const struct tap_comm_sum *sum;

	if (at == report->sums.count)
		return NULL;
	sum = report->sums.all[at];
	return sum->comm == comm ? sum : NULL;
}

/* Whether `one` is one rank's part of a sum of all ranks. */
static bool is_rank_of(const struct tap_comm_sum *one, const struct tap_comm_sum *sum)
{
	return one->member && one->operation == sum->operation;
}

/* ---- Columns of the calls ---- */

static void add_name(struct tap_buffer *line, const void *row)
{
	const struct tap_comm_sum *sum = row;

	if (sum->member) {
		tap_buffer_add_string(line, "    ");
		tap_ranks_add_one(line, sum->member->rank);
	} else {
		tap_buffer_add_string(line, "  ");
		tap_buffer_add_visible(line, sum->operation->name);
	}
}

static struct tap_value bytes(const struct tap_column *column, const void *row)
{
	const struct tap_comm_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = !sum->is_operation, .number = sum->bytes};
}

static struct tap_value rank(const struct tap_column *column, const void *row)
{
	const struct tap_comm_sum *sum = row;

	(void) column;
	return tap_value_not_negative(sum->member->rank);
}

static struct tap_value process(const struct tap_column *column, const void *row)
{
	const struct tap_comm_sum *sum = row;

	(void) column;
	return (struct tap_value){.number = sum->member->process->number};
}

static struct tap_value comm_id(const struct tap_column *column, const void *row)
{
	const struct tap_comm_sum *sum = row;

	(void) column;
	return (struct tap_value){.number = sum->member->comm_id};
}

#define COLUMN(key, header, width, unit, member) \
	TAP_COLUMN(key, header, width, unit, struct tap_comm_sum, member)

/* The columns for one rank and for all. */
static const struct tap_column sum_columns[] = {
	TAP_COLUMN_TEXT(NULL, "  call", 40, add_name),
	COLUMN("calls", "calls", 10, TAP_UNIT_COUNT, calls),
	COLUMN("failures", "failed", 9, TAP_UNIT_COUNT, failures),
	TAP_COLUMN_VALUE(NULL, "bytes", 16, TAP_UNIT_BYTES, bytes),
	COLUMN("bytes", NULL, 0, TAP_UNIT_BYTES, bytes),
	COLUMN("bytes_unknown", NULL, 0, TAP_UNIT_COUNT, unsized),
	TAP_COLUMN_PART(NULL, tap_times_columns, struct tap_comm_sum, times),
	TAP_COLUMNS_END,
};

static const struct tap_column all_columns[] = {
	TAP_COLUMN_LAYER("layer", struct tap_comm_sum, operation),
	TAP_COLUMN_CALL("name", struct tap_comm_sum, operation),
	TAP_COLUMNS_OF(sum_columns),
	COLUMN("linked", "linked", 10, TAP_UNIT_COUNT, linked),
	COLUMN("missing_ranks", "missing", 9, TAP_UNIT_COUNT, incomplete),
	TAP_COLUMNS_END,
};

static const struct tap_column rank_columns[] = {
	TAP_COLUMN_VALUE("rank", NULL, 0, TAP_UNIT_COUNT, rank),
	TAP_COLUMN_VALUE("process", NULL, 0, TAP_UNIT_COUNT, process),
	TAP_COLUMN_VALUE("comm_id", NULL, 0, TAP_UNIT_COUNT, comm_id),
	TAP_COLUMNS_OF(sum_columns),
	TAP_COLUMNS_END,
};

/* ---- Text ---- */

static void add_detail(struct tap_buffer *line, const char *what, uint64_t count)
{
	if (!count)
		return;
	tap_buffer_add_string(line, ", ");
	tap_buffer_add_unsigned(line, count);
	tap_buffer_add_char(line, ' ');
	tap_buffer_add_string(line, what);
}

static void add_comm_text(struct tap_buffer *line, const struct tap_comms *comms,
			  const struct tap_comm *comm, const struct tap_member *member)
{
	const struct tap_comm *parent = find_parent(comms, member);
	const char *origin = label(member, "origin");

	tap_buffer_add_string(line, "communicator ");
	if (comm->key)
		tap_buffer_add_hex(line, comm->key);
	else
		tap_buffer_add_char(line, '?');
	if (comm_name(member)) {
		tap_buffer_add_string(line, " \"");
		tap_buffer_add_visible(line, comm_name(member));
		tap_buffer_add_char(line, '"');
	}
	if (comm->nranks >= 0)
		add_detail(line, "ranks", (uint64_t) comm->nranks);
	if (origin) {
		tap_buffer_add_string(line, ", made by ");
		tap_buffer_add_visible(line, origin);
	}
	if (parent) {
		tap_buffer_add_string(line, " of ");
		tap_buffer_add_hex(line, parent->key);
	}
	add_detail(line, "operations linked", comm->linked);
	add_detail(line, "missing ranks", comm->incomplete);
	add_detail(line, "called by one rank only", comm->unmatched);
	add_detail(line, "ambiguous", comm->ambiguous);
	add_detail(line, "mismatched", comm->mismatched);
	tap_buffer_add_char(line, '\n');
}

static void add_member_text(struct tap_buffer *line, const struct tap_member *member)
{
	const char *phase = label(member, "phase"), *error = async_error(member);

	tap_buffer_add_string(line, "  ");
	tap_ranks_add_one(line, member->rank);
	tap_buffer_add_string(line, ": ");
	tap_view_add_pid(line, member->process);
	if (member->device >= 0) {
		tap_buffer_add_string(line, ", device ");
		tap_buffer_add_signed(line, member->device);
	}
	if (phase) {
		tap_buffer_add_string(line, ", ");
		tap_buffer_add_visible(line, phase);
	}
	if (error) {
		tap_buffer_add_string(line, ", error ");
		tap_buffer_add_visible(line, error);
	}
	add_detail(line, "operations missing", member->missing);
	add_detail(line, "not recorded", member->not_recorded);
	tap_buffer_add_char(line, '\n');
}

static void add_range(struct tap_buffer *line, int64_t first, int64_t last, bool is_next)
{
	tap_buffer_add_string(line, is_next ? ", " : " ");
	tap_buffer_add_signed(line, first);
	if (last > first) {
		tap_buffer_add_char(line, '-');
		tap_buffer_add_signed(line, last);
	}
}

static void add_absent_text(struct tap_buffer *line, const struct tap_comm *comm,
			    const struct tap_member *const *members, size_t count)
{
	int64_t next = 0;
	bool is_next = false;
	size_t i, start = line->used;

	tap_buffer_add_string(line, "  not in the trace: rank");
	for (i = 0; i <= count; i++) {
		int64_t rank = i < count ? members[i]->rank : comm->nranks;

		/* A member of unknown rank may be any of the missing ones. */
		if (rank < 0 || (i < count && rank >= comm->nranks)) {
			is_next = false;
			break;
		}
		if (rank > next) {
			add_range(line, next, rank - 1, is_next);
			is_next = true;
		}
		if (rank >= next)
			next = rank + 1;
	}
	if (is_next)
		tap_buffer_add_char(line, '\n');
	else
		line->used = start;
}

/*
 * The index of the oldest listed operation; the caller counts it up to
 * missing_ranks->count.
 */
static uint64_t first_incomplete(const struct tap_missing_ranks *missing_ranks)
{
	return missing_ranks->count > TAP_INCOMPLETE_MAX
		       ? missing_ranks->count - TAP_INCOMPLETE_MAX
		       : 0;
}

static void add_incomplete_text(struct tap_buffer *line,
				const struct tap_incomplete_operation *operation)
{
	tap_buffer_add_string(line, "  ");
	if (operation->operation)
		tap_buffer_add_visible(line, operation->operation->name);
	else
		tap_buffer_add_string(line, "different calls");
	tap_buffer_add_string(line, " #");
	tap_buffer_add_unsigned(line, operation->op_number);
	tap_buffer_add_string(line,
			      *operation->ranks < 0 ? " missing ranks" : " missing rank");
	tap_ranks_add_text(line, operation->ranks, operation->ranks_missing);
	tap_buffer_add_char(line, '\n');
}

static void add_sum_text(struct tap_buffer *line, const struct tap_comm_sum *sum)
{
	const bool is_linked = !sum->member && sum->is_operation;

	tap_columns_add_cells(line, is_linked ? all_columns : sum_columns, sum);
	if (sum->unsized) {
		tap_buffer_add_string(line, "  bytes unknown of ");
		tap_buffer_add_unsigned(line, sum->unsized);
	}
	tap_buffer_add_char(line, '\n');
}

static void add_sums_text(const struct tap_report_comms *report, size_t at,
			  const struct tap_comm *comm, struct tap_buffer *line)
{
	const struct tap_comm_sum *sum, *one;
	size_t i;

	if (!sum_at(report, at, comm))
		return;
	tap_columns_add_headers(line, all_columns);
	tap_buffer_add_char(line, '\n');
	for (; (sum = sum_at(report, at, comm)); at++) {
		if (sum->member || sum->is_moved)
			continue;
		add_sum_text(line, sum);
		if (!sum->is_operation || !comm->members->next)
			continue;
		for (i = at + 1; (one = sum_at(report, i, comm)); i++)
			if (is_rank_of(one, sum))
				add_sum_text(line, one);
	}
}

void tap_report_comms_text(const struct tap_report_comms *report,
			   const struct tap_comms *comms, struct tap_buffer *line)
{
	size_t i, j, count;
	uint64_t number;

	for (i = 0; i < comms->count; i++) {
		const struct tap_comm *comm = comms->all[i];
		const struct tap_missing_ranks *missing_ranks =
			tap_rows_find(&report->missing_ranks, comm->number, 0);
		const struct tap_member **members;

		if (!is_shown(comm))
			continue;
		members = sort_members(comm, &count);
		if (!members) {
			line->is_short = true;
			return;
		}
		add_comm_text(line, comms, comm, describer(members, count));
		for (j = 0; j < count; j++)
			add_member_text(line, members[j]);
		add_absent_text(line, comm, members, count);
		for (number = missing_ranks ? first_incomplete(missing_ranks) : 0;
		     missing_ranks && number < missing_ranks->count; number++)
			add_incomplete_text(
				line,
				&missing_ranks->operations[number % TAP_INCOMPLETE_MAX]);
		add_sums_text(report, tap_report_comms_first(report, comm), comm, line);
		tap_buffer_add_char(line, '\n');
		free(members);
	}
}

/* ---- JSON ---- */

static void add_label(struct tap_json *json, const struct tap_member *member,
		      const char *name)
{
	tap_json_string(json, name, label(member, name));
}

static void add_members_json(struct tap_json *json,
			     const struct tap_member *const *members, size_t count)
{
	uint64_t reported;
	size_t i;

	tap_json_open(json, "ranks", '[');
	for (i = 0; i < count; i++) {
		const struct tap_member *member = members[i];

		tap_json_open(json, NULL, '{');
		tap_json_not_negative(json, "rank", member->rank);
		tap_json_unsigned(json, "process", member->process->number);
		tap_json_unsigned(json, "comm_id", member->comm_id);
		tap_json_not_negative(json, "device", member->device);
		add_label(json, member, "phase");
		add_label(json, member, "async_error");
		if (!tap_fields_get_unsigned(&member->about, "collectives", &reported))
			tap_json_unsigned(json, "collectives", reported);
		else
			tap_json_null(json, "collectives");
		tap_json_unsigned(json, "missing_operations", member->missing);
		tap_json_unsigned(json, "not_recorded_operations", member->not_recorded);
		tap_json_close(json);
	}
	tap_json_close(json);
}

static void add_incomplete_json(struct tap_json *json,
				const struct tap_missing_ranks *missing_ranks)
{
	uint64_t number = missing_ranks ? first_incomplete(missing_ranks) : 0;

	tap_json_open(json, "incomplete_operations", '[');
	for (; missing_ranks && number < missing_ranks->count; number++) {
		const struct tap_incomplete_operation *operation =
			&missing_ranks->operations[number % TAP_INCOMPLETE_MAX];

		tap_json_open(json, NULL, '{');
		tap_json_string(json, "name",
				operation->operation ? operation->operation->name : NULL);
		tap_json_unsigned(json, "op_number", operation->op_number);
		tap_operation_add_key(&json->text, operation->called, operation->rank,
				      operation->peer, operation->op_number);
		if (json->text.used)
			tap_json_text(json, "op_key");
		else
			tap_json_null(json, "op_key");
		tap_json_unsigned(json, "ranks_present", operation->ranks_present);
		tap_json_unsigned(json, "ranks_missing", operation->ranks_missing);
		tap_ranks_add_json(json, "ranks", operation->ranks);
		tap_json_close(json);
	}
	tap_json_close(json);
}

/* Each rank's part of a sum; these follow the sums of all. */
static void add_ranks_json(struct tap_json *json, const struct tap_report_comms *report,
			   size_t at, const struct tap_comm_sum *sum)
{
	const struct tap_comm_sum *one;

	tap_json_open(json, "ranks", '[');
	for (; (one = sum_at(report, at, sum->comm)); at++) {
		if (!is_rank_of(one, sum))
			continue;
		tap_json_open(json, NULL, '{');
		tap_columns_add_members(json, rank_columns, one);
		tap_json_close(json);
	}
	tap_json_close(json);
}

static void add_sums_json(struct tap_json *json, const struct tap_report_comms *report,
			  const struct tap_comm *comm)
{
	const struct tap_comm_sum *sum;
	size_t at;

	tap_json_open(json, "calls", '[');
	for (at = tap_report_comms_first(report, comm); (sum = sum_at(report, at, comm));
	     at++) {
		if (sum->member || sum->is_moved)
			continue;
		tap_json_open(json, NULL, '{');
		tap_columns_add_members(json, all_columns, sum);
		add_ranks_json(json, report, at + 1, sum);
		tap_json_close(json);
	}
	tap_json_close(json);
}

static void add_comm_json(const struct tap_report_comms *report,
			  const struct tap_comms *comms, const struct tap_comm *comm,
			  struct tap_json *json)
{
	const struct tap_member *member, **members;
	const struct tap_comm *parent;
	size_t count;

	members = sort_members(comm, &count);
	if (!members) {
		json->line.is_short = true;
		return;
	}
	member = describer(members, count);
	parent = find_parent(comms, member);
	tap_json_open(json, NULL, '{');
	tap_json_key(json, "comm_key", comm->key);
	tap_json_string(json, "name", comm_name(member));
	tap_json_not_negative(json, "nranks", comm->nranks);
	add_label(json, member, "origin");
	tap_json_key(json, "parent_comm_key", parent ? parent->key : 0);
	add_members_json(json, members, count);
	tap_json_unsigned(json, "linked", comm->linked);
	tap_json_unsigned(json, "missing_ranks", comm->incomplete);
	tap_json_unsigned(json, "unmatched", comm->unmatched);
	tap_json_unsigned(json, "ambiguous", comm->ambiguous);
	tap_json_unsigned(json, "mismatched", comm->mismatched);
	add_incomplete_json(json, tap_rows_find(&report->missing_ranks, comm->number, 0));
	add_sums_json(json, report, comm);
	tap_json_close(json);
	free(members);
}

void tap_report_comms_json(const struct tap_report_comms *report,
			   const struct tap_comms *comms, struct tap_json *json)
{
	size_t i;

	tap_json_open(json, "communicators", '[');
	for (i = 0; i < comms->count; i++)
		if (is_shown(comms->all[i]))
			add_comm_json(report, comms, comms->all[i], json);
	tap_json_close(json);
}
