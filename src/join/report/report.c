/* SPDX-License-Identifier: MIT */
/*
 * The view of sums: for each process and each called function how often, how
 * long, with which results and from where; and the same over all processes.
 */
#include "join/report/report_comm.h"
#include "join/report/report_cuda.h"
#include "join/report/report_gpu.h"
#include "join/report/report_net.h"
#include "join/report/report_work.h"
#include "join/views/stack.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Callers and results that one function of one process may have; the rest are
 * counted together, so that a damaged trace cannot fill the memory. */
#define CALLERS_MAX 4096
#define RESULTS_MAX 64

struct caller {
	const struct tap_library *library;
	const struct tap_stack *stack; /* NULL unknown, or not asked for */
	uint64_t number;
	uint64_t offset;
	uint64_t calls;
};

struct outcome {
	char *label; /* NULL: only a value */
	int64_t value;
	uint64_t calls;
};

/* Of one function, called by the program or, apart, by the traced library; apart, too,
 * when NVTX told of it. */
struct sum {
	const struct tap_process *process; /* NULL: of all */
	const struct tap_name *name;
	bool is_inner;
	bool is_told;
	uint64_t calls;
	uint64_t failures;
	uint64_t open;
	uint64_t end_lost;
	uint64_t begin_lost;
	struct tap_times times;
	struct tap_table by_caller;
	struct caller **callers;
	size_t caller_count;
	size_t caller_room;
	uint64_t other_callers;
	struct outcome outcomes[RESULTS_MAX]; /* failures */
	size_t outcome_count;
	uint64_t other_outcomes;
};

struct report {
	struct tap_view view;
	struct tap_json json;
	struct tap_table by_key;
	struct sum **sums;
	size_t sum_count;
	size_t sum_room;
	const struct tap_process **processes;
	size_t process_count;
	size_t process_room;
	struct tap_report_comms comms;
	struct tap_report_work work;
	struct tap_report_net net;
	struct tap_report_cuda cuda;
	struct tap_report_gpu gpu;
	uint64_t never_returned; /* the outermost open call of each thread */
};

static void *grow(void *array, size_t count, size_t *room, size_t size)
{
	size_t larger = *room ? *room * 2 : 16;
	void *grown;

	if (count < *room)
		return array;
	grown = realloc(array, larger * size);
	if (grown)
		*room = larger;
	return grown;
}

static int note_process(void *data, const struct tap_process *process)
{
	struct report *report = data;
	void *grown;

	/* It comes again when it describes itself late. */
	if (process->number < report->process_count)
		return 0;
	grown = grow(report->processes, report->process_count, &report->process_room,
		     sizeof(*report->processes));
	if (!grown)
		return -ENOMEM;
	report->processes = grown;
	report->processes[report->process_count++] = process;
	return 0;
}

static struct sum *find_sum(struct report *report, const struct tap_process *process,
			    const struct tap_span *span)
{
	const struct tap_name *name = span->name;
	uint64_t a = process ? process->number + 1 : 0;
	uint64_t b = (uint64_t) name->number * 4 + span->is_told * 2 + span->is_inner;
	struct sum *sum = tap_table_find(&report->by_key, a, b);
	void *grown;

	if (sum)
		return sum;
	grown = grow(report->sums, report->sum_count, &report->sum_room,
		     sizeof(*report->sums));
	if (!grown)
		return NULL;
	report->sums = grown;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	if (tap_table_set(&report->by_key, a, b, sum)) {
		free(sum);
		return NULL;
	}
	sum->process = process;
	sum->name = name;
	sum->is_inner = span->is_inner;
	sum->is_told = span->is_told;
	report->sums[report->sum_count++] = sum;
	return sum;
}

static int count_caller(struct sum *sum, const struct tap_span *span,
			const struct tap_stack *stack)
{
	/* Two libraries under one number are two keys, and so are two stacks. */
	uint64_t key = stack	      ? (uintptr_t) stack
		       : span->caller ? (uintptr_t) span->caller
				      : span->caller_number;
	struct caller *caller, **callers;

	caller = tap_table_find(&sum->by_caller, key, span->caller_offset);
	if (!caller && sum->caller_count == CALLERS_MAX) {
		sum->other_callers++;
		return 0;
	}
	if (!caller) {
		callers = grow(sum->callers, sum->caller_count, &sum->caller_room,
			       sizeof(*callers));
		if (!callers)
			return -ENOMEM;
		sum->callers = callers;
		caller = calloc(1, sizeof(*caller));
		if (!caller)
			return -ENOMEM;
		if (tap_table_set(&sum->by_caller, key, span->caller_offset, caller)) {
			free(caller);
			return -ENOMEM;
		}
		caller->library = span->caller;
		caller->stack = stack;
		caller->number = span->caller_number;
		caller->offset = span->caller_offset;
		sum->callers[sum->caller_count++] = caller;
	}
	caller->calls++;
	return 0;
}

static int count_failure(struct sum *sum, const struct tap_field *result)
{
	struct outcome *outcome;
	size_t i;

	sum->failures++;
	for (i = 0; i < sum->outcome_count; i++) {
		outcome = &sum->outcomes[i];
		if (outcome->value == result->value.i &&
		    !strcmp(outcome->label ? outcome->label : "",
			    result->label ? result->label : "")) {
			outcome->calls++;
			return 0;
		}
	}
	if (sum->outcome_count == RESULTS_MAX) {
		sum->other_outcomes++;
		return 0;
	}
	outcome = &sum->outcomes[sum->outcome_count];
	outcome->value = result->value.i;
	outcome->calls = 1;
	if (result->label) {
		outcome->label = strdup(result->label);
		if (!outcome->label)
			return -ENOMEM;
	}
	sum->outcome_count++;
	return 0;
}

static int count_span(struct sum *sum, const struct tap_span *span)
{
	const struct tap_field *result = tap_span_result(span);
	int ret = 0;

	sum->calls++;
	sum->open += span->state == TAP_SPAN_OPEN;
	sum->end_lost += span->state == TAP_SPAN_END_LOST;
	sum->begin_lost += span->state == TAP_SPAN_BEGIN_LOST;
	tap_times_add(&sum->times, span);
	if (tap_span_is_failure(result))
		ret = count_failure(sum, result);
	return ret;
}

static int begin_span(void *data, struct tap_span *span)
{
	struct report *report = data;

	return tap_report_work_begin(&report->work, span);
}

static int end_span(void *data, struct tap_span *span)
{
	struct report *report = data;
	struct sum *sum, *all;
	int ret;

	if (tap_work_is_run(&span->work))
		return tap_report_gpu_end(&report->gpu, span);
	sum = find_sum(report, span->process, span);
	all = find_sum(report, NULL, span);
	if (!sum || !all)
		return -ENOMEM;
	ret = count_span(sum, span);
	if (!ret)
		ret = count_span(all, span);
	if (!ret && span->caller_number)
		ret = count_caller(sum, span, report->view.symbols ? span->stack : NULL);
	if (!ret && span->name->cuda)
		return tap_report_cuda_end(&report->cuda, span);
	if (!ret && tap_work_is_message(&span->work))
		return tap_report_net_end(&report->net, span);
	if (!ret && span->work.kind)
		return tap_report_work_end(&report->work, span);
	return ret ? ret : tap_report_comms_span(&report->comms, span);
}

static int count_link(void *data, const struct tap_link *link)
{
	struct report *report = data;
	int ret = tap_report_work_link(&report->work, link);

	if (!ret)
		ret = tap_report_net_link(&report->net, link);
	if (!ret)
		ret = tap_report_cuda_link(&report->cuda, link);
	return ret ? ret : tap_report_comms_link(&report->comms, link);
}

/* ---- Order: rank, then host, then process; functions by the time spent ---- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_processes(const void *left, const void *right)
{
	const struct tap_process *a = *(const struct tap_process *const *) left;
	const struct tap_process *b = *(const struct tap_process *const *) right;
	int order;

	/* An unknown rank, -1, is the largest unsigned one. */
	order = compare((uint64_t) a->rank, (uint64_t) b->rank);
	if (!order)
		order = strcmp(a->host, b->host);
	if (!order)
		order = compare((uint64_t) a->pid, (uint64_t) b->pid);
	return order ? order : compare(a->number, b->number);
}

/* Of one process, or of all, the CUDA driver's calls come after the others. */
static uint64_t group_of(const struct tap_process *process, bool is_cuda)
{
	return (process ? (uint64_t) process->number + 1 : 0) * 2 + is_cuda;
}

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = *(const struct sum *const *) left;
	const struct sum *b = *(const struct sum *const *) right;
	int order;

	order = compare(group_of(a->process, a->name->cuda),
			group_of(b->process, b->name->cuda));
	if (!order)
		order = compare(a->is_inner, b->is_inner);
	if (!order)
		order = compare(a->is_told, b->is_told);
	if (!order)
		order = compare(b->times.total_ns, a->times.total_ns);
	if (!order)
		order = strcmp(a->name->layer, b->name->layer);
	return order ? order : strcmp(a->name->name, b->name->name);
}

static int compare_callers(const void *left, const void *right)
{
	const struct caller *a = *(const struct caller *const *) left;
	const struct caller *b = *(const struct caller *const *) right;
	int order = compare(b->calls, a->calls);

	if (!order)
		order = compare(a->number, b->number);
	if (!order)
		order = compare(a->offset, b->offset);
	return order ? order
		     : compare(a->stack ? a->stack->number : 0,
			       b->stack ? b->stack->number : 0);
}

static int compare_outcomes(const void *left, const void *right)
{
	const struct outcome *a = left, *b = right;
	int order = compare(b->calls, a->calls);

	return order ? order : compare((uint64_t) a->value, (uint64_t) b->value);
}

static void sort(struct report *report)
{
	size_t i;

	if (report->process_count)
		qsort(report->processes, report->process_count,
		      sizeof(*report->processes), compare_processes);
	if (report->sum_count)
		qsort(report->sums, report->sum_count, sizeof(*report->sums),
		      compare_sums);
	for (i = 0; i < report->sum_count; i++) {
		struct sum *sum = report->sums[i];

		if (sum->caller_count)
			qsort(sum->callers, sum->caller_count, sizeof(*sum->callers),
			      compare_callers);
		qsort(sum->outcomes, sum->outcome_count, sizeof(sum->outcomes[0]),
		      compare_outcomes);
	}
}

/* The sums of a group stand together: [*first, *last). */
static void find_range(const struct report *report, const struct tap_process *process,
		       bool is_cuda, size_t *first, size_t *last)
{
	const uint64_t key = group_of(process, is_cuda);
	size_t low = 0, high = report->sum_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct sum *sum = report->sums[middle];

		if (group_of(sum->process, sum->name->cuda) < key)
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	while (low < report->sum_count &&
	       group_of(report->sums[low]->process, report->sums[low]->name->cuda) == key)
		low++;
	*last = low;
}

/* ---- Text ---- */

static void add_detail(struct tap_buffer *line, size_t start, uint64_t calls)
{
	tap_buffer_fill(line, start, 40, ' ');
	tap_view_add_cell(line, calls, 10);
	tap_buffer_add_char(line, '\n');
}

static int add_sum_text(struct report *report, const struct sum *sum)
{
	struct tap_buffer *line = &report->view.line;
	size_t start = line->used, i;
	int ret;

	tap_buffer_add_string(line, "  ");
	tap_buffer_add_visible(line, sum->name->name);
	if (sum->is_inner)
		tap_buffer_add_string(line, " (inner)");
	if (sum->is_told && strcmp(sum->name->layer, "nvtx"))
		tap_buffer_add_string(line, " (nvtx)");
	tap_buffer_fill(line, start, 40, ' ');
	tap_view_add_cell(line, sum->calls, 10);
	tap_view_add_cell(line, sum->failures, 9);
	tap_view_add_cell(line, sum->open, 9);
	tap_view_add_cell(line, sum->end_lost + sum->begin_lost, 7);
	tap_columns_add_cells(line, tap_times_columns, &sum->times);
	tap_buffer_add_char(line, '\n');
	for (i = 0; i < sum->outcome_count; i++) {
		const struct outcome *outcome = &sum->outcomes[i];

		start = line->used;
		tap_buffer_add_string(line, "    failed: ");
		if (outcome->label)
			tap_buffer_add_visible(line, outcome->label);
		else
			tap_buffer_add_signed(line, outcome->value);
		add_detail(line, start, outcome->calls);
	}
	if (sum->other_outcomes) {
		start = line->used;
		tap_buffer_add_string(line, "    failed: otherwise");
		add_detail(line, start, sum->other_outcomes);
	}
	for (i = 0; i < sum->caller_count; i++) {
		const struct caller *caller = sum->callers[i];

		start = line->used;
		tap_buffer_add_string(line, "    from ");
		tap_view_add_caller(line, caller->library, caller->number,
				    caller->offset);
		add_detail(line, start, caller->calls);
		if (!caller->stack)
			continue;
		ret = tap_stack_add_text(line, report->view.symbols, sum->process,
					 caller->stack, 6);
		if (ret)
			return ret;
	}
	if (sum->other_callers) {
		start = line->used;
		tap_buffer_add_string(line, "    from elsewhere");
		add_detail(line, start, sum->other_callers);
	}
	return 0;
}

static int add_sums_text(struct report *report, size_t first, size_t last,
			 const char *title)
{
	struct tap_buffer *line = &report->view.line;
	const size_t start = line->used;
	int ret = 0;

	if (first == last)
		return 0;
	tap_buffer_add_string(line, title);
	tap_buffer_fill(line, start, 45, ' ');
	tap_buffer_add_string(line, "calls   failed     open   lost        total"
				    "         mean          max\n");
	for (; !ret && first < last; first++)
		ret = add_sum_text(report, report->sums[first]);
	return ret;
}

static int add_group_text(struct report *report, const struct tap_process *process)
{
	struct tap_buffer *line = &report->view.line;
	size_t first, last, first_cuda, last_cuda;
	int ret;

	find_range(report, process, false, &first, &last);
	find_range(report, process, true, &first_cuda, &last_cuda);
	if (process && process->rank >= 0) {
		tap_buffer_add_string(line, "rank ");
		tap_buffer_add_signed(line, process->rank);
		tap_buffer_add_string(line, ", ");
	}
	if (process) {
		tap_buffer_add_string(line, "pid ");
		if (process->pid < 0)
			tap_buffer_add_char(line, '?');
		else
			tap_buffer_add_signed(line, process->pid);
		if (*process->host) {
			tap_buffer_add_string(line, " on ");
			tap_buffer_add_visible(line, process->host);
		}
		if (*tap_view_command(process)) {
			tap_buffer_add_string(line, ": ");
			tap_buffer_add_visible(line, tap_view_command(process));
		}
	} else {
		tap_buffer_add_string(line, "all processes");
	}
	tap_buffer_add_char(line, '\n');
	if (first == last && first_cuda == last_cuda)
		tap_buffer_add_string(line, "  no calls\n");
	ret = add_sums_text(report, first, last, "  call");
	if (!ret)
		ret = add_sums_text(report, first_cuda, last_cuda, "  CUDA driver");
	tap_buffer_add_char(line, '\n');
	return ret;
}

/* ---- JSON ---- */

static int add_sum_json(struct report *report, const struct sum *sum)
{
	struct tap_json *json = &report->json;
	size_t i;
	int ret;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "layer", sum->name->layer);
	tap_json_string(json, "name", sum->name->name);
	tap_json_bool(json, "inner", sum->is_inner);
	if (sum->is_told)
		tap_json_string(json, "known_by", "nvtx");
	tap_json_unsigned(json, "calls", sum->calls);
	tap_json_unsigned(json, "failures", sum->failures);
	tap_json_unsigned(json, "open", sum->open);
	tap_json_unsigned(json, "end_lost", sum->end_lost);
	tap_json_unsigned(json, "begin_lost", sum->begin_lost);
	tap_columns_add_members(json, tap_times_columns, &sum->times);
	tap_json_open(json, "results", '[');
	for (i = 0; i < sum->outcome_count; i++) {
		tap_json_open(json, NULL, '{');
		if (sum->outcomes[i].label)
			tap_json_string(json, "result", sum->outcomes[i].label);
		else
			tap_json_signed(json, "result", sum->outcomes[i].value);
		tap_json_unsigned(json, "calls", sum->outcomes[i].calls);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_results", sum->other_outcomes);
	if (sum->process) {
		tap_json_open(json, "callers", '[');
		for (i = 0; i < sum->caller_count; i++) {
			const struct caller *caller = sum->callers[i];

			tap_json_open(json, NULL, '{');
			tap_view_add_caller(&json->text, caller->library, caller->number,
					    caller->offset);
			tap_json_text(json, "caller");
			tap_json_unsigned(json, "calls", caller->calls);
			if (report->view.symbols) {
				ret = tap_stack_add_json(json, report->view.symbols,
							 sum->process, caller->stack);
				if (ret)
					return ret;
			}
			tap_json_close(json);
		}
		tap_json_close(json);
		tap_json_unsigned(json, "other_callers", sum->other_callers);
	}
	tap_json_close(json);
	return 0;
}

static int add_group_json(struct report *report, const char *name,
			  const struct tap_process *process, bool is_cuda)
{
	struct tap_json *json = &report->json;
	size_t first, last;
	int ret;

	find_range(report, process, is_cuda, &first, &last);
	if (is_cuda && first == last)
		return 0;
	tap_json_open(json, name, '[');
	for (; first < last; first++) {
		ret = add_sum_json(report, report->sums[first]);
		if (ret)
			return ret;
	}
	tap_json_close(json);
	return 0;
}

static int add_process_json(struct report *report, const struct tap_process *process)
{
	struct tap_json *json = &report->json;
	int ret;

	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "process", process->number);
	tap_json_string(json, "host", process->host);
	tap_json_not_negative(json, "pid", process->pid);
	tap_json_not_negative(json, "rank", process->rank);
	tap_json_string(json, "command", tap_view_command(process));
	ret = add_group_json(report, "calls", process, false);
	if (!ret)
		ret = add_group_json(report, "cuda_calls", process, true);
	tap_json_close(json);
	return ret;
}

static void add_modules_json(struct report *report)
{
	struct tap_json *json = &report->json;
	const struct tap_module *module = tap_symbols_modules(report->view.symbols);

	tap_json_open(json, "modules", '[');
	for (; module; module = module->next) {
		tap_json_open(json, NULL, '{');
		tap_stack_add_module_json(json, module);
		tap_json_close(json);
	}
	tap_json_close(json);
}

static int write_json(struct report *report, const struct tap_loss *loss)
{
	struct tap_json *json = &report->json;
	size_t i;
	int ret;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "report");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_view_add_hosts_json(json, report->view.context);
	tap_view_add_snapshots_json(json, report->view.context);
	tap_json_open(json, "processes", '[');
	for (i = 0; i < report->process_count; i++) {
		ret = add_process_json(report, report->processes[i]);
		if (ret)
			return ret;
	}
	tap_json_close(json);
	ret = add_group_json(report, "all", NULL, false);
	if (!ret)
		ret = add_group_json(report, "all_cuda", NULL, true);
	if (ret)
		return ret;
	if (report->view.symbols)
		add_modules_json(report);
	tap_report_comms_json(&report->comms, &report->view.context->comms, json);
	if (report->work.queues.count)
		tap_report_work_json(&report->work, json);
	if (report->net.connections.count)
		tap_report_net_json(&report->net, json);
	if (report->cuda.streams.count || report->cuda.calls.count)
		tap_report_cuda_json(&report->cuda, json);
	if (report->gpu.streams.count)
		tap_report_gpu_json(&report->gpu, json);
	tap_json_unsigned(json, "never_returned", report->never_returned);
	tap_view_add_loss_json(json, loss, true);
	tap_json_end_line(json, &report->view.line);
	return 0;
}

static void add_never_returned(struct report *report)
{
	struct tap_buffer *line = &report->view.line;

	if (!report->never_returned)
		return;
	tap_buffer_add_unsigned(line, report->never_returned);
	tap_buffer_add_string(line, report->never_returned == 1 ? " call" : " calls");
	tap_buffer_add_string(line, " never returned; ccltap timeline ends with them\n");
}

static int count_open(void *data, const struct tap_standing *standing)
{
	struct report *report = data;

	report->never_returned += standing->count;
	return 0;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct report *report = data;
	const struct tap_comms *comms = &report->view.context->comms;
	int ret = tap_report_comms_finish(&report->comms, comms);
	size_t i;

	if (ret)
		return ret;
	sort(report);
	tap_report_cuda_sort(&report->cuda);
	tap_report_gpu_sort(&report->gpu);
	if (report->view.settings.is_json) {
		ret = write_json(report, loss);
	} else {
		tap_view_add_snapshots_text(&report->view.line, report->view.context);
		if (report->view.line.used)
			tap_buffer_add_char(&report->view.line, '\n');
		for (i = 0; !ret && i < report->process_count; i++)
			ret = add_group_text(report, report->processes[i]);
		if (!ret && report->process_count != 1)
			ret = add_group_text(report, NULL);
		tap_report_comms_text(&report->comms, comms, &report->view.line);
		tap_report_work_text(&report->work, &report->view.line);
		tap_report_net_text(&report->net, &report->view.line);
		tap_report_cuda_text(&report->cuda, &report->view.line);
		tap_report_gpu_text(&report->gpu, &report->view.line);
		if (report->view.symbols)
			tap_stack_add_modules_text(&report->view.line,
						   report->view.symbols);
		add_never_returned(report);
		tap_view_add_loss_text(&report->view.line, loss);
	}
	if (ret)
		return ret;
	return tap_outfile_finish(report->view.output, &report->view.line);
}

static void destroy(struct tap_view *view)
{
	struct report *report = (struct report *) view;
	size_t i, j;

	for (i = 0; i < report->sum_count; i++) {
		struct sum *sum = report->sums[i];

		for (j = 0; j < sum->caller_count; j++)
			free(sum->callers[j]);
		for (j = 0; j < sum->outcome_count; j++)
			free(sum->outcomes[j].label);
		free(sum->callers);
		tap_table_free(&sum->by_caller);
		free(sum);
	}
	free(report->sums);
	free(report->processes);
	tap_table_free(&report->by_key);
	tap_report_comms_free(&report->comms);
	tap_report_work_free(&report->work);
	tap_report_net_free(&report->net);
	tap_report_cuda_free(&report->cuda);
	tap_report_gpu_free(&report->gpu);
	tap_json_free(&report->json);
	tap_buffer_free(&view->line);
	free(report);
}

static const struct tap_consumer consumer = {
	.process = note_process,
	.span_begun = begin_span,
	.span_ended = end_span,
	.link = count_link,
	.standing = count_open,
	.finish = finish,
};

struct tap_view *tap_report_create(void)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->view.consumer = &consumer;
	report->view.destroy = destroy;
	return &report->view;
}
