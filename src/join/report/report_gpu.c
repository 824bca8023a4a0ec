/* SPDX-License-Identifier: MIT */
/* Three tables; a kernel counts in its stream's row and in a row of one other table. */
#include "join/report/report_gpu.h"

#include "join/model/comm.h"
#include "join/report/columns.h"
#include "join/report/kernels.h"
#include "join/report/times.h"
#include "join/views/view.h"

#include <errno.h>
#include <string.h>

/*
 * The most streams, and the most collectives, with rows of their own; others are counted
 * together.
 */
#define SUMS_MAX 65536

/* The times that lead to a kernel, and its own. */
enum { IN_CALL, TO_LAUNCH, IN_LAUNCH, IN_QUEUE, RUNNING, TIMES };

struct tap_gpu_stream {
	const struct tap_process *process;
	uint64_t device, stream;
	uint64_t kernels, nccl, copies, bytes, memsets;
	struct tap_times times;
};

/* The sum of a collective. */
struct tap_gpu_call {
	const struct tap_process *process;
	const struct tap_member *member; /* NULL unknown */
	const struct tap_name *call;
	struct tap_times times;
	struct tap_spread spreads[TIMES];
};

static void count(struct tap_gpu_stream *sum, const struct tap_span *span)
{
	uint64_t bytes = 0;

	tap_times_add(&sum->times, span);
	sum->nccl += span->gpu.is_nccl;
	if (!strcmp(span->name->name, "kernel")) {
		sum->kernels++;
	} else if (!strcmp(span->name->name, "memset")) {
		sum->memsets++;
	} else {
		sum->copies++;
		tap_fields_get_unsigned(&span->entry, "bytes", &bytes);
		sum->bytes += bytes;
	}
}

/*
 * Gets the row of a pair into *sum, NULL when there are too many.  Returns 0 or -ENOMEM.
 */
static int get(struct tap_report_gpu *report, struct tap_rows *rows, uint64_t a,
	       uint64_t b, size_t size, void **sum)
{
	*sum = tap_rows_find(rows, a, b);
	if (*sum)
		return 0;
	if (rows->count == SUMS_MAX) {
		report->others++;
		return 0;
	}
	*sum = tap_rows_add(rows, a, b, size);
	return *sum ? 0 : -ENOMEM;
}

static int count_stream(struct tap_report_gpu *report, const struct tap_span *span)
{
	const uint64_t key = span->work.run.device << 32 | (span->work.run.stream & UINT32_MAX);
	struct tap_gpu_stream *sum;
	void *row;
	int ret = get(report, &report->streams, span->process->number, key, sizeof(*sum),
		      &row);

	if (!row)
		return ret;
	sum = row;
	sum->process = span->process;
	sum->device = span->work.run.device;
	sum->stream = span->work.run.stream;
	count(sum, span);
	return 0;
}

static int count_kernel(struct tap_report_gpu *report, const struct tap_span *span)
{
	const char *name = tap_fields_get_string(&span->entry, "function");
	struct tap_kernel_sum *sum;
	int ret;

	if (span->gpu.is_nccl || strcmp(span->name->name, "kernel"))
		return 0;
	ret = tap_kernels_get(&report->kernels, span->process, name ? name : "?", &sum);
	if (ret)
		return ret;
	if (!sum) {
		report->others++;
		return 0;
	}
	sum->launches++;
	tap_times_add(&sum->times, span);
	return 0;
}

static void count_times(struct tap_gpu_call *sum, const struct tap_span *span)
{
	const struct tap_run *run = &span->gpu;

	if (run->has_call) {
		tap_spread_add(&sum->spreads[IN_CALL], run->call_ns);
		tap_spread_add(&sum->spreads[TO_LAUNCH], run->to_launch_ns);
	}
	if (run->has_launch) {
		tap_spread_add(&sum->spreads[IN_LAUNCH], run->launch_ns);
		tap_spread_add(&sum->spreads[IN_QUEUE], run->queue_ns);
	}
	tap_spread_add(&sum->spreads[RUNNING], tap_span_duration(span));
}

static int count_call(struct tap_report_gpu *report, const struct tap_span *span)
{
	const struct tap_name *call = span->gpu.call;
	const uint64_t key = span->member ? (uint64_t) span->member->number << 1 | 1
					  : (uint64_t) span->process->number << 1;
	struct tap_gpu_call *sum;
	void *row;
	int ret;

	if (!call)
		return 0;
	ret = get(report, &report->calls, key, call->number, sizeof(*sum), &row);
	if (!row)
		return ret;
	sum = row;
	sum->process = span->process;
	sum->member = span->member;
	sum->call = call;
	tap_times_add(&sum->times, span);
	count_times(sum, span);
	return 0;
}

int tap_report_gpu_end(struct tap_report_gpu *report, const struct tap_span *span)
{
	int ret = count_stream(report, span);

	if (!ret)
		ret = count_kernel(report, span);
	return ret ? ret : count_call(report, span);
}

/* ---- Order: by process; what was busiest first ---- */

static int compare_times(const struct tap_process *a, const struct tap_times *a_times,
			 const struct tap_process *b, const struct tap_times *b_times)
{
	const int order = tap_rows_compare(a->number, b->number);

	return order ? order : tap_rows_compare(b_times->total_ns, a_times->total_ns);
}

static int compare_streams(const void *left, const void *right)
{
	const struct tap_gpu_stream *a = *(const struct tap_gpu_stream *const *) left;
	const struct tap_gpu_stream *b = *(const struct tap_gpu_stream *const *) right;
	int order = compare_times(a->process, &a->times, b->process, &b->times);

	if (!order)
		order = tap_rows_compare(a->device, b->device);
	return order ? order : tap_rows_compare(a->stream, b->stream);
}

static int compare_kernels(const void *left, const void *right)
{
	const struct tap_kernel_sum *a = *(const struct tap_kernel_sum *const *) left;
	const struct tap_kernel_sum *b = *(const struct tap_kernel_sum *const *) right;
	const int order = compare_times(a->process, &a->times, b->process, &b->times);

	return order ? order : strcmp(a->name, b->name);
}

static int compare_calls(const void *left, const void *right)
{
	const struct tap_gpu_call *a = *(const struct tap_gpu_call *const *) left;
	const struct tap_gpu_call *b = *(const struct tap_gpu_call *const *) right;
	int order = compare_times(a->process, &a->times, b->process, &b->times);

	if (!order && a->call != b->call)
		order = strcmp(a->call->name, b->call->name);
	if (order)
		return order;
	return a->member && b->member && a->member->number < b->member->number ? -1 : 1;
}

void tap_report_gpu_sort(struct tap_report_gpu *report)
{
	tap_rows_sort(&report->streams, compare_streams);
	tap_rows_sort(&report->kernels, compare_kernels);
	tap_rows_sort(&report->calls, compare_calls);
}

/* ---- Collectives ---- */

static uint64_t key_of(const struct tap_gpu_call *sum)
{
	return sum->member ? tap_member_comm(sum->member)->key : 0;
}

static void add_call(struct tap_buffer *line, const void *row)
{
	const struct tap_gpu_call *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
	tap_buffer_add_char(line, ' ');
	tap_view_add_key(line, key_of(sum));
	tap_buffer_add_char(line, ' ');
	tap_buffer_add_visible(line, sum->call->name);
}

static struct tap_value comm_key(const struct tap_column *column, const void *row)
{
	const uint64_t key = key_of(row);

	(void) column;
	return (struct tap_value){.is_unknown = !key, .number = key};
}

static struct tap_value comm_rank(const struct tap_column *column, const void *row)
{
	const struct tap_gpu_call *sum = row;

	(void) column;
	return tap_value_not_negative(sum->member ? sum->member->rank : -1);
}

static const struct tap_column spread_columns[] = {
	TAP_COLUMN("count", NULL, 0, TAP_UNIT_COUNT, struct tap_spread, count),
	TAP_COLUMNS_OF(tap_spread_columns),
	TAP_COLUMNS_END,
};

#define MEDIAN(header, time) \
	TAP_COLUMN_PERCENTILE(NULL, header, 13, 50, struct tap_gpu_call, spreads[time])
#define SPREAD(key, time) \
	TAP_COLUMN_PART(key, spread_columns, struct tap_gpu_call, spreads[time])

static const struct tap_column call_columns[] = {
	TAP_COLUMN_TEXT(NULL, "collectives on the GPU, medians", 41, add_call),
	TAP_COLUMN_PROCESS("process", struct tap_gpu_call, process),
	TAP_COLUMN_VALUE("comm_key", NULL, 0, TAP_UNIT_HEX, comm_key),
	TAP_COLUMN_VALUE("comm_rank", NULL, 0, TAP_UNIT_COUNT, comm_rank),
	TAP_COLUMN_CALL("name", struct tap_gpu_call, call),
	TAP_COLUMN("kernels", "kernels", 10, TAP_UNIT_COUNT, struct tap_gpu_call,
		   times.timed),
	TAP_COLUMN("total_ns", NULL, 0, TAP_UNIT_DURATION, struct tap_gpu_call,
		   times.total_ns),
	MEDIAN("call", IN_CALL),
	MEDIAN("call-launch", TO_LAUNCH),
	MEDIAN("launch", IN_LAUNCH),
	MEDIAN("queue", IN_QUEUE),
	MEDIAN("kernel", RUNNING),
	TAP_COLUMN_PERCENTILE(NULL, "kernel max", 13, 100, struct tap_gpu_call,
			      spreads[RUNNING]),
	SPREAD("call", IN_CALL),
	SPREAD("call_to_launch", TO_LAUNCH),
	SPREAD("launch", IN_LAUNCH),
	SPREAD("queue", IN_QUEUE),
	SPREAD("kernel", RUNNING),
	TAP_COLUMNS_END,
};

/* ---- Streams ---- */

static void add_stream(struct tap_buffer *line, const void *row)
{
	const struct tap_gpu_stream *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
	tap_buffer_add_string(line, " gpu ");
	tap_buffer_add_unsigned(line, sum->device);
	tap_buffer_add_string(line, " stream ");
	tap_buffer_add_unsigned(line, sum->stream);
}

#define STREAM(key, header, width, member) \
	TAP_COLUMN(key, header, width, TAP_UNIT_COUNT, struct tap_gpu_stream, member)

static const struct tap_column stream_columns[] = {
	TAP_COLUMN_TEXT(NULL, "GPU streams", 34, add_stream),
	TAP_COLUMN_PROCESS("process", struct tap_gpu_stream, process),
	STREAM("device", NULL, 0, device),
	STREAM("stream", NULL, 0, stream),
	STREAM("kernels", "kernels", 10, kernels),
	STREAM("nccl", "NCCL's", 9, nccl),
	STREAM("copies", "copies", 9, copies),
	TAP_COLUMN("bytes", "bytes", 14, TAP_UNIT_BYTES, struct tap_gpu_stream, bytes),
	STREAM("memsets", "memsets", 8, memsets),
	TAP_COLUMN_PART(NULL, tap_times_columns, struct tap_gpu_stream, times),
	TAP_COLUMNS_END,
};

/* ---- Kernels ---- */

static const struct tap_column kernel_columns[] = {
	TAP_COLUMN_TEXT(NULL, "kernels that are not NCCL's", 34, tap_kernels_add_process),
	TAP_COLUMN_PROCESS("process", struct tap_kernel_sum, process),
	TAP_COLUMN_NAME("function", NULL, 0, struct tap_kernel_sum, name),
	TAP_COLUMN("kernels", "kernels", 10, TAP_UNIT_COUNT, struct tap_kernel_sum,
		   launches),
	TAP_COLUMN_PART(NULL, tap_times_columns, struct tap_kernel_sum, times),
	TAP_COLUMN_TEXT(NULL, "function", 0, tap_kernels_add_function),
	TAP_COLUMNS_END,
};

void tap_report_gpu_text(const struct tap_report_gpu *report, struct tap_buffer *line)
{
	tap_columns_add_section(line, call_columns, &report->calls);
	tap_columns_add_section(line, stream_columns, &report->streams);
	tap_kernels_add_text(&report->kernels, line, kernel_columns);
}

void tap_report_gpu_json(const struct tap_report_gpu *report, struct tap_json *json)
{
	tap_json_open(json, "gpu", '{');
	tap_columns_add_json(json, "collectives", call_columns, &report->calls);
	tap_columns_add_json(json, "streams", stream_columns, &report->streams);
	tap_columns_add_json(json, "kernels", kernel_columns, &report->kernels);
	tap_json_unsigned(json, "others", report->others);
	tap_json_close(json);
}

void tap_report_gpu_free(struct tap_report_gpu *report)
{
	tap_rows_free(&report->streams);
	tap_kernels_free(&report->kernels);
	tap_rows_free(&report->calls);
}
