/* SPDX-License-Identifier: MIT */
/* Sums, to which spans and links are added as they come. */
#include "join/report/report_work.h"

#include "join/rdma/qp.h"
#include "join/report/columns.h"
#include "join/views/view.h"

#include <errno.h>

struct tap_work_sum {
	const struct tap_process *process;
	const struct tap_qp *qp;	/* in a queue pair's sum */
	const struct tap_process *peer; /* NULL unknown */
	uint64_t messages;		/* completed send requests */
	uint64_t bytes;
	uint64_t errors; /* of both queues */
	uint64_t refused;
	uint64_t receives;
	uint64_t open;
	uint64_t depth, depth_max; /* outstanding send requests */
	bool has_times;
	int64_t first_ns, last_ns;
	struct tap_spread times;
};

static struct tap_work_sum *sum_of_queue(struct tap_report_work *report,
					 const struct tap_span *span)
{
	struct tap_work_sum *sum = tap_rows_get(&report->queues, span->process->number,
						span->work.request.qp->id, sizeof(*sum));

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
		tap_rows_get(&report->peers, process->number, peer ? peer->number + 1 : 0,
			     sizeof(*sum));

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
	const struct tap_generation *generation =
		tap_qp_find_generation(span->work.request.qp,
				       span->work.request.generation);

	return generation && generation->peer ? generation->peer->qp->process : NULL;
}

struct tap_work_traffic tap_report_work_traffic(const struct tap_report_work *report,
						size_t at)
{
	const struct tap_work_sum *sum = report->peers.all[at];

	return (struct tap_work_traffic){.from = sum->process,
					 .to = sum->peer,
					 .messages = sum->messages,
					 .bytes = sum->bytes,
					 .latency = &sum->times};
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
	/* Datagrams are counted by their links. */
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

/* What failed first, then what moved most. */
static int compare_sums(const void *left, const void *right)
{
	const struct tap_work_sum *a = *(const struct tap_work_sum *const *) left;
	const struct tap_work_sum *b = *(const struct tap_work_sum *const *) right;
	int order = tap_rows_compare(b->errors + b->refused, a->errors + a->refused);

	if (!order)
		order = tap_rows_compare(b->bytes, a->bytes);
	if (!order)
		order = tap_rows_compare(a->process->number, b->process->number);
	if (!order && a->qp)
		return tap_rows_compare(a->qp->id, b->qp->id);
	return order ? order
		     : tap_rows_compare(a->peer ? a->peer->number : 0,
					b->peer ? b->peer->number : 0);
}

void tap_report_work_sort(struct tap_report_work *report)
{
	tap_rows_sort(&report->queues, compare_sums);
	tap_rows_sort(&report->peers, compare_sums);
}

/* ---- Columns ---- */

/* From the first post to the last completion. */
static struct tap_value bandwidth(const struct tap_column *column, const void *row)
{
	const struct tap_work_sum *sum = row;
	int64_t rate = -1;

	(void) column;
	if (sum->has_times && sum->last_ns > sum->first_ns)
		rate = (int64_t) ((double) sum->bytes * 1e9 /
				  (double) (sum->last_ns - sum->first_ns));
	return tap_value_not_negative(rate);
}

static struct tap_value qp_id(const struct tap_column *column, const void *row)
{
	const struct tap_work_sum *sum = row;

	(void) column;
	return (struct tap_value){.number = sum->qp->id};
}

static struct tap_value qp_num(const struct tap_column *column, const void *row)
{
	const struct tap_work_sum *sum = row;

	(void) column;
	return (struct tap_value){.number = sum->qp->qp_num};
}

static void add_queue(struct tap_buffer *line, const void *row)
{
	const struct tap_work_sum *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
	tap_buffer_add_string(line, " qp ");
	tap_buffer_add_unsigned(line, sum->qp->id);
	tap_buffer_add_string(line, " (");
	tap_buffer_add_hex(line, sum->qp->qp_num);
	tap_buffer_add_char(line, ')');
}

static void add_peers(struct tap_buffer *line, const void *row)
{
	const struct tap_work_sum *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
	tap_buffer_add_string(line, ", ");
	if (sum->peer)
		tap_view_add_process(line, sum->peer);
	else
		tap_buffer_add_char(line, '?');
}

#define COLUMN(key, header, width, unit, member) \
	TAP_COLUMN(key, header, width, unit, struct tap_work_sum, member)
#define PERCENTILE(key, header, percent) \
	TAP_COLUMN_PERCENTILE(key, header, 13, percent, struct tap_work_sum, times)

/* The columns for a queue pair and for a pair of processes. */
static const struct tap_column sum_columns[] = {
	COLUMN("sends", "sends", 10, TAP_UNIT_COUNT, messages),
	COLUMN("bytes", "bytes", 14, TAP_UNIT_BYTES, bytes),
	TAP_COLUMN_VALUE("bytes_per_second", "MB/s", 8, TAP_UNIT_RATE, bandwidth),
	COLUMN("timed", NULL, 0, TAP_UNIT_COUNT, times.count),
	PERCENTILE("p50_ns", "p50", 50),
	PERCENTILE("p90_ns", NULL, 90),
	PERCENTILE("p99_ns", "p99", 99),
	PERCENTILE("max_ns", "max", 100),
	COLUMN("errors", "errors", 8, TAP_UNIT_COUNT, errors),
	COLUMN("open", "open", 6, TAP_UNIT_COUNT, open),
	TAP_COLUMNS_END,
};

static const struct tap_column queue_columns[] = {
	TAP_COLUMN_TEXT(NULL, "queue pair", 34, add_queue),
	TAP_COLUMN_PROCESS("process", struct tap_work_sum, process),
	TAP_COLUMN_VALUE("qp_id", NULL, 0, TAP_UNIT_COUNT, qp_id),
	TAP_COLUMN_VALUE("qp_num", NULL, 0, TAP_UNIT_COUNT, qp_num),
	TAP_COLUMNS_OF(sum_columns),
	COLUMN("depth_max", "depth", 6, TAP_UNIT_COUNT, depth_max),
	COLUMN("receives", "receives", 10, TAP_UNIT_COUNT, receives),
	COLUMN("refused", "refused", 9, TAP_UNIT_COUNT, refused),
	TAP_COLUMNS_END,
};

static const struct tap_column peer_columns[] = {
	TAP_COLUMN_TEXT(NULL, "from, to", 34, add_peers),
	TAP_COLUMN_PROCESS("process", struct tap_work_sum, process),
	TAP_COLUMN_PROCESS("peer", struct tap_work_sum, peer),
	TAP_COLUMNS_OF(sum_columns),
	TAP_COLUMNS_END,
};

static const struct tap_column top_columns[] = {
	TAP_COLUMN_TEXT(NULL, "  queue pair", 32, add_queue),
	COLUMN(NULL, "sends", 9, TAP_UNIT_COUNT, messages),
	COLUMN(NULL, "bytes", 14, TAP_UNIT_BYTES, bytes),
	TAP_COLUMN_VALUE(NULL, "sent", 10, TAP_UNIT_SPEED, bandwidth),
	PERCENTILE(NULL, "p50", 50),
	COLUMN(NULL, "errors", 8, TAP_UNIT_COUNT, errors),
	COLUMN(NULL, "receives", 10, TAP_UNIT_COUNT, receives),
	TAP_COLUMNS_END,
};

void tap_report_work_top(const struct tap_report_work *report, size_t lines,
			 struct tap_buffer *line)
{
	if (report->queues.count && lines > 1)
		tap_columns_add_top(line, top_columns, &report->queues, lines);
}

void tap_report_work_text(const struct tap_report_work *report, struct tap_buffer *line)
{
	if (!report->queues.count)
		return;
	tap_columns_add_text(line, queue_columns, &report->queues);
	tap_columns_add_text(line, peer_columns, &report->peers);
	tap_buffer_add_char(line, '\n');
}

void tap_report_work_json(const struct tap_report_work *report, struct tap_json *json)
{
	tap_columns_add_json(json, "queue_pairs", queue_columns, &report->queues);
	tap_columns_add_json(json, "peers", peer_columns, &report->peers);
}

void tap_report_work_free(struct tap_report_work *report)
{
	tap_rows_free(&report->queues);
	tap_rows_free(&report->peers);
}
