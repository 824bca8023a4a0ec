/* SPDX-License-Identifier: MIT */
/* Rows from the breakdown, from the communicators' members and from the findings. */
#include "join/report/overview.h"

#include "join/report/columns.h"
#include "join/views/filters.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct open_calls {
	uint64_t count;
};

int tap_overview_end_state(struct tap_overview *overview,
			   const struct tap_end_state *end_state)
{
	struct open_calls *calls;

	if (!end_state->count)
		return 0;
	calls = tap_rows_get(&overview->open_calls, end_state->process->number, 0,
			     sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	calls->count += end_state->count;
	overview->never_returned += end_state->count;
	if (!overview->open.name)
		overview->open = end_state->calls[0];
	return 0;
}

/* ---- The ranks ---- */

static struct tap_overview_rank *find_rank(struct tap_overview *overview,
					   const struct tap_process *process,
					   int64_t device)
{
	return tap_rows_find(&overview->ranks, process->number, (uint64_t) device);
}

/* Adds a row that knows only whose it is. */
static struct tap_overview_rank *
add_rank(struct tap_overview *overview, const struct tap_process *process, int64_t device)
{
	struct tap_overview_rank *row = tap_rows_add(&overview->ranks, process->number,
						     (uint64_t) device, sizeof(*row));

	if (row)
		row->sums = (struct tap_breakdown_rank){.process = process,
							.rank = tap_process_rank(process),
							.device = device,
							.kernels_ns = -1};
	return row;
}

static int take_breakdown(struct tap_overview *overview,
			  const struct tap_breakdown *breakdown)
{
	const struct tap_breakdown_operation *operations;
	const struct tap_breakdown_rank *ranks;
	size_t i, count = tap_breakdown_operations(breakdown, &operations);
	struct tap_overview_operation *operation;
	struct tap_overview_rank *row;

	for (i = 0; i < count; i++) {
		operation = tap_rows_add(&overview->operations, i, 0, sizeof(*operation));
		if (!operation)
			return -ENOMEM;
		operation->sums = operations[i];
	}
	count = tap_breakdown_ranks(breakdown, &ranks);
	for (i = 0; i < count; i++) {
		row = add_rank(overview, ranks[i].process, ranks[i].device);
		if (!row)
			return -ENOMEM;
		row->sums = ranks[i];
	}
	return 0;
}

/* A rank of a communicator that came to no collective. */
static int take_member(struct tap_overview *overview, const struct tap_member *member)
{
	struct tap_overview_rank *row;

	if (find_rank(overview, member->process, member->device) ||
	    find_rank(overview, member->process, -1))
		return 0;
	row = add_rank(overview, member->process, member->device);
	if (row && row->sums.rank < 0)
		row->sums.rank = member->rank;
	return row ? 0 : -ENOMEM;
}

static int take_comms(struct tap_overview *overview, const struct tap_context *context)
{
	size_t i;

	for (i = 0; i < context->comms.count; i++) {
		const struct tap_comm *comm = context->comms.all[i];

		if (comm->united || !comm->members)
			continue;
		overview->communicators++;
		if (comm->nranks > (int64_t) overview->ranks_all)
			overview->ranks_all = (uint64_t) comm->nranks;
	}
	for (i = 0; i < context->comms.member_count; i++)
		if (take_member(overview, context->comms.members[i]))
			return -ENOMEM;
	return 0;
}

/* Processes stand for ranks where no communicator tells. */
static int take_processes(struct tap_overview *overview,
			  const struct tap_context *context,
			  const struct tap_report_calls *calls)
{
	struct tap_calls_total total;
	size_t i;

	for (i = 0; i < context->processes.count; i++) {
		const struct tap_process *process = context->processes.all[i];

		if (process->is_foreign || !process->is_reported)
			continue;
		overview->processes++;
		if (overview->has_ranks)
			continue;
		total = tap_report_calls_total(calls, process);
		if ((total.calls || total.requests ||
		     tap_rows_find(&overview->open_calls, process->number, 0)) &&
		    !add_rank(overview, process, -1))
			return -ENOMEM;
	}
	return 0;
}

/* Whether the row is the rank of the communicator, or of the job where comm is NULL. */
static bool is_rank(const struct tap_overview_rank *row, const struct tap_comm *comm,
		    int64_t rank)
{
	const struct tap_member *member;

	if (!comm)
		return row->sums.rank == rank;
	for (member = comm->members; member; member = member->next)
		if (member->rank == rank)
			return member->process == row->sums.process &&
			       (row->sums.device < 0 || member->device < 0 ||
				member->device == row->sums.device);
	/* A rank that did not come to this communicator. */
	return row->sums.rank == rank && rank < comm->nranks;
}

static void mark(struct tap_overview *overview, const struct tap_finding *finding)
{
	size_t i, j;

	if (finding->severity == TAP_SEVERITY_NOTE)
		return;
	for (i = 0; i < finding->ranks.count; i++) {
		for (j = 0; j < overview->ranks.count; j++) {
			struct tap_overview_rank *row = overview->ranks.all[j];

			if (!row->finding &&
			    is_rank(row, finding->comm, finding->ranks.items[i]))
				row->finding = tap_finding_kind_name(finding->kind);
		}
	}
}

static int compare_ranks(const void *left, const void *right)
{
	const struct tap_overview_rank *a =
		*(const struct tap_overview_rank *const *) left;
	const struct tap_overview_rank *b =
		*(const struct tap_overview_rank *const *) right;
	/* An unknown rank, -1, is the largest unsigned one. */
	int order = tap_rows_compare((uint64_t) a->sums.rank, (uint64_t) b->sums.rank);

	if (!order)
		order = tap_rows_compare(a->sums.process->number,
					 b->sums.process->number);
	return order ? order
		     : tap_rows_compare((uint64_t) a->sums.device,
					(uint64_t) b->sums.device);
}

/* What stands out first: at fault, failed, hung, most often last, then the rank. */
static int compare_weight(const void *left, const void *right)
{
	const struct tap_overview_rank *a =
		*(const struct tap_overview_rank *const *) left;
	const struct tap_overview_rank *b =
		*(const struct tap_overview_rank *const *) right;
	int order = tap_rows_compare(b->finding != NULL, a->finding != NULL);

	if (!order)
		order = tap_rows_compare(b->total.failures + b->total.work_errors,
					 a->total.failures + a->total.work_errors);
	if (!order)
		order = tap_rows_compare(b->open, a->open);
	if (!order)
		order = tap_rows_compare(b->sums.times_last, a->sums.times_last);
	return order ? order : compare_ranks(left, right);
}

static bool is_operation_wanted(const void *row, const void *filters)
{
	const struct tap_breakdown_operation *operation = row;

	return tap_filters_pass_communicator(filters, operation->comm) &&
	       tap_filters_pass_name(filters, operation->name);
}

static bool is_rank_wanted(const void *row, const void *filters)
{
	const struct tap_overview_rank *rank = row;

	return tap_filters_pass_rank(filters, rank->sums.rank) &&
	       tap_filters_pass_host(filters, rank->sums.process);
}

/*
 * Leaves out rows that nobody wants to see.  What is in the others is of the whole run, as
 * the findings are.
 */
static void choose_rows(struct tap_overview *overview, const struct tap_filters *filters)
{
	if (!filters)
		return;
	tap_rows_keep(&overview->operations, is_operation_wanted, filters);
	tap_rows_keep(&overview->ranks, is_rank_wanted, filters);
}

int tap_overview_finish(struct tap_overview *overview, const struct tap_context *context,
			const struct tap_findings *findings,
			const struct tap_report_calls *calls)
{
	const struct open_calls *open;
	size_t i;

	if (take_breakdown(overview, tap_findings_breakdown(findings)) ||
	    take_comms(overview, context))
		return -ENOMEM;
	overview->has_ranks = overview->ranks.count > 0;
	if (take_processes(overview, context, calls))
		return -ENOMEM;
	for (i = 0; i < overview->operations.count; i++)
		((struct tap_overview_operation *) overview->operations.all[i])
			->has_others = overview->communicators > 1;
	overview->hosts = tap_view_host_count(context);
	overview->duration_ns = context->last_ns - context->first_ns;
	overview->total = tap_report_calls_total(calls, NULL);
	for (i = 0; i < overview->ranks.count; i++) {
		struct tap_overview_rank *row = overview->ranks.all[i];

		row->total = tap_report_calls_total(calls, row->sums.process);
		open = tap_rows_find(&overview->open_calls, row->sums.process->number, 0);
		row->open = open ? open->count : 0;
	}
	for (i = 0; i < tap_findings_count(findings); i++)
		mark(overview, tap_findings_at(findings, i));
	tap_rows_sort(&overview->ranks, compare_ranks);
	choose_rows(overview, tap_findings_filters(findings));
	return 0;
}

/* ---- Lines ---- */

static void add_counted(struct tap_buffer *line, uint64_t count, const char *what)
{
	tap_buffer_add_unsigned(line, count);
	tap_buffer_add_char(line, ' ');
	tap_buffer_add_string(line, what);
	if (count != 1)
		tap_buffer_add_string(line, strcmp(what, "process") ? "s" : "es");
}

void tap_overview_add_headline(struct tap_buffer *line,
			       const struct tap_overview *overview)
{
	if (!overview->has_ranks) {
		add_counted(line, overview->processes, "process");
	} else if (overview->ranks_all > overview->ranks.count) {
		tap_buffer_add_unsigned(line, overview->ranks.count);
		tap_buffer_add_string(line, " of ");
		add_counted(line, overview->ranks_all, "rank");
	} else {
		add_counted(line, overview->ranks.count, "rank");
	}
	tap_buffer_add_string(line, ", ");
	add_counted(line, overview->hosts, "host");
	tap_buffer_add_string(line, ", ");
	if (overview->communicators)
		add_counted(line, overview->communicators, "communicator");
	else
		tap_buffer_add_string(line, "no communicator");
	tap_buffer_add_string(line, ", ");
	tap_columns_add_short(line, (uint64_t) overview->duration_ns);
	tap_buffer_add_char(line, '.');
}

/* "3, ncclAllReduce: ncclInternalError" */
static void add_failure(struct tap_buffer *line, uint64_t count,
			const struct tap_name *name, const char *failure)
{
	if (!count) {
		tap_buffer_add_string(line, "none");
		return;
	}
	tap_buffer_add_unsigned(line, count);
	if (!name)
		return;
	tap_buffer_add_string(line, " (");
	tap_buffer_add_visible(line, name->name);
	if (failure) {
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_visible(line, failure);
	}
	tap_buffer_add_char(line, ')');
}

void tap_overview_add_failures(struct tap_buffer *line,
			       const struct tap_overview *overview)
{
	const struct tap_open_call *open = &overview->open;

	tap_buffer_add_string(line, "failures: ");
	add_failure(line, overview->total.failures, overview->total.failed,
		    overview->total.failure);
	tap_buffer_add_string(line, "     hung: ");
	if (overview->never_returned) {
		add_counted(line, overview->never_returned, "call");
		tap_buffer_add_string(line, " (");
		tap_view_add_process(line, open->process);
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_visible(line, open->name->name);
		tap_buffer_add_char(line, ')');
	} else {
		tap_buffer_add_string(line, "none");
	}
	tap_buffer_add_string(line, "     network errors: ");
	add_failure(line, overview->total.work_errors, overview->total.failed_work,
		    overview->total.work_error);
	tap_buffer_add_char(line, '\n');
}

/* ---- Collectives ---- */

static const struct tap_breakdown_operation *operation_of(const void *row)
{
	return &((const struct tap_overview_operation *) row)->sums;
}

/* "256 KiB", "1.5 MiB": exact, or with one decimal. */
static void add_bytes(struct tap_buffer *line, uint64_t bytes)
{
	static const char *const names[] = {" B", " KiB", " MiB", " GiB", " TiB"};
	unsigned int i = 0, shift;

	while (i < 4 && bytes >> (10 * (i + 1)))
		i++;
	shift = 10 * i;
	tap_buffer_add_unsigned(line, bytes >> shift);
	if (shift && bytes >> shift < 10 && bytes & ((UINT64_C(1) << shift) - 1)) {
		tap_buffer_add_char(line, '.');
		tap_buffer_add_unsigned(line,
					((bytes >> (shift - 10)) % 1024) * 10 / 1024);
	}
	tap_buffer_add_string(line, names[i]);
}

static void add_name(struct tap_buffer *line, const void *row)
{
	const struct tap_overview_operation *operation = row;

	tap_buffer_add_string(line, "  ");
	tap_buffer_add_visible(line, operation->sums.name->name);
	if (operation->has_others) {
		tap_buffer_add_char(line, ' ');
		tap_view_add_key(line, operation->sums.comm->key);
	}
}

void tap_overview_add_size(struct tap_buffer *line, const void *row)
{
	const struct tap_breakdown_operation *operation = operation_of(row);

	if (operation->min_bytes < 0) {
		tap_buffer_add_char(line, '-');
		return;
	}
	add_bytes(line, (uint64_t) operation->min_bytes);
	if (operation->max_bytes <= operation->min_bytes)
		return;
	tap_buffer_add_string(line, " to ");
	add_bytes(line, (uint64_t) operation->max_bytes);
}

static struct tap_value signed_value(const struct tap_column *column, const void *row)
{
	const int64_t *number = (const void *) ((const char *) row + column->at);

	return tap_value_not_negative(*number);
}

static struct tap_value comm_key(const struct tap_column *column, const void *row)
{
	const struct tap_breakdown_operation *operation = operation_of(row);

	(void) column;
	return (struct tap_value){.is_unknown = !operation->comm->key,
				  .number = operation->comm->key};
}

static void add_waiting_known(struct tap_buffer *line, const void *row)
{
	const struct tap_breakdown_operation *operation = operation_of(row);

	if (operation->waiting_ns >= 0)
		tap_buffer_add_string(line, tap_known_name(operation->waiting_known));
}

static void add_algorithm(struct tap_buffer *line, const void *row)
{
	const struct tap_breakdown_operation *operation = operation_of(row);

	tap_buffer_add_visible(line, operation->algorithm);
}

static void add_protocol(struct tap_buffer *line, const void *row)
{
	const struct tap_breakdown_operation *operation = operation_of(row);

	tap_buffer_add_visible(line, operation->protocol);
}

#define OPERATION struct tap_overview_operation
#define SIGNED(key_, header_, width_, unit_, row, member) \
	{ \
		.key = (key_), .header = (header_), .width = (width_), .unit = (unit_), \
		.value = signed_value, .at = TAP_MEMBER(row, member, int64_t) \
	}

static const struct tap_column operation_columns[] = {
	TAP_COLUMN_TEXT(NULL, "  collective", 32, add_name),
	TAP_COLUMN_TEXT(NULL, "size", 18, tap_overview_add_size),
	TAP_COLUMN_VALUE("comm_key", NULL, 0, TAP_UNIT_HEX, comm_key),
	TAP_COLUMN_CALL("name", OPERATION, sums.name),
	SIGNED("min_bytes", NULL, 0, TAP_UNIT_BYTES, OPERATION, sums.min_bytes),
	SIGNED("max_bytes", NULL, 0, TAP_UNIT_BYTES, OPERATION, sums.max_bytes),
	TAP_COLUMN("count", "count", 7, TAP_UNIT_COUNT, OPERATION, sums.count),
	TAP_COLUMN("timed", NULL, 0, TAP_UNIT_COUNT, OPERATION, sums.timed),
	SIGNED("median_ns", "median", 9, TAP_UNIT_SHORT, OPERATION, sums.median_ns),
	SIGNED("deviation_ns", NULL, 0, TAP_UNIT_DURATION, OPERATION, sums.deviation_ns),
	SIGNED("total_ns", NULL, 0, TAP_UNIT_DURATION, OPERATION, sums.total_ns),
	SIGNED("waiting_ns", NULL, 0, TAP_UNIT_DURATION, OPERATION, sums.waiting_ns),
	TAP_COLUMN_TEXT("waiting_known", NULL, 0, add_waiting_known),
	SIGNED("waiting_percent", "waiting", 9, TAP_UNIT_PERCENT, OPERATION,
	       sums.waiting_percent),
	SIGNED("transfer_ns", "transfer", 10, TAP_UNIT_SHORT, OPERATION,
	       sums.transfer_ns),
	SIGNED("call_ns", NULL, 0, TAP_UNIT_DURATION, OPERATION, sums.call_ns),
	SIGNED("launch_ns", NULL, 0, TAP_UNIT_DURATION, OPERATION, sums.launch_ns),
	SIGNED("queue_ns", NULL, 0, TAP_UNIT_DURATION, OPERATION, sums.queue_ns),
	SIGNED("algorithm_bandwidth", NULL, 0, TAP_UNIT_RATE, OPERATION,
	       sums.algorithm_bandwidth),
	SIGNED("bus_bandwidth", "busbw", 11, TAP_UNIT_SPEED, OPERATION,
	       sums.bus_bandwidth),
	TAP_COLUMN_TEXT("algorithm", NULL, 0, add_algorithm),
	TAP_COLUMN_TEXT("protocol", NULL, 0, add_protocol),
	TAP_COLUMNS_END,
};

void tap_overview_add_operations(struct tap_buffer *line,
				 const struct tap_overview *overview, size_t lines)
{
	if (overview->operations.count && lines > 1)
		tap_columns_add_top(line, operation_columns, &overview->operations,
				    lines);
}

/* ---- Ranks ---- */

static const struct tap_breakdown_rank *sums_of(const void *row)
{
	return &((const struct tap_overview_rank *) row)->sums;
}

/* "3", or "pid 123" where the rank is not known. */
static void add_rank_text(struct tap_buffer *line, const void *row)
{
	const struct tap_breakdown_rank *sums = sums_of(row);

	tap_buffer_add_string(line, "  ");
	if (sums->rank >= 0) {
		tap_buffer_add_signed(line, sums->rank);
	} else {
		tap_buffer_add_string(line, "pid ");
		tap_buffer_add_signed(line, sums->process->pid);
	}
}

static void add_place(struct tap_buffer *line, const void *row)
{
	const struct tap_breakdown_rank *sums = sums_of(row);

	tap_buffer_add_visible(line, sums->process->host);
	if (sums->device < 0)
		return;
	tap_buffer_add_char(line, '/');
	tap_buffer_add_signed(line, sums->device);
}

static void add_finding(struct tap_buffer *line, const void *row)
{
	const struct tap_overview_rank *rank = row;

	if (!rank->finding)
		return;
	tap_buffer_add_string(line, "<- ");
	tap_buffer_add_string(line, rank->finding);
}

static void add_finding_json(struct tap_buffer *line, const void *row)
{
	const struct tap_overview_rank *rank = row;

	if (rank->finding)
		tap_buffer_add_string(line, rank->finding);
}

static void add_host(struct tap_buffer *line, const void *row)
{
	tap_buffer_add_visible(line, sums_of(row)->process->host);
}

static void add_waited_known(struct tap_buffer *line, const void *row)
{
	const struct tap_breakdown_rank *sums = sums_of(row);

	if (sums->collectives)
		tap_buffer_add_string(line, tap_known_name(sums->waited_known));
}

static struct tap_value pid(const struct tap_column *column, const void *row)
{
	(void) column;
	return tap_value_not_negative(sums_of(row)->process->pid);
}

static struct tap_value times_last(const struct tap_column *column, const void *row)
{
	const struct tap_breakdown_rank *sums = sums_of(row);

	(void) column;
	return (struct tap_value){.is_unknown = !sums->collectives,
				  .number = sums->times_last};
}

static struct tap_value waited(const struct tap_column *column, const void *row)
{
	const struct tap_breakdown_rank *sums = sums_of(row);

	(void) column;
	return tap_value_not_negative(sums->collectives ? sums->waited_ns : -1);
}

#define RANK struct tap_overview_rank
#define COUNT(key, header, width, member) \
	TAP_COLUMN(key, header, width, TAP_UNIT_COUNT, RANK, member)

static const struct tap_column who_columns[] = {
	SIGNED("rank", NULL, 0, TAP_UNIT_COUNT, RANK, sums.rank),
	TAP_COLUMN_PROCESS("process", RANK, sums.process),
	TAP_COLUMN_TEXT("host", NULL, 0, add_host),
	TAP_COLUMN_VALUE("pid", NULL, 0, TAP_UNIT_COUNT, pid),
	SIGNED("device", NULL, 0, TAP_UNIT_COUNT, RANK, sums.device),
	TAP_COLUMNS_END,
};

static const struct tap_column rank_columns[] = {
	TAP_COLUMN_TEXT(NULL, "  rank", 12, add_rank_text),
	TAP_COLUMN_TEXT(NULL, "host/GPU", 20, add_place),
	TAP_COLUMNS_OF(who_columns),
	COUNT("collectives", NULL, 0, sums.collectives),
	TAP_COLUMN_VALUE("times_last", "last in", 9, TAP_UNIT_COUNT, times_last),
	TAP_COLUMN_VALUE(NULL, "waited", 10, TAP_UNIT_SHORT, waited),
	TAP_COLUMN_VALUE("waited_ns", NULL, 0, TAP_UNIT_DURATION, waited),
	TAP_COLUMN_TEXT("waited_known", NULL, 0, add_waited_known),
	SIGNED("kernels_ns", "NCCL kernels", 14, TAP_UNIT_SHORT, RANK, sums.kernels_ns),
	COUNT("calls", NULL, 0, total.calls),
	COUNT("failures", "failed", 8, total.failures),
	COUNT("network_errors", NULL, 0, total.work_errors),
	COUNT("never_returned", "hung", 6, open),
	TAP_COLUMN_TEXT(NULL, "", 0, add_finding),
	TAP_COLUMN_TEXT("finding", NULL, 0, add_finding_json),
	TAP_COLUMNS_END,
};

/* Where there are no ranks; JSON has the same keys. */
static const struct tap_column process_columns[] = {
	TAP_COLUMN_TEXT(NULL, "  process", 12, add_rank_text),
	TAP_COLUMN_TEXT(NULL, "host", 22, add_place),
	COUNT(NULL, "calls", 10, total.calls),
	COUNT(NULL, "failed", 9, total.failures),
	COUNT(NULL, "network errors", 16, total.work_errors),
	COUNT(NULL, "hung", 6, open),
	TAP_COLUMN_TEXT(NULL, "", 0, add_finding),
	TAP_COLUMNS_END,
};

void tap_overview_add_ranks(struct tap_buffer *line, const struct tap_overview *overview,
			    size_t lines)
{
	const struct tap_rows *ranks = &overview->ranks;
	struct tap_rows sorted = {.count = ranks->count};

	if (!ranks->count || lines < 2)
		return;
	sorted.all = malloc(ranks->count * sizeof(*ranks->all));
	if (!sorted.all) {
		line->is_short = true;
		return;
	}
	memcpy(sorted.all, ranks->all, ranks->count * sizeof(*ranks->all));
	/* Rows are in order of their ranks unless some have no room. */
	if (ranks->count + 1 > lines)
		tap_rows_sort(&sorted, compare_weight);
	tap_columns_add_top(line, overview->has_ranks ? rank_columns : process_columns,
			    &sorted, lines);
	free(sorted.all);
}

/* ---- JSON ---- */

/* Whether the trace lacks nothing but what a flight recorder overwrites. */
static bool is_complete(const struct tap_loss *loss)
{
	struct tap_buffer lost = {0};
	bool is_none;

	tap_buffer_add_char(&lost, ':');
	tap_view_add_lost(&lost, loss);
	is_none = lost.used == 1;
	tap_buffer_free(&lost);
	return is_none;
}

void tap_overview_add_summary_json(struct tap_json *json,
				   const struct tap_overview *overview,
				   const struct tap_context *context)
{
	tap_json_open(json, "summary", '{');
	tap_json_unsigned(json, "ranks", overview->has_ranks ? overview->ranks.count : 0);
	tap_json_unsigned(json, "ranks_of_job", overview->ranks_all);
	tap_json_unsigned(json, "processes", overview->processes);
	tap_json_unsigned(json, "hosts", overview->hosts);
	tap_json_unsigned(json, "communicators", overview->communicators);
	tap_json_signed(json, "begin_ns", context->first_ns);
	tap_json_signed(json, "duration_ns", overview->duration_ns);
	tap_json_bool(json, "complete", is_complete(&context->loss));
	tap_json_unsigned(json, "failures", overview->total.failures);
	tap_json_unsigned(json, "never_returned", overview->never_returned);
	tap_json_unsigned(json, "network_errors", overview->total.work_errors);
	tap_json_close(json);
}

void tap_overview_add_tables_json(struct tap_json *json,
				  const struct tap_overview *overview)
{
	tap_columns_add_json(json, "collectives", operation_columns,
			     &overview->operations);
	tap_columns_add_json(json, "ranks", rank_columns, &overview->ranks);
}

void tap_overview_free(struct tap_overview *overview)
{
	tap_rows_free(&overview->operations);
	tap_rows_free(&overview->ranks);
	tap_rows_free(&overview->open_calls);
}
