/* SPDX-License-Identifier: MIT */
/* Sums, filled by spans as they end and by links. */
#include "join/report/report_cuda.h"

#include "join/model/stream.h"
#include "join/report/columns.h"
#include "join/report/kernels.h"
#include "join/report/times.h"
#include "join/views/view.h"

#include <errno.h>
#include <string.h>

/*
 * The stream of calls without one: a wait for an event or for all of a context, a copy
 * that blocks.
 */
#define NO_STREAM UINT64_MAX

struct tap_stream_sum {
	const struct tap_process *process;
	uint64_t stream;
	uint64_t kernels, graphs, functions, copies, bytes, memsets, others;
	uint64_t captured; /* of all these: only captured into a graph */
	uint64_t failed;   /* not included above */
	struct tap_times calls;
	struct tap_times waits;
	uint64_t open; /* waits that have not returned */
};

struct tap_launch_sum {
	const struct tap_process *process;
	const struct tap_name *name;
	uint64_t kernels, graphs, functions, copies, memsets;
	struct tap_spread delay; /* from the call to the launch */
};

static struct tap_stream_sum *stream_of(struct tap_report_cuda *report,
					const struct tap_process *process,
					uint64_t stream)
{
	struct tap_stream_sum *sum =
		tap_rows_get(&report->streams, process->number, stream, sizeof(*sum));

	if (sum) {
		sum->process = process;
		sum->stream = stream;
	}
	return sum;
}

static int count_kernel(struct tap_report_cuda *report, const struct tap_span *span)
{
	const char *name = tap_fields_get_string(&span->entry, "function");
	struct tap_buffer address = {0};
	struct tap_kernel_sum *sum = NULL;
	uint64_t function = 0;
	int ret;

	if (!name) {
		tap_call_get(span->name->row, TAP_ROLE_FUNCTION, &span->entry, &function);
		tap_buffer_add_hex(&address, function);
		tap_buffer_add_char(&address, '\0');
		if (address.is_short)
			return -ENOMEM;
		name = address.data;
	}
	ret = tap_kernels_get(&report->kernels, span->process, name, &sum);
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
		sum->memsets++;
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

	/* The entry has the call's arguments. */
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
	sum = tap_rows_get(&report->calls, call->process->number, call->name->number,
			   sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	sum->process = call->process;
	sum->name = call->name;
	sum->kernels += link->operation->cuda == TAP_CUDA_KERNEL;
	sum->graphs += link->operation->cuda == TAP_CUDA_GRAPH;
	sum->functions += link->operation->cuda == TAP_CUDA_HOST_FUNCTION;
	sum->copies += link->operation->cuda == TAP_CUDA_COPY;
	sum->memsets += link->operation->cuda == TAP_CUDA_SET;
	tap_spread_add(&sum->delay,
		       (int64_t) ((uint64_t) link->end_ns - (uint64_t) link->begin_ns));
	return 0;
}

static int compare_kernels(const void *left, const void *right)
{
	const struct tap_kernel_sum *a = *(const struct tap_kernel_sum *const *) left;
	const struct tap_kernel_sum *b = *(const struct tap_kernel_sum *const *) right;

	int order = tap_rows_compare(b->times.total_ns, a->times.total_ns);

	if (!order)
		order = tap_rows_compare(b->launches, a->launches);
	if (!order)
		order = tap_rows_compare(a->process->number, b->process->number);
	return order ? order : strcmp(a->name, b->name);
}

static int compare_streams(const void *left, const void *right)
{
	const struct tap_stream_sum *a = *(const struct tap_stream_sum *const *) left;
	const struct tap_stream_sum *b = *(const struct tap_stream_sum *const *) right;
	int order = tap_rows_compare(b->calls.total_ns, a->calls.total_ns);

	if (!order)
		order = tap_rows_compare(a->process->number, b->process->number);
	return order ? order : tap_rows_compare(a->stream, b->stream);
}

static int compare_launches(const void *left, const void *right)
{
	const struct tap_launch_sum *a = *(const struct tap_launch_sum *const *) left;
	const struct tap_launch_sum *b = *(const struct tap_launch_sum *const *) right;
	int order = tap_rows_compare((uint64_t) tap_spread_max(&b->delay),
				     (uint64_t) tap_spread_max(&a->delay));

	if (!order)
		order = tap_rows_compare(a->process->number, b->process->number);
	return order ? order : strcmp(a->name->name, b->name->name);
}

void tap_report_cuda_sort(struct tap_report_cuda *report)
{
	tap_rows_sort(&report->streams, compare_streams);
	tap_rows_sort(&report->kernels, compare_kernels);
	tap_rows_sort(&report->calls, compare_launches);
}

/* ---- Streams ---- */

static void add_stream(struct tap_buffer *line, const void *row)
{
	const struct tap_stream_sum *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
	if (sum->stream == NO_STREAM) {
		tap_buffer_add_string(line, " no stream");
	} else {
		tap_buffer_add_string(line, " stream ");
		tap_cuda_add_stream(line, sum->stream);
	}
}

/* Adds nothing where there is no stream. */
static void add_stream_name(struct tap_buffer *text, const void *row)
{
	const struct tap_stream_sum *sum = row;

	if (sum->stream != NO_STREAM)
		tap_cuda_add_stream(text, sum->stream);
}

/* Time in calls that do not wait. */
static struct tap_value in_calls(const struct tap_column *column, const void *row)
{
	const struct tap_stream_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = sum->calls.timed == sum->waits.timed,
				  .number = sum->calls.total_ns - sum->waits.total_ns};
}

#define STREAM(key, header, width, member) \
	TAP_COLUMN(key, header, width, TAP_UNIT_COUNT, struct tap_stream_sum, member)
#define STREAM_NS(key, member) \
	TAP_COLUMN(key, NULL, 0, TAP_UNIT_DURATION, struct tap_stream_sum, member)

static const struct tap_column stream_columns[] = {
	TAP_COLUMN_TEXT(NULL, "CUDA streams", 34, add_stream),
	TAP_COLUMN_PROCESS("process", struct tap_stream_sum, process),
	TAP_COLUMN_TEXT("stream", NULL, 0, add_stream_name),
	STREAM("kernels", "kernels", 10, kernels),
	STREAM("graphs", "graphs", 8, graphs),
	STREAM("host_functions", NULL, 0, functions),
	STREAM("copies", "copies", 9, copies),
	TAP_COLUMN("bytes", "bytes", 14, TAP_UNIT_BYTES, struct tap_stream_sum, bytes),
	STREAM("memsets", "memsets", 8, memsets),
	STREAM("others", NULL, 0, others),
	STREAM("captured", "captured", 9, captured),
	STREAM("failed", "failed", 8, failed),
	TAP_COLUMN_VALUE(NULL, "in calls", 13, TAP_UNIT_DURATION, in_calls),
	STREAM_NS("in_calls_ns", calls.total_ns),
	STREAM("waits", NULL, 0, waits.timed),
	TAP_COLUMN_TOTAL("waited", struct tap_stream_sum, waits),
	STREAM_NS("waited_ns", waits.total_ns),
	STREAM("waits_open", "open", 6, open),
	TAP_COLUMNS_END,
};

/* ---- Kernels ---- */

static const struct tap_column kernel_columns[] = {
	TAP_COLUMN_TEXT(NULL, "kernels", 34, tap_kernels_add_process),
	TAP_COLUMN_PROCESS("process", struct tap_kernel_sum, process),
	TAP_COLUMN_NAME("function", NULL, 0, struct tap_kernel_sum, name),
	TAP_COLUMN("launches", "launches", 10, TAP_UNIT_COUNT, struct tap_kernel_sum,
		   launches),
	TAP_COLUMN("captured", "captured", 9, TAP_UNIT_COUNT, struct tap_kernel_sum,
		   captured),
	TAP_COLUMN_PART(NULL, tap_times_columns, struct tap_kernel_sum, times),
	TAP_COLUMN_TEXT(NULL, "function", 0, tap_kernels_add_function),
	TAP_COLUMNS_END,
};

/* ---- Launches inside calls ---- */

static void add_call(struct tap_buffer *line, const void *row)
{
	const struct tap_launch_sum *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
	tap_buffer_add_char(line, ' ');
	tap_buffer_add_visible(line, sum->name->name);
}

#define LAUNCH(key, header, width, member) \
	TAP_COLUMN(key, header, width, TAP_UNIT_COUNT, struct tap_launch_sum, member)
#define DELAY(header, width, percent) \
	TAP_COLUMN_PERCENTILE(NULL, header, width, percent, struct tap_launch_sum, delay)

static const struct tap_column call_columns[] = {
	TAP_COLUMN_TEXT(NULL, "launches inside calls", 41, add_call),
	TAP_COLUMN_PROCESS("process", struct tap_launch_sum, process),
	TAP_COLUMN_LAYER("layer", struct tap_launch_sum, name),
	TAP_COLUMN_CALL("name", struct tap_launch_sum, name),
	LAUNCH("kernels", "kernels", 10, kernels),
	LAUNCH("graphs", "graphs", 8, graphs),
	LAUNCH("host_functions", NULL, 0, functions),
	LAUNCH("copies", "copies", 8, copies),
	LAUNCH("memsets", "memsets", 8, memsets),
	DELAY("call-launch", 14, 50),
	DELAY("p99", 13, 99),
	DELAY("max", 13, 100),
	TAP_COLUMN_PART("call_to_launch", tap_spread_columns, struct tap_launch_sum,
			delay),
	TAP_COLUMNS_END,
};

void tap_report_cuda_text(const struct tap_report_cuda *report, struct tap_buffer *line)
{
	tap_columns_add_section(line, stream_columns, &report->streams);
	tap_kernels_add_text(&report->kernels, line, kernel_columns);
	tap_columns_add_section(line, call_columns, &report->calls);
}

void tap_report_cuda_json(const struct tap_report_cuda *report, struct tap_json *json)
{
	tap_json_open(json, "cuda", '{');
	tap_columns_add_json(json, "streams", stream_columns, &report->streams);
	tap_columns_add_json(json, "kernels", kernel_columns, &report->kernels);
	tap_json_unsigned(json, "other_launches", report->other_launches);
	tap_columns_add_json(json, "launches", call_columns, &report->calls);
	tap_json_close(json);
}

void tap_report_cuda_free(struct tap_report_cuda *report)
{
	tap_rows_free(&report->streams);
	tap_kernels_free(&report->kernels);
	tap_rows_free(&report->calls);
}
