/* SPDX-License-Identifier: MIT */
/* Sums, filled by spans as they end and by links. */
#include "join/report/report_cuda.h"

#include "join/model/stream.h"
#include "join/report/report_work.h"
#include "join/base/spread.h"
#include "join/report/times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Kernels that are told apart; launches of others are counted together. */
#define KERNELS_MAX 65536

/* Lines of the text; the JSON has all. */
#define KERNEL_LINES 40

/* What has no stream: a wait for an event, for all of a context, a copy that blocks. */
#define NO_STREAM UINT64_MAX

struct tap_stream_sum {
	const struct tap_process *process;
	uint64_t stream;
	uint64_t kernels, graphs, functions, copies, bytes, sets, others;
	uint64_t captured; /* of all these: put into a graph and not done */
	uint64_t failed;   /* not among them */
	struct tap_times calls;
	struct tap_times waits;
	uint64_t open; /* waits that have not returned */
	struct tap_stream_sum *next;
};

struct tap_kernel_sum {
	const struct tap_process *process;
	char *name; /* or its address */
	uint64_t launches;
	uint64_t captured;
	struct tap_times times;
	struct tap_kernel_sum *next; /* with the same hash */
};

struct tap_launch_sum {
	const struct tap_process *process;
	const struct tap_name *name;
	uint64_t kernels, graphs, functions, copies, sets;
	struct tap_spread delay; /* from the call to the launch */
	struct tap_launch_sum *next;
};

static struct tap_stream_sum *stream_of(struct tap_report_cuda *report,
					const struct tap_process *process,
					uint64_t stream)
{
	struct tap_stream_sum *sum =
		tap_table_find(&report->by_stream, process->number, stream);

	if (sum)
		return sum;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	if (tap_table_set(&report->by_stream, process->number, stream, sum)) {
		free(sum);
		return NULL;
	}
	sum->process = process;
	sum->stream = stream;
	if (!report->streams)
		report->streams_end = &report->streams;
	*report->streams_end = sum;
	report->streams_end = &sum->next;
	return sum;
}

static int find_kernel(struct tap_report_cuda *report, const struct tap_process *process,
		       const char *name, struct tap_kernel_sum **ret)
{
	const uint64_t hash = tap_table_hash(name);
	struct tap_kernel_sum *first =
		tap_table_find(&report->by_kernel, process->number, hash);
	struct tap_kernel_sum *sum = first, **kernels;

	while (sum && strcmp(sum->name, name))
		sum = sum->next;
	*ret = sum;
	if (sum || report->kernel_count == KERNELS_MAX)
		return 0;
	if (report->kernel_count == report->kernel_room) {
		const size_t room = report->kernel_room ? report->kernel_room * 2 : 16;

		kernels =
			realloc(report->kernels, room * sizeof(struct tap_kernel_sum *));
		if (!kernels)
			return -ENOMEM;
		report->kernels = kernels;
		report->kernel_room = room;
	}
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	sum->name = strdup(name);
	if (!sum->name || tap_table_set(&report->by_kernel, process->number, hash, sum)) {
		free(sum->name);
		free(sum);
		return -ENOMEM;
	}
	sum->process = process;
	sum->next = first;
	report->kernels[report->kernel_count++] = sum;
	*ret = sum;
	return 0;
}

static int count_kernel(struct tap_report_cuda *report, const struct tap_span *span)
{
	const char *name = tap_fields_get_string(&span->entry, "function");
	struct tap_buffer address = {0};
	struct tap_kernel_sum *sum = NULL;
	uint64_t function = 0;
	int ret;

	if (!name) {
		tap_call_get(span->name->row, TAP_ROLE_FUNCTION, &span->entry,
			     &function);
		tap_buffer_add_hex(&address, function);
		tap_buffer_add_char(&address, '\0');
		if (address.is_short)
			return -ENOMEM;
		name = address.data;
	}
	ret = find_kernel(report, span->process, name, &sum);
	if (sum) {
		sum->launches++;
		sum->captured += tap_cuda_is_captured(span);
		tap_times_add(&sum->times, span);
	} else {
		report->other_launches++;
	}
	tap_buffer_free(&address);
	return ret;
}

static void count_work(struct tap_stream_sum *sum, const struct tap_span *span)
{
	const int64_t bytes = tap_cuda_bytes(span);

	switch (span->name->cuda) {
	case TAP_CUDA_KERNEL:
		sum->kernels++;
		break;
	case TAP_CUDA_GRAPH:
		sum->graphs++;
		break;
	case TAP_CUDA_HOST_FUNCTION:
		sum->functions++;
		break;
	case TAP_CUDA_COPY:
		sum->copies++;
		if (bytes > 0)
			sum->bytes += (uint64_t) bytes;
		break;
	case TAP_CUDA_SET:
		sum->sets++;
		break;
	case TAP_CUDA_SYNCHRONIZE:
		break;
	default:
		sum->others++;
	}
	sum->captured += tap_cuda_is_captured(span);
}

int tap_report_cuda_end(struct tap_report_cuda *report, const struct tap_span *span)
{
	const bool is_failed = tap_span_is_failure(tap_span_result(span));
	struct tap_stream_sum *sum;
	uint64_t stream;

	/* What the call is about is told by its entry. */
	if (!span->name->cuda || span->state == TAP_SPAN_BEGIN_LOST)
		return 0;
	if (!tap_cuda_stream(span, &stream)) {
		if (!tap_name_is_work(span->name) && !span->name->is_cuda_wait)
			return 0;
		stream = NO_STREAM;
	}
	sum = stream_of(report, span->process, stream);
	if (!sum)
		return -ENOMEM;
	tap_times_add(&sum->calls, span);
	if (span->name->is_cuda_wait) {
		tap_times_add(&sum->waits, span);
		sum->open += span->state == TAP_SPAN_OPEN;
	}
	if (is_failed) {
		sum->failed++;
		return 0;
	}
	count_work(sum, span);
	return span->name->cuda == TAP_CUDA_KERNEL ? count_kernel(report, span) : 0;
}

int tap_report_cuda_link(struct tap_report_cuda *report, const struct tap_link *link)
{
	const struct tap_link_end *call = &link->ends[0];
	struct tap_launch_sum *sum;

	if (link->kind != TAP_LINK_API_LAUNCH)
		return 0;
	sum = tap_table_find(&report->by_call, call->process->number, call->name->number);
	if (!sum) {
		sum = calloc(1, sizeof(*sum));
		if (!sum)
			return -ENOMEM;
		if (tap_table_set(&report->by_call, call->process->number,
				  call->name->number, sum)) {
			free(sum);
			return -ENOMEM;
		}
		sum->process = call->process;
		sum->name = call->name;
		if (!report->calls)
			report->calls_end = &report->calls;
		*report->calls_end = sum;
		report->calls_end = &sum->next;
	}
	sum->kernels += link->operation->cuda == TAP_CUDA_KERNEL;
	sum->graphs += link->operation->cuda == TAP_CUDA_GRAPH;
	sum->functions += link->operation->cuda == TAP_CUDA_HOST_FUNCTION;
	sum->copies += link->operation->cuda == TAP_CUDA_COPY;
	sum->sets += link->operation->cuda == TAP_CUDA_SET;
	tap_spread_add(&sum->delay,
		       (int64_t) ((uint64_t) link->end_ns - (uint64_t) link->begin_ns));
	return 0;
}

static int compare_kernels(const void *left, const void *right)
{
	const struct tap_kernel_sum *a = *(const struct tap_kernel_sum *const *) left;
	const struct tap_kernel_sum *b = *(const struct tap_kernel_sum *const *) right;

	if (a->process != b->process)
		return a->process->number < b->process->number ? -1 : 1;
	if (a->launches != b->launches)
		return a->launches > b->launches ? -1 : 1;
	return strcmp(a->name, b->name);
}

void tap_report_cuda_sort(struct tap_report_cuda *report)
{
	if (report->kernel_count)
		qsort(report->kernels, report->kernel_count,
		      sizeof(struct tap_kernel_sum *), compare_kernels);
}

/* ---- Text ---- */

static void add_total(struct tap_buffer *line, const struct tap_times *times)
{
	tap_report_work_add_duration(line, times->timed ? (int64_t) times->total_ns : -1);
}

static void add_streams(const struct tap_report_cuda *report, struct tap_buffer *line)
{
	const struct tap_stream_sum *sum;
	size_t start = line->used;

	tap_buffer_add_string(line, "CUDA streams");
	tap_buffer_fill(line, start, 36, ' ');
	tap_buffer_add_string(line,
			      " kernels  graphs   copies         bytes    sets"
			      " captured  failed     in calls       waited  open\n");
	for (sum = report->streams; sum; sum = sum->next) {
		start = line->used;
		tap_buffer_add_string(line, "  ");
		tap_report_work_add_process(line, sum->process);
		if (sum->stream == NO_STREAM) {
			tap_buffer_add_string(line, " no stream");
		} else {
			tap_buffer_add_string(line, " stream ");
			tap_cuda_add_stream(line, sum->stream);
		}
		tap_buffer_fill(line, start, 34, ' ');
		tap_view_add_cell(line, sum->kernels, 10);
		tap_view_add_cell(line, sum->graphs, 8);
		tap_view_add_cell(line, sum->copies, 9);
		tap_view_add_cell(line, sum->bytes, 14);
		tap_view_add_cell(line, sum->sets, 8);
		tap_view_add_cell(line, sum->captured, 9);
		tap_view_add_cell(line, sum->failed, 8);
		add_total(line, &sum->calls);
		add_total(line, &sum->waits);
		tap_view_add_cell(line, sum->open, 6);
		tap_buffer_add_char(line, '\n');
	}
	tap_buffer_add_char(line, '\n');
}

static void add_kernels(const struct tap_report_cuda *report, struct tap_buffer *line)
{
	size_t start = line->used, i;

	tap_buffer_add_string(line, "kernels");
	tap_buffer_fill(line, start, 36, ' ');
	tap_buffer_add_string(line, "launches captured        total         mean"
				    "          max  function\n");
	for (i = 0; i < report->kernel_count && i < KERNEL_LINES; i++) {
		const struct tap_kernel_sum *sum = report->kernels[i];

		start = line->used;
		tap_buffer_add_string(line, "  ");
		tap_report_work_add_process(line, sum->process);
		tap_buffer_fill(line, start, 34, ' ');
		tap_view_add_cell(line, sum->launches, 10);
		tap_view_add_cell(line, sum->captured, 9);
		tap_times_write(&sum->times, line);
		tap_buffer_add_string(line, "  ");
		tap_buffer_add_visible(line, sum->name);
		tap_buffer_add_char(line, '\n');
	}
	if (i < report->kernel_count) {
		tap_buffer_add_string(line, "  and ");
		tap_buffer_add_unsigned(line, report->kernel_count - i);
		tap_buffer_add_string(line, " more kernels\n");
	}
	tap_buffer_add_char(line, '\n');
}

static void add_calls(const struct tap_report_cuda *report, struct tap_buffer *line)
{
	const struct tap_launch_sum *sum;
	size_t start = line->used;

	tap_buffer_add_string(line, "launches inside calls");
	tap_buffer_fill(line, start, 44, ' ');
	tap_buffer_add_string(line, "kernels  graphs  copies    sets   call-launch"
				    "          p99          max\n");
	for (sum = report->calls; sum; sum = sum->next) {
		start = line->used;
		tap_buffer_add_string(line, "  ");
		tap_report_work_add_process(line, sum->process);
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_visible(line, sum->name->name);
		tap_buffer_fill(line, start, 41, ' ');
		tap_view_add_cell(line, sum->kernels, 10);
		tap_view_add_cell(line, sum->graphs, 8);
		tap_view_add_cell(line, sum->copies, 8);
		tap_view_add_cell(line, sum->sets, 8);
		tap_buffer_add_char(line, ' ');
		tap_report_work_add_percentile(line, &sum->delay, 50);
		tap_report_work_add_percentile(line, &sum->delay, 99);
		tap_report_work_add_duration(line, tap_spread_max(&sum->delay));
		tap_buffer_add_char(line, '\n');
	}
	tap_buffer_add_char(line, '\n');
}

void tap_report_cuda_text(const struct tap_report_cuda *report, struct tap_buffer *line)
{
	if (report->streams)
		add_streams(report, line);
	if (report->kernel_count)
		add_kernels(report, line);
	if (report->calls)
		add_calls(report, line);
}

/* ---- JSON ---- */

static void add_stream_json(struct tap_json *json, const struct tap_stream_sum *sum)
{
	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "process", sum->process->number);
	if (sum->stream == NO_STREAM) {
		tap_json_null(json, "stream");
	} else {
		tap_cuda_add_stream(&json->text, sum->stream);
		tap_json_text(json, "stream");
	}
	tap_json_unsigned(json, "kernels", sum->kernels);
	tap_json_unsigned(json, "graphs", sum->graphs);
	tap_json_unsigned(json, "host_functions", sum->functions);
	tap_json_unsigned(json, "copies", sum->copies);
	tap_json_unsigned(json, "bytes", sum->bytes);
	tap_json_unsigned(json, "sets", sum->sets);
	tap_json_unsigned(json, "others", sum->others);
	tap_json_unsigned(json, "captured", sum->captured);
	tap_json_unsigned(json, "failed", sum->failed);
	tap_json_unsigned(json, "in_calls_ns", sum->calls.total_ns);
	tap_json_unsigned(json, "waits", sum->waits.timed);
	tap_json_unsigned(json, "waited_ns", sum->waits.total_ns);
	tap_json_unsigned(json, "waits_open", sum->open);
	tap_json_close(json);
}

static void add_call_json(struct tap_json *json, const struct tap_launch_sum *sum)
{
	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "process", sum->process->number);
	tap_json_string(json, "layer", sum->name->layer);
	tap_json_string(json, "name", sum->name->name);
	tap_json_unsigned(json, "kernels", sum->kernels);
	tap_json_unsigned(json, "graphs", sum->graphs);
	tap_json_unsigned(json, "host_functions", sum->functions);
	tap_json_unsigned(json, "copies", sum->copies);
	tap_json_unsigned(json, "sets", sum->sets);
	tap_json_open(json, "call_to_launch", '{');
	tap_json_not_negative(json, "p50_ns", tap_spread_percentile(&sum->delay, 50));
	tap_json_not_negative(json, "p99_ns", tap_spread_percentile(&sum->delay, 99));
	tap_json_not_negative(json, "max_ns", tap_spread_max(&sum->delay));
	tap_json_close(json);
	tap_json_close(json);
}

void tap_report_cuda_json(const struct tap_report_cuda *report, struct tap_json *json)
{
	const struct tap_stream_sum *stream;
	const struct tap_launch_sum *call;
	size_t i;

	tap_json_open(json, "cuda", '{');
	tap_json_open(json, "streams", '[');
	for (stream = report->streams; stream; stream = stream->next)
		add_stream_json(json, stream);
	tap_json_close(json);
	tap_json_open(json, "kernels", '[');
	for (i = 0; i < report->kernel_count; i++) {
		const struct tap_kernel_sum *kernel = report->kernels[i];

		tap_json_open(json, NULL, '{');
		tap_json_unsigned(json, "process", kernel->process->number);
		tap_json_string(json, "function", kernel->name);
		tap_json_unsigned(json, "launches", kernel->launches);
		tap_json_unsigned(json, "captured", kernel->captured);
		tap_times_write_json(&kernel->times, json);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_launches", report->other_launches);
	tap_json_open(json, "launches", '[');
	for (call = report->calls; call; call = call->next)
		add_call_json(json, call);
	tap_json_close(json);
	tap_json_close(json);
}

void tap_report_cuda_free(struct tap_report_cuda *report)
{
	struct tap_stream_sum *stream;
	struct tap_launch_sum *call;
	size_t i;

	while ((stream = report->streams)) {
		report->streams = stream->next;
		free(stream);
	}
	while ((call = report->calls)) {
		report->calls = call->next;
		free(call);
	}
	for (i = 0; i < report->kernel_count; i++) {
		free(report->kernels[i]->name);
		free(report->kernels[i]);
	}
	free(report->kernels);
	tap_table_free(&report->by_stream);
	tap_table_free(&report->by_kernel);
	tap_table_free(&report->by_call);
}
