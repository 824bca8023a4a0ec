/* SPDX-License-Identifier: MIT */
/*
 * A row for each function of each process, and a row for the function in all processes.
 */
#include "join/report/report_calls.h"

#include "common/vec.h"
#include "join/model/vendor.h"
#include "join/report/columns.h"
#include "join/report/times.h"
#include "join/views/stack.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The columns of a function; the lines below a function have their number in the column
 * of calls.
 */
#define NAME_WIDTH 40
#define CALLS_WIDTH 10

/*
 * The most callers and results of one function of one process; the rest are counted
 * together, so that a damaged trace cannot fill the memory.
 */
#define CALLERS_MAX 4096
#define RESULTS_MAX 64

struct caller {
	const struct tap_library *library;
	const struct tap_stack *stack; /* NULL: unknown, or not requested */
	uint64_t number;
	uint64_t offset;
	uint64_t calls;
};

struct outcome {
	char *label; /* NULL: the result is only a value */
	int64_t value;
	uint64_t calls;
};

/* The table in which a sum is shown. */
enum table {
	CALLS,
	WAITS,	  /* their time is that of what they wait for */
	REQUESTS, /* work requests */
	RECEIVES, /* likewise; each waits for a message */
	MESSAGES, /* report_net.h shows them */
};

/*
 * The sum of one function.  Calls by the program, calls by the traced library and calls
 * that NVTX reported have separate sums.
 */
struct sum {
	const struct tap_process *process; /* NULL: of all */
	const struct tap_name *name;
	enum table table;
	bool is_wait;
	bool is_inner;
	bool is_from_nvtx;
	uint64_t calls;
	uint64_t failures;
	uint64_t open;
	uint64_t end_lost;
	uint64_t begin_lost;
	struct tap_times times;
	struct tap_rows callers;
	uint64_t other_callers;
	struct outcome outcomes[RESULTS_MAX]; /* failures */
	size_t outcome_count;
	uint64_t other_outcomes;
};

/* A group ends when its work is launched, which waits for connections. */
static bool is_wait(const struct tap_name *name)
{
	return name->is_cuda_wait || name->kind == TAP_NAME_GROUP_END ||
	       (name->row && name->row->class == TAP_CLASS_WAIT);
}

/* A receive that was refused is in the table of the others. */
static bool is_receive(const struct tap_span *span)
{
	return tap_work_is_receive(&span->work) ||
	       (span->work.kind == TAP_WORK_REFUSED && !strcmp(span->name->name, "RECV"));
}

static enum table table_of(const struct tap_span *span)
{
	if (tap_work_is_message(&span->work))
		return MESSAGES;
	if (span->work.kind)
		return is_receive(span) ? RECEIVES : REQUESTS;
	return is_wait(span->name) ? WAITS : CALLS;
}

static uint64_t key_of(const struct tap_process *process)
{
	return process ? process->number + 1 : 0;
}

static uint64_t kind_of(const struct tap_name *name, bool is_from_nvtx, bool is_inner)
{
	return (uint64_t) name->number * 4 + is_from_nvtx * 2 + is_inner;
}

static struct sum *find_sum(struct tap_report_calls *report,
			    const struct tap_process *process,
			    const struct tap_span *span)
{
	const struct tap_name *name = span->name;
	struct sum *sum = tap_rows_get(&report->sums, key_of(process),
				       kind_of(name, span->is_from_nvtx, span->is_inner),
				       sizeof(*sum));

	if (sum && !sum->name) {
		sum->process = process;
		sum->name = name;
		sum->table = table_of(span);
		sum->is_wait = sum->table == WAITS || is_receive(span);
		sum->is_inner = span->is_inner;
		sum->is_from_nvtx = span->is_from_nvtx;
	}
	return sum;
}

static int count_caller(struct sum *sum, const struct tap_span *span,
			const struct tap_stack *stack)
{
	/* Libraries that share a number have different keys, and so have stacks. */
	const uint64_t key = stack	    ? (uintptr_t) stack
			     : span->caller ? (uintptr_t) span->caller
					    : span->caller_number;
	const uint64_t offset = span->caller_offset;
	struct caller *caller = tap_rows_find(&sum->callers, key, offset);

	if (!caller && sum->callers.count == CALLERS_MAX) {
		sum->other_callers++;
		return 0;
	}
	if (!caller) {
		caller = tap_rows_add(&sum->callers, key, offset, sizeof(*caller));
		if (!caller)
			return -ENOMEM;
		caller->library = span->caller;
		caller->stack = stack;
		caller->number = span->caller_number;
		caller->offset = offset;
	}
	caller->calls++;
	return 0;
}

static int add_outcome(struct sum *sum, int64_t value, const char *label, uint64_t calls)
{
	struct outcome *outcome;
	size_t i;

	for (i = 0; i < sum->outcome_count; i++) {
		outcome = &sum->outcomes[i];
		if (outcome->value == value &&
		    !strcmp(outcome->label ? outcome->label : "", label ? label : "")) {
			outcome->calls += calls;
			return 0;
		}
	}
	if (sum->outcome_count == RESULTS_MAX) {
		sum->other_outcomes += calls;
		return 0;
	}
	outcome = &sum->outcomes[sum->outcome_count];
	outcome->value = value;
	outcome->calls = calls;
	if (label) {
		outcome->label = strdup(label);
		if (!outcome->label)
			return -ENOMEM;
	}
	sum->outcome_count++;
	return 0;
}

int tap_report_calls_end(struct tap_report_calls *report, const struct tap_span *span,
			 bool has_stacks)
{
	const struct tap_field *result = tap_span_result(span);
	struct sum *sum = find_sum(report, span->process, span);
	int ret = 0;

	if (!sum)
		return -ENOMEM;
	sum->calls++;
	sum->open += span->state == TAP_SPAN_OPEN;
	sum->end_lost += span->state == TAP_SPAN_END_LOST;
	sum->begin_lost += span->state == TAP_SPAN_BEGIN_LOST;
	tap_times_add(&sum->times, span);
	if (tap_span_is_failure(result)) {
		sum->failures++;
		ret = add_outcome(sum, result->value.i, result->label, 1);
	}
	if (!ret && span->caller_number)
		ret = count_caller(sum, span, has_stacks ? span->stack : NULL);
	return ret;
}

/* ---- Adding up ---- */

/* The sum of a function in all processes, which has what the sum of one has. */
static struct sum *find_all(struct tap_report_calls *report, const struct sum *one)
{
	struct sum *all =
		tap_rows_get(&report->sums, key_of(NULL),
			     kind_of(one->name, one->is_from_nvtx, one->is_inner),
			     sizeof(*all));

	if (all && !all->name) {
		all->name = one->name;
		all->table = one->table;
		all->is_wait = one->is_wait;
		all->is_inner = one->is_inner;
		all->is_from_nvtx = one->is_from_nvtx;
	}
	return all;
}

static int add_up(struct sum *all, const struct sum *one)
{
	size_t i;
	int ret = 0;

	all->calls += one->calls;
	all->failures += one->failures;
	all->open += one->open;
	all->end_lost += one->end_lost;
	all->begin_lost += one->begin_lost;
	all->other_outcomes += one->other_outcomes;
	tap_times_add_up(&all->times, &one->times);
	for (i = 0; !ret && i < one->outcome_count; i++)
		ret = add_outcome(all, one->outcomes[i].value, one->outcomes[i].label,
				  one->outcomes[i].calls);
	return ret;
}

/* ---- Order: by process; functions by the time spent ---- */

/* The group of a process, or of all; the CUDA driver's calls come after the others. */
static uint64_t group_of(const struct tap_process *process, bool is_cuda)
{
	return (process ? (uint64_t) process->number + 1 : 0) * 2 + is_cuda;
}

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = *(const struct sum *const *) left;
	const struct sum *b = *(const struct sum *const *) right;
	int order;

	order = tap_rows_compare(group_of(a->process, a->name->cuda),
				 group_of(b->process, b->name->cuda));
	if (!order)
		order = tap_rows_compare(a->is_inner, b->is_inner);
	if (!order)
		order = tap_rows_compare(a->is_from_nvtx, b->is_from_nvtx);
	if (!order)
		order = tap_rows_compare(b->times.total_ns, a->times.total_ns);
	if (!order)
		order = strcmp(a->name->layer, b->name->layer);
	return order ? order : strcmp(a->name->name, b->name->name);
}

static int compare_callers(const void *left, const void *right)
{
	const struct caller *a = *(const struct caller *const *) left;
	const struct caller *b = *(const struct caller *const *) right;
	int order = tap_rows_compare(b->calls, a->calls);

	if (!order)
		order = tap_rows_compare(a->number, b->number);
	if (!order)
		order = tap_rows_compare(a->offset, b->offset);
	return order ? order
		     : tap_rows_compare(a->stack ? a->stack->number : 0,
					b->stack ? b->stack->number : 0);
}

static int compare_outcomes(const void *left, const void *right)
{
	const struct outcome *a = left, *b = right;
	int order = tap_rows_compare(b->calls, a->calls);

	return order ? order : tap_rows_compare((uint64_t) a->value, (uint64_t) b->value);
}

static void sort(struct tap_report_calls *report)
{
	size_t i;

	tap_rows_sort(&report->sums, compare_sums);
	for (i = 0; i < report->sums.count; i++) {
		struct sum *sum = report->sums.all[i];

		tap_rows_sort(&sum->callers, compare_callers);
		qsort(sum->outcomes, sum->outcome_count, sizeof(sum->outcomes[0]),
		      compare_outcomes);
	}
}

int tap_report_calls_finish(struct tap_report_calls *report)
{
	const size_t count = report->sums.count;
	struct sum *all;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct sum *one = report->sums.all[i];

		all = find_all(report, one);
		if (!all || add_up(all, one))
			return -ENOMEM;
	}
	sort(report);
	return 0;
}

static uint64_t group_at(const struct tap_report_calls *report, size_t at)
{
	const struct sum *sum = report->sums.all[at];

	return group_of(sum->process, sum->name->cuda);
}

/* The sums of a group, which are adjacent. */
static struct tap_rows group(const struct tap_report_calls *report,
			     const struct tap_process *process, bool is_cuda)
{
	const uint64_t key = group_of(process, is_cuda);
	size_t low = 0, high = report->sums.count;
	struct tap_rows found = {0};

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (group_at(report, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == report->sums.count)
		return found;
	found.all = &report->sums.all[low];
	while (low + found.count < report->sums.count &&
	       group_at(report, low + found.count) == key)
		found.count++;
	return found;
}

/* The name of a result; of CUDA's driver events have only the number.  NULL unknown. */
static const char *outcome_name(const struct sum *sum, const struct outcome *outcome)
{
	if (outcome->label || strncmp(sum->name->name, "cu", 2))
		return outcome->label;
	return tap_cuda_result_name(outcome->value);
}

/* ---- Columns ---- */

static void add_name(struct tap_buffer *line, const void *row)
{
	const struct sum *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_buffer_add_visible(line, sum->name->name);
	if (sum->is_inner)
		tap_buffer_add_string(line, " (inner)");
	if (sum->is_from_nvtx && strcmp(sum->name->layer, "nvtx"))
		tap_buffer_add_string(line, " (nvtx)");
}

static struct tap_value lost(const struct tap_column *column, const void *row)
{
	const struct sum *sum = row;

	(void) column;
	return (struct tap_value){.number = sum->end_lost + sum->begin_lost};
}

#define COUNT(key, header, width, member) \
	TAP_COLUMN(key, header, width, TAP_UNIT_COUNT, struct sum, member)

static const struct tap_column sum_columns[] = {
	COUNT("calls", "calls", CALLS_WIDTH, calls),
	COUNT("failures", "failed", 9, failures),
	COUNT("open", "open", 9, open),
	COUNT("end_lost", NULL, 0, end_lost),
	COUNT("begin_lost", NULL, 0, begin_lost),
	TAP_COLUMN_VALUE(NULL, "lost", 7, TAP_UNIT_COUNT, lost),
	TAP_COLUMN_PART(NULL, tap_times_columns, struct sum, times),
	TAP_COLUMNS_END,
};

#define TABLE(name, header, columns) \
	static const struct tap_column name[] = { \
		TAP_COLUMN_TEXT(NULL, header, NAME_WIDTH, add_name), \
		TAP_COLUMNS_OF(columns), \
		TAP_COLUMNS_END, \
	}

TABLE(call_columns, "  call", sum_columns);
TABLE(driver_columns, "  CUDA driver", sum_columns);

/* Waits and requests overlap what they wait for, and each other: they have no total. */
static const struct tap_column wait_sum_columns[] = {
	COUNT(NULL, "calls", CALLS_WIDTH, calls),
	COUNT(NULL, "failed", 9, failures),
	COUNT(NULL, "open", 9, open),
	TAP_COLUMN_VALUE(NULL, "lost", 7, TAP_UNIT_COUNT, lost),
	TAP_COLUMN_PART(NULL, tap_times_wait_columns, struct sum, times),
	TAP_COLUMNS_END,
};

TABLE(wait_columns, "  wait", wait_sum_columns);
TABLE(request_columns, "work requests", wait_sum_columns);
TABLE(receive_columns, "receives, which wait for messages", wait_sum_columns);

static const struct tap_column busiest_columns[] = {
	TAP_COLUMN_TEXT(NULL, "  busiest calls", 36, add_name),
	COUNT(NULL, "calls", 10, calls),
	COUNT(NULL, "failed", 9, failures),
	TAP_COLUMN(NULL, "total", 10, TAP_UNIT_SHORT, struct sum, times.total_ns),
	TAP_COLUMN(NULL, "longest", 10, TAP_UNIT_SHORT, struct sum, times.max_ns),
	TAP_COLUMNS_END,
};

/* ---- Text ---- */

static void add_detail(struct tap_buffer *line, size_t start, uint64_t calls)
{
	tap_buffer_fill(line, start, NAME_WIDTH, ' ');
	tap_view_add_cell(line, calls, CALLS_WIDTH);
	tap_buffer_add_char(line, '\n');
}

static void add_outcomes_text(struct tap_buffer *line, const struct sum *sum)
{
	size_t i, start;

	for (i = 0; i < sum->outcome_count; i++) {
		const struct outcome *outcome = &sum->outcomes[i];

		start = line->used;
		tap_buffer_add_string(line, "    failed: ");
		if (outcome_name(sum, outcome))
			tap_buffer_add_visible(line, outcome_name(sum, outcome));
		else
			tap_buffer_add_signed(line, outcome->value);
		add_detail(line, start, outcome->calls);
	}
	if (sum->other_outcomes) {
		start = line->used;
		tap_buffer_add_string(line, "    failed: otherwise");
		add_detail(line, start, sum->other_outcomes);
	}
}

static int add_callers_text(struct tap_buffer *line, struct tap_symbols *symbols,
			    const struct sum *sum)
{
	size_t i, start;
	int ret = 0;

	for (i = 0; !ret && i < sum->callers.count; i++) {
		const struct caller *caller = sum->callers.all[i];

		start = line->used;
		tap_buffer_add_string(line, "    from ");
		tap_view_add_caller(line, caller->library, caller->number,
				    caller->offset);
		add_detail(line, start, caller->calls);
		if (caller->stack)
			ret = tap_stack_add_text(line, symbols, sum->process,
						 caller->stack, 6);
	}
	if (!ret && sum->other_callers) {
		start = line->used;
		tap_buffer_add_string(line, "    from elsewhere");
		add_detail(line, start, sum->other_callers);
	}
	return ret;
}

/* Adds the sums of a group that are in this table; nothing where there are none. */
static int add_table_text(struct tap_buffer *line, struct tap_symbols *symbols,
			  const struct tap_column *columns, enum table table,
			  const struct tap_rows *group, bool *has_headers)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < group->count; i++) {
		const struct sum *sum = group->all[i];

		if (sum->table != table)
			continue;
		if (!*has_headers) {
			tap_columns_add_headers(line, columns);
			tap_buffer_add_char(line, '\n');
		}
		*has_headers = true;
		tap_columns_add_cells(line, columns, sum);
		tap_buffer_add_char(line, '\n');
		add_outcomes_text(line, sum);
		ret = add_callers_text(line, symbols, sum);
	}
	return ret;
}

int tap_report_calls_text(const struct tap_report_calls *report,
			  const struct tap_process *process, struct tap_symbols *symbols,
			  struct tap_buffer *line)
{
	const struct tap_rows calls = group(report, process, false);
	const struct tap_rows driver = group(report, process, true);
	bool has_calls = false, has_driver = false, has_waits = false;
	int ret = add_table_text(line, symbols, call_columns, CALLS, &calls, &has_calls);

	if (!ret)
		ret = add_table_text(line, symbols, driver_columns, CALLS, &driver,
				     &has_driver);
	if (!ret)
		ret = add_table_text(line, symbols, wait_columns, WAITS, &calls,
				     &has_waits);
	if (!ret)
		ret = add_table_text(line, symbols, wait_columns, WAITS, &driver,
				     &has_waits);
	if (!has_calls && !has_driver && !has_waits)
		tap_buffer_add_string(line, "  no calls\n");
	return ret;
}

void tap_report_calls_requests(const struct tap_report_calls *report,
			       struct tap_buffer *line)
{
	const struct tap_rows all = group(report, NULL, false);
	bool has_requests = false, has_receives = false;

	/* Only the sums of one process have callers, which memory may be short for. */
	add_table_text(line, NULL, request_columns, REQUESTS, &all, &has_requests);
	add_table_text(line, NULL, receive_columns, RECEIVES, &all, &has_receives);
	if (has_requests || has_receives)
		tap_buffer_add_char(line, '\n');
}

static int compare_totals(const void *left, const void *right)
{
	const struct sum *a = *(const struct sum *const *) left;
	const struct sum *b = *(const struct sum *const *) right;
	int order = tap_rows_compare(b->times.total_ns, a->times.total_ns);

	return order ? order : strcmp(a->name->name, b->name->name);
}

/* Adds the sums of a group that do work, and were not called by a traced library. */
static int collect(struct tap_rows *busiest, const struct tap_rows *group)
{
	size_t i;

	for (i = 0; i < group->count; i++) {
		struct sum *sum = group->all[i];

		if (sum->is_inner || sum->table != CALLS)
			continue;
		if (tap_array_reserve(busiest->all, busiest->room, busiest->count + 1))
			return -ENOMEM;
		busiest->all[busiest->count++] = sum;
	}
	return 0;
}

void tap_report_calls_busiest(const struct tap_report_calls *report, size_t lines,
			      struct tap_buffer *line)
{
	const struct tap_rows calls = group(report, NULL, false);
	const struct tap_rows driver = group(report, NULL, true);
	struct tap_rows busiest = {0};

	if (collect(&busiest, &calls) || collect(&busiest, &driver))
		line->is_short = true;
	tap_rows_sort(&busiest, compare_totals);
	if (busiest.count && lines > 1)
		tap_columns_add_top(line, busiest_columns, &busiest, lines);
	free(busiest.all);
}

/* ---- Totals ---- */

/* The most frequent failure, or another than a flush; NULL: none. */
static const struct outcome *main_outcome(const struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->outcome_count; i++)
		if (!sum->outcomes[i].label ||
		    strcmp(sum->outcomes[i].label, "WR_FLUSH_ERR"))
			return &sum->outcomes[i];
	return sum->outcome_count ? &sum->outcomes[0] : NULL;
}

static void add_failures(const struct sum *sum, uint64_t *total, uint64_t *most,
			 const struct tap_name **name, const char **label)
{
	const struct outcome *outcome = main_outcome(sum);
	const bool is_flush =
		outcome && outcome->label && !strcmp(outcome->label, "WR_FLUSH_ERR");

	*total += sum->failures;
	/* A flush counts as less than one failure. */
	if (!outcome || (*name && (is_flush ? 0 : outcome->calls) <= *most))
		return;
	*most = is_flush ? 0 : outcome->calls;
	*name = sum->name;
	*label = outcome_name(sum, outcome);
}

struct tap_calls_total tap_report_calls_total(const struct tap_report_calls *report,
					      const struct tap_process *process)
{
	const struct tap_rows groups[] = {group(report, process, false),
					  group(report, process, true)};
	struct tap_calls_total total = {0};
	uint64_t most = 0, most_work = 0;
	size_t i, j;

	for (i = 0; i < 2; i++) {
		for (j = 0; j < groups[i].count; j++) {
			const struct sum *sum = groups[i].all[j];

			if (sum->is_inner || sum->table == MESSAGES)
				continue;
			if (sum->table == REQUESTS || sum->table == RECEIVES) {
				total.requests += sum->calls;
				add_failures(sum, &total.work_errors, &most_work,
					     &total.failed_work, &total.work_error);
				continue;
			}
			total.calls += sum->calls;
			add_failures(sum, &total.failures, &most, &total.failed,
				     &total.failure);
		}
	}
	return total;
}

/* ---- JSON ---- */

static void add_outcomes_json(struct tap_json *json, const struct sum *sum)
{
	size_t i;

	tap_json_open(json, "results", '[');
	for (i = 0; i < sum->outcome_count; i++) {
		tap_json_open(json, NULL, '{');
		if (sum->outcomes[i].label) {
			tap_json_string(json, "result", sum->outcomes[i].label);
		} else {
			tap_json_signed(json, "result", sum->outcomes[i].value);
			tap_json_string(json, "result_name",
					outcome_name(sum, &sum->outcomes[i]));
		}
		tap_json_unsigned(json, "calls", sum->outcomes[i].calls);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_results", sum->other_outcomes);
}

static int add_callers_json(struct tap_json *json, struct tap_symbols *symbols,
			    const struct sum *sum)
{
	size_t i;
	int ret;

	tap_json_open(json, "callers", '[');
	for (i = 0; i < sum->callers.count; i++) {
		const struct caller *caller = sum->callers.all[i];

		tap_json_open(json, NULL, '{');
		tap_view_add_caller(&json->text, caller->library, caller->number,
				    caller->offset);
		tap_json_text(json, "caller");
		tap_json_unsigned(json, "calls", caller->calls);
		ret = symbols ? tap_stack_add_json(json, symbols, sum->process,
						   caller->stack)
			      : 0;
		if (ret)
			return ret;
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_callers", sum->other_callers);
	return 0;
}

static int add_sum_json(struct tap_json *json, struct tap_symbols *symbols,
			const struct sum *sum)
{
	int ret = 0;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "layer", sum->name->layer);
	tap_json_string(json, "name", sum->name->name);
	tap_json_bool(json, "inner", sum->is_inner);
	tap_json_bool(json, "wait", sum->is_wait);
	if (sum->is_from_nvtx)
		tap_json_string(json, "known_by", "nvtx");
	tap_columns_add_members(json, sum_columns, sum);
	add_outcomes_json(json, sum);
	if (sum->process)
		ret = add_callers_json(json, symbols, sum);
	tap_json_close(json);
	return ret;
}

static int add_group_json(struct tap_json *json, const char *key,
			  struct tap_symbols *symbols, const struct tap_rows *group)
{
	size_t i;
	int ret = 0;

	tap_json_open(json, key, '[');
	for (i = 0; !ret && i < group->count; i++)
		ret = add_sum_json(json, symbols, group->all[i]);
	tap_json_close(json);
	return ret;
}

int tap_report_calls_json(const struct tap_report_calls *report,
			  const struct tap_process *process, struct tap_symbols *symbols,
			  struct tap_json *json)
{
	const struct tap_rows calls = group(report, process, false);
	const struct tap_rows driver = group(report, process, true);
	int ret = add_group_json(json, process ? "calls" : "all", symbols, &calls);

	if (ret || !driver.count)
		return ret;
	return add_group_json(json, process ? "cuda_calls" : "all_cuda", symbols,
			      &driver);
}

void tap_report_calls_free(struct tap_report_calls *report)
{
	size_t i, j;

	for (i = 0; i < report->sums.count; i++) {
		struct sum *sum = report->sums.all[i];

		for (j = 0; j < sum->outcome_count; j++)
			free(sum->outcomes[j].label);
		tap_rows_free(&sum->callers);
	}
	tap_rows_free(&report->sums);
}
