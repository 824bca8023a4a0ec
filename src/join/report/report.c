/* SPDX-License-Identifier: MIT */
/*
 * The view of sums: a first screen with the findings, or tables of all that was counted,
 * or both as JSON.
 */
#include "common/vec.h"
#include "join/report/diff.h"
#include "join/report/forward.h"
#include "join/report/overview.h"
#include "join/report/page.h"
#include "join/report/ranks.h"
#include "join/report/report_calls.h"
#include "join/report/report_comm.h"
#include "join/report/report_cuda.h"
#include "join/report/report_gpu.h"
#include "join/report/report_ascribed.h"
#include "join/report/report_net.h"
#include "join/report/report_threads.h"
#include "join/report/report_transports.h"
#include "join/report/report_work.h"
#include "join/report/screen.h"
#include "join/views/filtered.h"
#include "join/views/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct report {
	struct tap_finding_view base;
	struct tap_consumer all; /* with filters: what gets the whole trace */
	struct tap_overview overview;
	struct tap_page *page; /* NULL: none is wanted */
	bool is_compared;      /* with the run before */
	struct tap_measures before;
	const struct tap_process **processes;
	size_t process_count;
	size_t process_room;
	struct tap_report_calls calls;
	struct tap_report_comms comms;
	struct tap_report_work work;
	struct tap_report_net net;
	struct tap_report_ascribed ascribed;
	struct tap_report_threads threads;
	struct tap_report_transports transports;
	struct tap_report_cuda cuda;
	struct tap_report_gpu gpu;
};

static int note_process(void *data, const struct tap_process *process)
{
	struct report *report = data;
	int ret = tap_forward_process(data, process);

	/* A process comes again when it describes itself late. */
	if (ret || process->number < report->process_count)
		return ret;
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
	int ret = tap_forward_ended(data, span);

	if (!ret && report->page)
		ret = tap_page_spans_end(&report->page->spans, report->base.view.context,
					 span);
	if (ret)
		return ret;
	if (tap_work_is_run(&span->work))
		return tap_report_gpu_end(&report->gpu, span);
	/* They are sums of messages, which count, and of their threads, which have a
	 * table. */
	if (tap_work_is_proxy(&span->work))
		return 0;
	ret = tap_report_calls_end(&report->calls, span, report->base.view.symbols);
	if (!ret && span->name->cuda)
		return tap_report_cuda_end(&report->cuda, span);
	if (!ret && tap_work_is_message(&span->work))
		return tap_report_net_end(&report->net, span);
	if (!ret && span->work.kind)
		return tap_report_work_end(&report->work, span);
	return ret ? ret : tap_report_comms_span(&report->comms, span);
}

/* Whether the page gets the whole trace here; with filters it does so by `all`, below. */
static bool is_whole(const struct report *report)
{
	return report->page && !report->base.view.filtered;
}

static int count_thread(void *data, const struct tap_nccl_thread *thread)
{
	struct report *report = data;
	int ret = tap_forward_nccl_thread(data, thread);

	if (report->page)
		tap_page_spans_thread(&report->page->spans, thread);
	return ret ? ret : tap_report_threads_add(&report->threads, thread);
}

static int count_connection(void *data, const struct tap_nccl_connection *connection)
{
	struct report *report = data;
	int ret = tap_forward_connection(data, connection);

	if (report->page)
		tap_page_spans_connection(&report->page->spans, connection);
	if (is_whole(report))
		tap_checked_connection(&report->page->checked, connection);
	return ret ? ret : tap_report_transports_add(&report->transports, connection);
}

static int note_library(void *data, const struct tap_process *process,
			const struct tap_library *library)
{
	struct report *report = data;

	return tap_report_transports_library(&report->transports, process, library);
}

static int count_link(void *data, const struct tap_link *link)
{
	struct report *report = data;
	int ret = tap_forward_link(data, link);

	if (is_whole(report))
		tap_checked_link(&report->page->checked, link);
	if (!ret && report->page)
		ret = tap_page_spans_link(&report->page->spans, link);
	if (!ret)
		ret = tap_report_work_link(&report->work, link);
	if (!ret)
		ret = tap_report_net_link(&report->net, link);
	if (!ret)
		ret = tap_report_ascribed_link(&report->ascribed, link);
	if (!ret)
		ret = tap_report_cuda_link(&report->cuda, link);
	return ret ? ret : tap_report_comms_link(&report->comms, link);
}

static int note_problem(void *data, const struct tap_problem *problem)
{
	struct report *report = data;
	int ret = tap_forward_problem(data, problem);

	return ret || !is_whole(report)
		       ? ret
		       : tap_checked_problem(&report->page->checked, problem);
}

static int note_defect(void *data, const struct tap_link *link)
{
	struct report *report = data;

	if (is_whole(report))
		tap_checked_defect(&report->page->checked,
				   &report->base.view.context->loss, link);
	return tap_forward_defect(data, link);
}

/* An operation with what each rank did for it, of the whole trace. */
static int note_collective(void *data, const struct tap_collective *collective)
{
	struct report *report = data;

	return tap_page_arrivals_add(&report->page->arrivals, report->base.view.context,
				     report->base.view.filters, collective);
}

/* By rank, then host, then process. */
static int compare_processes(const void *left, const void *right)
{
	const struct tap_process *a = *(const struct tap_process *const *) left;
	const struct tap_process *b = *(const struct tap_process *const *) right;
	int order;

	/* An unknown rank, -1, is the largest unsigned one. */
	order = tap_rows_compare((uint64_t) tap_process_rank(a),
				 (uint64_t) tap_process_rank(b));
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

	if (tap_process_rank(process) >= 0) {
		tap_ranks_add_one(line, tap_process_rank(process));
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
	struct tap_buffer *line = &report->base.view.line;
	int ret;

	if (process)
		add_process_text(line, process);
	else
		tap_buffer_add_string(line, "all processes");
	tap_buffer_add_char(line, '\n');
	ret = tap_report_calls_text(&report->calls, process, report->base.view.symbols,
				    line);
	tap_buffer_add_char(line, '\n');
	return ret;
}

/* ---- JSON ---- */

static int add_process_json(struct report *report, const struct tap_process *process)
{
	struct tap_json *json = &report->base.json;
	int ret;

	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "process", process->number);
	tap_json_string(json, "host", process->host);
	tap_json_not_negative(json, "pid", process->pid);
	tap_json_not_negative(json, "rank", tap_process_rank(process));
	tap_json_string(json, "command", tap_view_command(process));
	ret = tap_report_calls_json(&report->calls, process, report->base.view.symbols,
				    json);
	tap_json_close(json);
	return ret;
}

static void add_modules_json(struct report *report)
{
	struct tap_json *json = &report->base.json;
	const struct tap_module *module = tap_symbols_modules(report->base.view.symbols);

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
	struct tap_json *json = &report->base.json;
	size_t i;
	int ret;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "report");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_view_add_hosts_json(json, report->base.view.context);
	tap_filtered_add_json(json, &report->base.view);
	tap_view_add_snapshots_json(json, report->base.view.context);
	tap_overview_add_summary_json(json, &report->overview, report->base.view.context);
	tap_forward_add_json(&report->base);
	tap_overview_add_tables_json(json, &report->overview);
	tap_json_open(json, "processes", '[');
	for (i = 0; i < report->process_count; i++) {
		ret = add_process_json(report, report->processes[i]);
		if (ret)
			return ret;
	}
	tap_json_close(json);
	ret = tap_report_calls_json(&report->calls, NULL, report->base.view.symbols,
				    json);
	if (ret)
		return ret;
	if (report->base.view.symbols)
		add_modules_json(report);
	tap_report_comms_json(&report->comms, &report->base.view.context->comms, json);
	if (report->work.queues.count)
		tap_report_work_json(&report->work, json);
	if (report->net.connections.count)
		tap_report_net_json(&report->net, json);
	if (report->ascribed.functions.count)
		tap_report_ascribed_json(&report->ascribed, json);
	if (report->threads.roles.count)
		tap_report_threads_json(&report->threads, json);
	tap_report_transports_json(&report->transports, json);
	if (report->cuda.streams.count || report->cuda.calls.count)
		tap_report_cuda_json(&report->cuda, json);
	if (report->gpu.streams.count)
		tap_report_gpu_json(&report->gpu, json);
	tap_json_unsigned(json, "never_returned", report->overview.never_returned);
	tap_view_add_loss_json(json, loss, true);
	tap_json_end_line(json, &report->base.view.line);
	return 0;
}

static void add_never_returned(struct report *report)
{
	struct tap_buffer *line = &report->base.view.line;
	const uint64_t count = report->overview.never_returned;

	if (!count)
		return;
	tap_buffer_add_unsigned(line, count);
	tap_buffer_add_string(line, count == 1 ? " call" : " calls");
	tap_buffer_add_string(line, " never returned; ccltap timeline ends with them\n");
}

static int count_open(void *data, const struct tap_end_state *end_state)
{
	struct report *report = data;
	int ret = tap_forward_end_state(data, end_state);

	return ret ? ret : tap_overview_end_state(&report->overview, end_state);
}

static int add_all_calls_text(struct report *report)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < report->process_count; i++)
		ret = add_calls_text(report, report->processes[i]);
	if (!ret && report->process_count != 1)
		ret = add_calls_text(report, NULL);
	return ret;
}

static int write_tables(struct report *report, const struct tap_loss *loss)
{
	const unsigned int tables = report->base.view.settings.tables;
	struct tap_buffer *line = &report->base.view.line;
	int ret = 0;

	tap_filtered_add_text(line, &report->base.view);
	tap_view_add_snapshots_text(line, report->base.view.context);
	tap_view_add_clocks_text(line, report->base.view.context);
	if (line->used)
		tap_buffer_add_char(line, '\n');
	if (tables & TAP_TABLES_CALLS)
		ret = add_all_calls_text(report);
	if (tables & TAP_TABLES_COMM)
		tap_report_comms_text(&report->comms, &report->base.view.context->comms,
				      line);
	if (tables & TAP_TABLES_NET) {
		tap_report_calls_requests(&report->calls, line);
		tap_report_work_text(&report->work, line);
		tap_report_net_text(&report->net, line);
		tap_report_ascribed_text(&report->ascribed, line);
		tap_report_transports_text(&report->transports, line);
		tap_report_threads_text(&report->threads, line);
	}
	if (tables & TAP_TABLES_GPU) {
		tap_report_cuda_text(&report->cuda, line);
		tap_report_gpu_text(&report->gpu, line);
	}
	if (tables & TAP_TABLES_CALLS && report->base.view.symbols)
		tap_stack_add_modules_text(line, report->base.view.symbols);
	add_never_returned(report);
	tap_view_add_loss_text(line, loss);
	return ret;
}

static void sort(struct report *report)
{
	if (report->process_count)
		qsort(report->processes, report->process_count,
		      sizeof(*report->processes), compare_processes);
	tap_report_work_sort(&report->work);
	tap_report_net_sort(&report->net);
	tap_report_ascribed_sort(&report->ascribed);
	tap_report_threads_sort(&report->threads);
	tap_report_transports_sort(&report->transports);
	tap_report_cuda_sort(&report->cuda);
	tap_report_gpu_sort(&report->gpu);
}

static int write_page(struct report *report, const struct tap_screen *screen,
		      struct tap_diff *diff)
{
	const struct tap_page_content content = {.screen = screen,
						 .net = &report->net,
						 .processes = report->processes,
						 .process_count = report->process_count,
						 .diff = diff};

	return tap_page_write(report->page, &content, &report->base.view.line);
}

static void write_diff(struct report *report, const struct tap_diff *diff)
{
	const struct tap_view_settings *settings = &report->base.view.settings;
	struct tap_buffer *line = &report->base.view.line;
	struct tap_json *json = &report->base.json;

	if (!settings->is_json) {
		tap_diff_add_text(line, diff, settings->columns, settings->lines);
		return;
	}
	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "report-diff");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_diff_add_json(json, diff);
	tap_json_end_line(json, line);
}

/* Writes what the next reading is compared with, or compares with the one before. */
static int write_measures(struct report *report, const struct tap_screen *screen)
{
	struct tap_measures measures = {0};
	struct tap_diff diff = {0};
	int ret = tap_measures_take(&measures, report->base.findings, &report->overview,
				    &report->net);

	if (!ret && report->is_compared)
		ret = tap_diff_make(&diff, &report->before, &measures);
	if (!ret && !report->is_compared)
		tap_measures_write(&report->base.view.line, &measures);
	else if (!ret && report->page)
		ret = write_page(report, screen, &diff);
	else if (!ret)
		write_diff(report, &diff);
	tap_diff_free(&diff);
	tap_measures_free(&measures);
	return ret;
}

static int write_output(struct report *report, const struct tap_loss *loss)
{
	const struct tap_view_settings *settings = &report->base.view.settings;
	const struct tap_screen screen = {.view = &report->base.view,
					  .findings = report->base.findings,
					  .overview = &report->overview,
					  .calls = &report->calls,
					  .work = &report->work,
					  .loss = loss};

	if (report->is_compared || settings->is_baseline)
		return write_measures(report, &screen);
	if (report->page)
		return write_page(report, &screen, NULL);
	if (settings->is_json)
		return write_json(report, loss);
	if (settings->tables)
		return write_tables(report, loss);
	tap_screen_add(&report->base.view.line, &screen);
	return 0;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct report *report = data;
	const struct tap_context *context = report->base.view.context;
	int ret = tap_findings_conclude(report->base.findings, loss);

	if (!ret)
		ret = tap_report_comms_finish(&report->comms, &context->comms);
	if (!ret)
		ret = tap_report_calls_finish(&report->calls);
	if (!ret)
		ret = tap_report_net_take(&report->net, report->base.findings);
	if (ret)
		return ret;
	sort(report);
	ret = tap_overview_finish(&report->overview, context, report->base.findings,
				  &report->calls);
	if (ret)
		return ret;
	ret = write_output(report, loss);
	if (ret)
		return ret;
	return tap_outfile_finish(report->base.view.output, &report->base.view.line);
}

static void destroy(struct tap_view *view)
{
	struct report *report = (struct report *) view;

	free(report->processes);
	tap_overview_free(&report->overview);
	tap_measures_free(&report->before);
	if (report->page)
		tap_page_free(report->page);
	free(report->page);
	tap_report_calls_free(&report->calls);
	tap_report_comms_free(&report->comms);
	tap_report_work_free(&report->work);
	tap_report_net_free(&report->net);
	tap_report_ascribed_free(&report->ascribed);
	tap_report_threads_free(&report->threads);
	tap_report_transports_free(&report->transports);
	tap_report_cuda_free(&report->cuda);
	tap_report_gpu_free(&report->gpu);
	tap_forward_free(&report->base);
	free(report);
}

static const struct tap_consumer consumer = {
	.process = note_process,
	.library = note_library,
	.problem = note_problem,
	.sample = tap_forward_sample,
	.thread = tap_forward_thread,
	.nccl_thread = count_thread,
	.connection = count_connection,
	.communicator = tap_forward_communicator,
	.span_begun = begin_span,
	.span_ended = end_span,
	.link = count_link,
	.defect = note_defect,
	.end_state = count_open,
	.finish = finish,
};

/* With filters: the whole trace, for the findings and for what check says. */

static int all_problem(void *data, const struct tap_problem *problem)
{
	struct report *report = data;
	int ret = tap_forward_all.problem(data, problem);

	return ret || !report->page
		       ? ret
		       : tap_checked_problem(&report->page->checked, problem);
}

static int all_connection(void *data, const struct tap_nccl_connection *connection)
{
	struct report *report = data;

	if (report->page)
		tap_checked_connection(&report->page->checked, connection);
	return tap_forward_all.connection(data, connection);
}

static int all_link(void *data, const struct tap_link *link)
{
	struct report *report = data;

	if (report->page)
		tap_checked_link(&report->page->checked, link);
	return tap_forward_all.link(data, link);
}

static int all_defect(void *data, const struct tap_link *link)
{
	struct report *report = data;

	if (report->page)
		tap_checked_defect(&report->page->checked,
				   &report->base.view.context->loss, link);
	return tap_forward_all.defect(data, link);
}

struct tap_view *tap_report_create(void)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->base.view.consumer = &consumer;
	report->all = tap_forward_all;
	report->all.problem = all_problem;
	report->all.connection = all_connection;
	report->all.link = all_link;
	report->all.defect = all_defect;
	report->base.view.all = &report->all;
	report->base.view.destroy = destroy;
	report->base.findings = tap_findings_create(&report->base.view);
	if (report->base.findings)
		return &report->base.view;
	free(report);
	return NULL;
}

int tap_report_compare(struct tap_view *view, const char *path)
{
	struct report *report = (struct report *) view;

	report->is_compared = true;
	return tap_measures_read(&report->before, path);
}

int tap_report_make_page(struct tap_view *view, const char *folder, const char *title,
			 const char *baseline)
{
	struct report *report = (struct report *) view;

	report->page = calloc(1, sizeof(*report->page));
	if (!report->page)
		return -ENOMEM;
	tap_findings_watch(report->base.findings,
			   (struct tap_findings_watcher){note_collective, report});
	return tap_page_open(report->page, folder, title, baseline);
}

int tap_report_add_audit(struct tap_view *view, const char *path)
{
	return tap_page_add_audit(((struct report *) view)->page, path);
}
