/* SPDX-License-Identifier: MIT */
/*
 * The view of sums: for each process and each called function how often, how long, with
 * which results and from where; and the same for all processes together.
 */
#include "common/vec.h"
#include "join/report/ranks.h"
#include "join/report/report_calls.h"
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

struct report {
	struct tap_view view;
	struct tap_json json;
	const struct tap_process **processes;
	size_t process_count;
	size_t process_room;
	struct tap_report_calls calls;
	struct tap_report_comms comms;
	struct tap_report_work work;
	struct tap_report_net net;
	struct tap_report_cuda cuda;
	struct tap_report_gpu gpu;
	uint64_t never_returned; /* the outermost open call of each thread */
};

static int note_process(void *data, const struct tap_process *process)
{
	struct report *report = data;

	/* A process comes again when it describes itself late. */
	if (process->number < report->process_count)
		return 0;
	if (tap_array_reserve(report->processes, report->process_room,
			      report->process_count + 1))
		return -ENOMEM;
	report->processes[report->process_count++] = process;
	return 0;
}

static int begin_span(void *data, struct tap_span *span)
{
	struct report *report = data;

	return tap_report_work_begin(&report->work, span);
}

static int end_span(void *data, struct tap_span *span)
{
	struct report *report = data;
	int ret;

	if (tap_work_is_run(&span->work))
		return tap_report_gpu_end(&report->gpu, span);
	ret = tap_report_calls_end(&report->calls, span, report->view.symbols);
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

/* By rank, then host, then process. */
static int compare_processes(const void *left, const void *right)
{
	const struct tap_process *a = *(const struct tap_process *const *) left;
	const struct tap_process *b = *(const struct tap_process *const *) right;
	int order;

	/* An unknown rank, -1, is the largest unsigned one. */
	order = tap_rows_compare((uint64_t) a->rank, (uint64_t) b->rank);
	if (!order)
		order = strcmp(a->host, b->host);
	if (!order)
		order = tap_rows_compare((uint64_t) a->pid, (uint64_t) b->pid);
	return order ? order : tap_rows_compare(a->number, b->number);
}

/* ---- Text ---- */

/* "rank 0, pid 123 on host: command" */
static void add_process_text(struct tap_buffer *line, const struct tap_process *process)
{
	const char *command = tap_view_command(process);

	if (process->rank >= 0) {
		tap_ranks_add_one(line, process->rank);
		tap_buffer_add_string(line, ", ");
	}
	tap_view_add_pid(line, process);
	if (*command) {
		tap_buffer_add_string(line, ": ");
		tap_buffer_add_visible(line, command);
	}
}

/* Adds the calls of a process, or of all. */
static int add_calls_text(struct report *report, const struct tap_process *process)
{
	struct tap_buffer *line = &report->view.line;
	int ret;

	if (process)
		add_process_text(line, process);
	else
		tap_buffer_add_string(line, "all processes");
	tap_buffer_add_char(line, '\n');
	ret = tap_report_calls_text(&report->calls, process, report->view.symbols, line);
	tap_buffer_add_char(line, '\n');
	return ret;
}

/* ---- JSON ---- */

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
	ret = tap_report_calls_json(&report->calls, process, report->view.symbols, json);
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
	ret = tap_report_calls_json(&report->calls, NULL, report->view.symbols, json);
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

static int count_open(void *data, const struct tap_end_state *end_state)
{
	struct report *report = data;

	report->never_returned += end_state->count;
	return 0;
}

static int write_text(struct report *report, const struct tap_loss *loss)
{
	struct tap_buffer *line = &report->view.line;
	size_t i;
	int ret = 0;

	tap_view_add_snapshots_text(line, report->view.context);
	tap_view_add_clocks_text(line, report->view.context);
	if (line->used)
		tap_buffer_add_char(line, '\n');
	for (i = 0; !ret && i < report->process_count; i++)
		ret = add_calls_text(report, report->processes[i]);
	if (!ret && report->process_count != 1)
		ret = add_calls_text(report, NULL);
	tap_report_comms_text(&report->comms, &report->view.context->comms, line);
	tap_report_work_text(&report->work, line);
	tap_report_net_text(&report->net, line);
	tap_report_cuda_text(&report->cuda, line);
	tap_report_gpu_text(&report->gpu, line);
	if (report->view.symbols)
		tap_stack_add_modules_text(line, report->view.symbols);
	add_never_returned(report);
	tap_view_add_loss_text(line, loss);
	return ret;
}

static void sort(struct report *report)
{
	if (report->process_count)
		qsort(report->processes, report->process_count,
		      sizeof(*report->processes), compare_processes);
	tap_report_calls_sort(&report->calls);
	tap_report_cuda_sort(&report->cuda);
	tap_report_gpu_sort(&report->gpu);
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct report *report = data;
	int ret = tap_report_comms_finish(&report->comms,
					  &report->view.context->comms);

	if (ret)
		return ret;
	sort(report);
	if (report->view.settings.is_json)
		ret = write_json(report, loss);
	else
		ret = write_text(report, loss);
	if (ret)
		return ret;
	return tap_outfile_finish(report->view.output, &report->view.line);
}

static void destroy(struct tap_view *view)
{
	struct report *report = (struct report *) view;

	free(report->processes);
	tap_report_calls_free(&report->calls);
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
	.end_state = count_open,
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
