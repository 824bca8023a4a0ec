/* SPDX-License-Identifier: MIT */
/* Sums, filled by spans as they come. */
#include "join/report/report_work.h"

#include "join/rdma/qp.h"

#include <errno.h>
#include <stdlib.h>

struct tap_work_sum {
	const struct tap_process *process;
	const struct tap_qp *qp;	/* of a queue pair */
	const struct tap_process *peer; /* NULL unknown */
	uint64_t messages;		/* send requests that have completed */
	uint64_t bytes;
	uint64_t errors; /* of both queues */
	uint64_t refused;
	uint64_t receives;
	uint64_t open;
	uint64_t depth, depth_max; /* send requests under way */
	bool has_times;
	int64_t first_ns, last_ns;
	struct tap_spread times;
	struct tap_work_sum *next;
};

static struct tap_work_sum *find(struct tap_table *table, struct tap_work_sum ***end,
				 struct tap_work_sum **first, uint64_t a, uint64_t b)
{
	struct tap_work_sum *sum = tap_table_find(table, a, b);

	if (sum)
		return sum;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	if (tap_table_set(table, a, b, sum)) {
		free(sum);
		return NULL;
	}
	if (!*first)
		*end = first;
	**end = sum;
	*end = &sum->next;
	return sum;
}

static struct tap_work_sum *sum_of_queue(struct tap_report_work *report,
					 const struct tap_span *span)
{
	struct tap_work_sum *sum =
		find(&report->by_queue, &report->queues_end, &report->queues,
		     span->process->number, span->work.request.qp->id);

	if (sum) {
		sum->process = span->process;
		sum->qp = span->work.request.qp;
	}
	return sum;
}

static struct tap_work_sum *sum_of_peer(struct tap_report_work *report,
					const struct tap_process *process,
					const struct tap_process *peer)
{
	struct tap_work_sum *sum =
		find(&report->by_peer, &report->peers_end, &report->peers,
		     process->number, peer ? peer->number + 1 : 0);

	if (sum) {
		sum->process = process;
		sum->peer = peer;
	}
	return sum;
}

static void count_time(struct tap_work_sum *sum, const struct tap_span *span)
{
	if (!sum->has_times || span->begin_ns < sum->first_ns)
		sum->first_ns = span->begin_ns;
	if (!sum->has_times || span->end_ns > sum->last_ns)
		sum->last_ns = span->end_ns;
	sum->has_times = true;
	if (tap_span_has_duration(span))
		tap_spread_add(&sum->times, tap_span_duration(span));
}

static uint64_t bytes_of(const struct tap_span *span)
{
	uint64_t bytes = 0;

	tap_fields_get_unsigned(&span->entry, "bytes", &bytes);
	return bytes;
}

static void count(struct tap_work_sum *sum, const struct tap_span *span)
{
	const bool is_complete =
		span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST;
	const bool has_failed = tap_span_is_failure(tap_span_result(span));

	if (span->work.kind == TAP_WORK_REFUSED) {
		sum->refused++;
		return;
	}
	sum->open += !is_complete;
	sum->errors += is_complete && has_failed;
	if (!is_complete || has_failed)
		return;
	if (span->work.kind == TAP_WORK_RECEIVE) {
		sum->receives++;
		return;
	}
	sum->messages++;
	sum->bytes += bytes_of(span);
	count_time(sum, span);
}

static const struct tap_process *peer_of(const struct tap_span *span)
{
	const struct tap_life *life =
		tap_qp_find_life(span->work.request.qp, span->work.request.life);

	return life && life->peer ? life->peer->qp->process : NULL;
}

int tap_report_work_begin(struct tap_report_work *report, const struct tap_span *span)
{
	struct tap_work_sum *sum;

	if (span->work.kind != TAP_WORK_SEND || !span->work.request.qp)
		return 0;
	sum = sum_of_queue(report, span);
	if (!sum)
		return -ENOMEM;
	if (++sum->depth > sum->depth_max)
		sum->depth_max = sum->depth;
	return 0;
}

int tap_report_work_end(struct tap_report_work *report, const struct tap_span *span)
{
	struct tap_work_sum *queue, *peer;

	if (!span->work.request.qp)
		return 0;
	queue = sum_of_queue(report, span);
	if (!queue)
		return -ENOMEM;
	if (span->work.kind == TAP_WORK_SEND)
		queue->depth--;
	count(queue, span);
	/* Of datagrams, links tell. */
	if (span->work.kind != TAP_WORK_SEND || span->work.request.qp->type == TAP_QP_UD)
		return 0;
	peer = sum_of_peer(report, span->process, peer_of(span));
	if (!peer)
		return -ENOMEM;
	count(peer, span);
	return 0;
}

int tap_report_work_link(struct tap_report_work *report, const struct tap_link *link)
{
	struct tap_work_sum *sum;

	if (link->kind != TAP_LINK_SEND_RECEIVE ||
	    link->ends[0].work.request.qp->type != TAP_QP_UD)
		return 0;
	sum = sum_of_peer(report, link->ends[0].process, link->ends[1].process);
	if (!sum)
		return -ENOMEM;
	sum->messages++;
	sum->bytes += link->bytes;
	return 0;
}

/* Bytes in a second, from the first post to the last completion; -1 unknown. */
static int64_t bandwidth(const struct tap_work_sum *sum)
{
	if (!sum->has_times || sum->last_ns <= sum->first_ns)
		return -1;
	return (int64_t) ((double) sum->bytes * 1e9 /
			  (double) (sum->last_ns - sum->first_ns));
}

/* ---- Text ---- */

void tap_report_work_add_process(struct tap_buffer *line,
				 const struct tap_process *process)
{
	if (process->rank >= 0) {
		tap_buffer_add_string(line, "rank ");
		tap_buffer_add_signed(line, process->rank);
	} else {
		tap_buffer_add_string(line, "pid ");
		tap_buffer_add_signed(line, process->pid);
	}
}

void tap_report_work_add_duration(struct tap_buffer *line, int64_t ns)
{
	size_t start = line->used;

	if (ns < 0)
		tap_buffer_add_char(line, '-');
	else
		tap_view_add_duration(line, ns);
	tap_buffer_align_right(line, start, 13);
}

/* "~1.2 ms": to two digits. */
static void add_about(struct tap_buffer *line, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, " s"}, {1000000, " ms"}, {1000, " us"}, {1, " ns"}};
	size_t i = 0;

	ns = tap_spread_round(ns);
	while (units[i].ns > 1 && ns < units[i].ns)
		i++;
	tap_buffer_add_char(line, '~');
	tap_buffer_add_unsigned(line, ns / units[i].ns);
	if (units[i].ns > 1 && ns / units[i].ns < 10) {
		tap_buffer_add_char(line, '.');
		tap_buffer_add_unsigned(line, ns % units[i].ns / (units[i].ns / 10));
	}
	tap_buffer_add_string(line, units[i].name);
}

void tap_report_work_add_percentile(struct tap_buffer *line,
				    const struct tap_spread *spread, unsigned int percent)
{
	const int64_t ns = tap_spread_percentile(spread, percent);
	size_t start = line->used;

	if (tap_spread_is_exact(spread)) {
		tap_report_work_add_duration(line, ns);
		return;
	}
	add_about(line, (uint64_t) ns);
	tap_buffer_align_right(line, start, 13);
}

static void add_sum(struct tap_buffer *line, const struct tap_work_sum *sum, size_t start)
{
	const int64_t rate = bandwidth(sum);

	tap_buffer_fill(line, start, 34, ' ');
	tap_view_add_cell(line, sum->messages, 10);
	tap_view_add_cell(line, sum->bytes, 14);
	start = line->used;
	if (rate < 0)
		tap_buffer_add_char(line, '-');
	else
		tap_buffer_add_unsigned(line, (uint64_t) rate / 1000000);
	tap_buffer_align_right(line, start, 8);
	tap_report_work_add_percentile(line, &sum->times, 50);
	tap_report_work_add_percentile(line, &sum->times, 99);
	tap_report_work_add_duration(line, tap_spread_max(&sum->times));
	tap_view_add_cell(line, sum->errors, 8);
	tap_view_add_cell(line, sum->open, 6);
}

void tap_report_work_text(const struct tap_report_work *report, struct tap_buffer *line)
{
	static const char columns[] =
		"sends         bytes    MB/s          p50          p99          max"
		"  errors  open";
	const struct tap_work_sum *sum;
	size_t start = line->used;

	if (!report->queues)
		return;
	tap_buffer_add_string(line, "queue pair");
	tap_buffer_fill(line, start, 39, ' ');
	tap_buffer_add_string(line, columns);
	tap_buffer_add_string(line, " depth  receives  refused\n");
	for (sum = report->queues; sum; sum = sum->next) {
		start = line->used;
		tap_buffer_add_string(line, "  ");
		tap_report_work_add_process(line, sum->process);
		tap_buffer_add_string(line, " qp ");
		tap_buffer_add_unsigned(line, sum->qp->id);
		tap_buffer_add_string(line, " (");
		tap_buffer_add_hex(line, sum->qp->qp_num);
		tap_buffer_add_char(line, ')');
		add_sum(line, sum, start);
		tap_view_add_cell(line, sum->depth_max, 6);
		tap_view_add_cell(line, sum->receives, 10);
		tap_view_add_cell(line, sum->refused, 9);
		tap_buffer_add_char(line, '\n');
	}
	start = line->used;
	tap_buffer_add_string(line, "from, to");
	tap_buffer_fill(line, start, 39, ' ');
	tap_buffer_add_string(line, columns);
	tap_buffer_add_char(line, '\n');
	for (sum = report->peers; sum; sum = sum->next) {
		start = line->used;
		tap_buffer_add_string(line, "  ");
		tap_report_work_add_process(line, sum->process);
		tap_buffer_add_string(line, ", ");
		if (sum->peer)
			tap_report_work_add_process(line, sum->peer);
		else
			tap_buffer_add_char(line, '?');
		add_sum(line, sum, start);
		tap_buffer_add_char(line, '\n');
	}
	tap_buffer_add_char(line, '\n');
}

/* ---- JSON ---- */

static void add_sum_json(struct tap_json *json, const struct tap_work_sum *sum)
{
	tap_json_unsigned(json, "sends", sum->messages);
	tap_json_unsigned(json, "bytes", sum->bytes);
	tap_json_not_negative(json, "bytes_per_second", bandwidth(sum));
	tap_json_unsigned(json, "timed", sum->times.count);
	tap_json_not_negative(json, "p50_ns", tap_spread_percentile(&sum->times, 50));
	tap_json_not_negative(json, "p90_ns", tap_spread_percentile(&sum->times, 90));
	tap_json_not_negative(json, "p99_ns", tap_spread_percentile(&sum->times, 99));
	tap_json_not_negative(json, "max_ns", tap_spread_max(&sum->times));
	tap_json_unsigned(json, "errors", sum->errors);
	tap_json_unsigned(json, "open", sum->open);
}

void tap_report_work_json(const struct tap_report_work *report, struct tap_json *json)
{
	const struct tap_work_sum *sum;

	tap_json_open(json, "queue_pairs", '[');
	for (sum = report->queues; sum; sum = sum->next) {
		tap_json_open(json, NULL, '{');
		tap_json_unsigned(json, "process", sum->process->number);
		tap_json_unsigned(json, "qp_id", sum->qp->id);
		tap_json_unsigned(json, "qp_num", sum->qp->qp_num);
		add_sum_json(json, sum);
		tap_json_unsigned(json, "depth_max", sum->depth_max);
		tap_json_unsigned(json, "receives", sum->receives);
		tap_json_unsigned(json, "refused", sum->refused);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_open(json, "peers", '[');
	for (sum = report->peers; sum; sum = sum->next) {
		tap_json_open(json, NULL, '{');
		tap_json_unsigned(json, "process", sum->process->number);
		tap_json_not_negative(json, "peer",
				      sum->peer ? (int64_t) sum->peer->number : -1);
		add_sum_json(json, sum);
		tap_json_close(json);
	}
	tap_json_close(json);
}

void tap_report_work_free(struct tap_report_work *report)
{
	struct tap_work_sum *sum;

	while ((sum = report->queues)) {
		report->queues = sum->next;
		free(sum);
	}
	while ((sum = report->peers)) {
		report->peers = sum->next;
		free(sum);
	}
	tap_table_free(&report->by_queue);
	tap_table_free(&report->by_peer);
}
