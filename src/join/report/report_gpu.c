/* SPDX-License-Identifier: MIT */
/* One kind of sum for streams, kernels and collectives, which differ in what they show.
 */
#include "join/report/report_gpu.h"

#include "join/model/comm.h"
#include "join/report/report_work.h"
#include "join/base/spread.h"
#include "join/report/times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of each kind, told apart; others are counted together. */
#define SUMS_MAX 65536

/* Lines of the text; the JSON has all. */
#define KERNEL_LINES 40

/* The times that lead to a kernel, and its own. */
enum { IN_CALL, TO_LAUNCH, IN_LAUNCH, IN_QUEUE, RUNNING, TIMES };

static const char *const time_names[TIMES] = {
	[IN_CALL] = "call",   [TO_LAUNCH] = "call_to_launch", [IN_LAUNCH] = "launch",
	[IN_QUEUE] = "queue", [RUNNING] = "kernel",
};

struct tap_gpu_sum {
	const struct tap_process *process;
	struct tap_times times;
	uint64_t kernels, nccl, copies, bytes, sets;
	/* Of a stream. */
	uint64_t device, stream;
	/* Of a kernel. */
	char *function;
	struct tap_gpu_sum *next; /* with the same hash */
	/* Of a collective. */
	const struct tap_member *member; /* NULL unknown */
	const struct tap_name *call;
	struct tap_spread *spreads;
};

static struct tap_gpu_sum *add_sum(struct tap_gpu_sum ***sums, size_t *count,
				   size_t *room, const struct tap_process *process)
{
	struct tap_gpu_sum **grown, *sum;

	if (*count == *room) {
		const size_t more = *room ? *room * 2 : 16;

		grown = realloc(*sums, more * sizeof(struct tap_gpu_sum *));
		if (!grown)
			return NULL;
		*sums = grown;
		*room = more;
	}
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	sum->process = process;
	(*sums)[(*count)++] = sum;
	return sum;
}

static void count(struct tap_gpu_sum *sum, const struct tap_span *span)
{
	uint64_t bytes = 0;

	tap_times_add(&sum->times, span);
	sum->nccl += span->gpu.is_nccl;
	if (!strcmp(span->name->name, "kernel")) {
		sum->kernels++;
	} else if (!strcmp(span->name->name, "memset")) {
		sum->sets++;
	} else {
		sum->copies++;
		tap_fields_get_unsigned(&span->entry, "bytes", &bytes);
		sum->bytes += bytes;
	}
}

static int count_stream(struct tap_report_gpu *report, const struct tap_span *span)
{
	const uint64_t key =
		span->work.run.device << 32 | (span->work.run.stream & UINT32_MAX);
	struct tap_gpu_sum *sum =
		tap_table_find(&report->by_stream, span->process->number, key);

	if (!sum) {
		if (report->stream_count == SUMS_MAX) {
			report->others++;
			return 0;
		}
		sum = add_sum(&report->streams, &report->stream_count,
			      &report->stream_room, span->process);
		if (!sum ||
		    tap_table_set(&report->by_stream, span->process->number, key, sum))
			return -ENOMEM;
		sum->device = span->work.run.device;
		sum->stream = span->work.run.stream;
	}
	count(sum, span);
	return 0;
}

static int count_kernel(struct tap_report_gpu *report, const struct tap_span *span)
{
	const char *name = tap_fields_get_string(&span->entry, "function");
	struct tap_gpu_sum *first, *sum;
	uint64_t hash;

	if (span->gpu.is_nccl || strcmp(span->name->name, "kernel"))
		return 0;
	if (!name)
		name = "?";
	hash = tap_table_hash(name);
	first = tap_table_find(&report->by_kernel, span->process->number, hash);
	for (sum = first; sum && strcmp(sum->function, name);)
		sum = sum->next;
	if (!sum) {
		if (report->kernel_count == SUMS_MAX) {
			report->others++;
			return 0;
		}
		sum = add_sum(&report->kernels, &report->kernel_count,
			      &report->kernel_room, span->process);
		if (!sum)
			return -ENOMEM;
		sum->function = strdup(name);
		sum->next = first;
		if (!sum->function ||
		    tap_table_set(&report->by_kernel, span->process->number, hash, sum))
			return -ENOMEM;
	}
	count(sum, span);
	return 0;
}

static void count_times(struct tap_gpu_sum *sum, const struct tap_span *span)
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
	struct tap_gpu_sum *sum;

	if (!call)
		return 0;
	sum = tap_table_find(&report->by_call, key, call->number);
	if (!sum) {
		if (report->call_count == SUMS_MAX) {
			report->others++;
			return 0;
		}
		sum = add_sum(&report->calls, &report->call_count, &report->call_room,
			      span->process);
		if (!sum)
			return -ENOMEM;
		sum->spreads = calloc(TIMES, sizeof(*sum->spreads));
		if (!sum->spreads ||
		    tap_table_set(&report->by_call, key, call->number, sum))
			return -ENOMEM;
		sum->member = span->member;
		sum->call = call;
	}
	count(sum, span);
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

/* By process; what was busiest first. */
static int compare(const void *left, const void *right)
{
	const struct tap_gpu_sum *a = *(const struct tap_gpu_sum *const *) left;
	const struct tap_gpu_sum *b = *(const struct tap_gpu_sum *const *) right;

	if (a->process != b->process)
		return a->process->number < b->process->number ? -1 : 1;
	if (a->times.total_ns != b->times.total_ns)
		return a->times.total_ns > b->times.total_ns ? -1 : 1;
	if (a->function && b->function)
		return strcmp(a->function, b->function);
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->call && b->call && a->call != b->call)
		return strcmp(a->call->name, b->call->name);
	return a->member && b->member && a->member->number < b->member->number ? -1 : 1;
}

void tap_report_gpu_sort(struct tap_report_gpu *report)
{
	if (report->stream_count)
		qsort(report->streams, report->stream_count, sizeof(struct tap_gpu_sum *),
		      compare);
	if (report->kernel_count)
		qsort(report->kernels, report->kernel_count, sizeof(struct tap_gpu_sum *),
		      compare);
	if (report->call_count)
		qsort(report->calls, report->call_count, sizeof(struct tap_gpu_sum *),
		      compare);
}

/* ---- Text ---- */

static void add_streams(const struct tap_report_gpu *report, struct tap_buffer *line)
{
	size_t start = line->used, i;

	tap_buffer_add_string(line, "GPU streams");
	tap_buffer_fill(line, start, 36, ' ');
	tap_buffer_add_string(line, " kernels   NCCL's   copies         bytes    sets"
				    "        total         mean          max\n");
	for (i = 0; i < report->stream_count; i++) {
		const struct tap_gpu_sum *sum = report->streams[i];

		start = line->used;
		tap_buffer_add_string(line, "  ");
		tap_report_work_add_process(line, sum->process);
		tap_buffer_add_string(line, " gpu ");
		tap_buffer_add_unsigned(line, sum->device);
		tap_buffer_add_string(line, " stream ");
		tap_buffer_add_unsigned(line, sum->stream);
		tap_buffer_fill(line, start, 34, ' ');
		tap_view_add_cell(line, sum->kernels, 10);
		tap_view_add_cell(line, sum->nccl, 9);
		tap_view_add_cell(line, sum->copies, 9);
		tap_view_add_cell(line, sum->bytes, 14);
		tap_view_add_cell(line, sum->sets, 8);
		tap_times_write(&sum->times, line);
		tap_buffer_add_char(line, '\n');
	}
	tap_buffer_add_char(line, '\n');
}

static void add_calls(const struct tap_report_gpu *report, struct tap_buffer *line)
{
	size_t start = line->used, i, time;

	tap_buffer_add_string(line, "collectives on the GPU, medians");
	tap_buffer_fill(line, start, 44, ' ');
	tap_buffer_add_string(line, "kernels         call  call-launch       launch"
				    "        queue       kernel   kernel max\n");
	for (i = 0; i < report->call_count; i++) {
		const struct tap_gpu_sum *sum = report->calls[i];

		start = line->used;
		tap_buffer_add_string(line, "  ");
		tap_report_work_add_process(line, sum->process);
		tap_buffer_add_char(line, ' ');
		tap_view_add_key(line,
				 sum->member ? tap_member_comm(sum->member)->key : 0);
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_visible(line, sum->call->name);
		tap_buffer_fill(line, start, 41, ' ');
		tap_view_add_cell(line, sum->times.timed, 10);
		for (time = 0; time < TIMES; time++)
			tap_report_work_add_percentile(line, &sum->spreads[time], 50);
		tap_report_work_add_duration(line,
					     tap_spread_max(&sum->spreads[RUNNING]));
		tap_buffer_add_char(line, '\n');
	}
	tap_buffer_add_char(line, '\n');
}

static void add_kernels(const struct tap_report_gpu *report, struct tap_buffer *line)
{
	size_t start = line->used, i;

	tap_buffer_add_string(line, "kernels that are not NCCL's");
	tap_buffer_fill(line, start, 36, ' ');
	tap_buffer_add_string(line, " kernels        total         mean          max"
				    "  function\n");
	for (i = 0; i < report->kernel_count && i < KERNEL_LINES; i++) {
		const struct tap_gpu_sum *sum = report->kernels[i];

		start = line->used;
		tap_buffer_add_string(line, "  ");
		tap_report_work_add_process(line, sum->process);
		tap_buffer_fill(line, start, 34, ' ');
		tap_view_add_cell(line, sum->kernels, 10);
		tap_times_write(&sum->times, line);
		tap_buffer_add_string(line, "  ");
		tap_buffer_add_visible(line, sum->function);
		tap_buffer_add_char(line, '\n');
	}
	if (i < report->kernel_count) {
		tap_buffer_add_string(line, "  and ");
		tap_buffer_add_unsigned(line, report->kernel_count - i);
		tap_buffer_add_string(line, " more kernels\n");
	}
	tap_buffer_add_char(line, '\n');
}

void tap_report_gpu_text(const struct tap_report_gpu *report, struct tap_buffer *line)
{
	if (report->call_count)
		add_calls(report, line);
	if (report->stream_count)
		add_streams(report, line);
	if (report->kernel_count)
		add_kernels(report, line);
}

/* ---- JSON ---- */

static void add_call_json(struct tap_json *json, const struct tap_gpu_sum *sum)
{
	const uint64_t key = sum->member ? tap_member_comm(sum->member)->key : 0;
	size_t time;

	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "process", sum->process->number);
	if (key)
		tap_json_hex(json, "comm_key", key);
	else
		tap_json_null(json, "comm_key");
	tap_json_not_negative(json, "comm_rank", sum->member ? sum->member->rank : -1);
	tap_json_string(json, "name", sum->call->name);
	tap_json_unsigned(json, "kernels", sum->times.timed);
	tap_json_unsigned(json, "total_ns", sum->times.total_ns);
	for (time = 0; time < TIMES; time++) {
		const struct tap_spread *spread = &sum->spreads[time];

		tap_json_open(json, time_names[time], '{');
		tap_json_unsigned(json, "count", spread->count);
		tap_json_not_negative(json, "p50_ns", tap_spread_percentile(spread, 50));
		tap_json_not_negative(json, "p99_ns", tap_spread_percentile(spread, 99));
		tap_json_not_negative(json, "max_ns", tap_spread_max(spread));
		tap_json_close(json);
	}
	tap_json_close(json);
}

static void add_stream_json(struct tap_json *json, const struct tap_gpu_sum *sum)
{
	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "process", sum->process->number);
	tap_json_unsigned(json, "device", sum->device);
	tap_json_unsigned(json, "stream", sum->stream);
	tap_json_unsigned(json, "kernels", sum->kernels);
	tap_json_unsigned(json, "nccl", sum->nccl);
	tap_json_unsigned(json, "copies", sum->copies);
	tap_json_unsigned(json, "bytes", sum->bytes);
	tap_json_unsigned(json, "sets", sum->sets);
	tap_times_write_json(&sum->times, json);
	tap_json_close(json);
}

void tap_report_gpu_json(const struct tap_report_gpu *report, struct tap_json *json)
{
	size_t i;

	tap_json_open(json, "gpu", '{');
	tap_json_open(json, "collectives", '[');
	for (i = 0; i < report->call_count; i++)
		add_call_json(json, report->calls[i]);
	tap_json_close(json);
	tap_json_open(json, "streams", '[');
	for (i = 0; i < report->stream_count; i++)
		add_stream_json(json, report->streams[i]);
	tap_json_close(json);
	tap_json_open(json, "kernels", '[');
	for (i = 0; i < report->kernel_count; i++) {
		const struct tap_gpu_sum *sum = report->kernels[i];

		tap_json_open(json, NULL, '{');
		tap_json_unsigned(json, "process", sum->process->number);
		tap_json_string(json, "function", sum->function);
		tap_json_unsigned(json, "kernels", sum->kernels);
		tap_times_write_json(&sum->times, json);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "others", report->others);
	tap_json_close(json);
}

static void free_sums(struct tap_gpu_sum **sums, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free(sums[i]->function);
		free(sums[i]->spreads);
		free(sums[i]);
	}
	free(sums);
}

void tap_report_gpu_free(struct tap_report_gpu *report)
{
	free_sums(report->streams, report->stream_count);
	free_sums(report->kernels, report->kernel_count);
	free_sums(report->calls, report->call_count);
	tap_table_free(&report->by_stream);
	tap_table_free(&report->by_kernel);
	tap_table_free(&report->by_call);
}
