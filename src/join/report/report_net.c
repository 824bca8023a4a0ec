/* SPDX-License-Identifier: MIT */
/* Sums of the fields of sent messages, added when the messages end. */
#include "join/report/report_net.h"

#include "join/findings/findings.h"
#include "join/findings/progress.h"
#include "join/model/process.h"
#include "join/report/columns.h"
#include "join/views/view.h"

#include <errno.h>
#include <string.h>

struct tap_net_sum {
	const struct tap_process *process;
	uint64_t net_id;
	const struct tap_process *peer; /* NULL unknown */
	uint64_t peer_net_id;
	uint64_t messages; /* messages that are completely known */
	uint64_t bytes;
	uint64_t partial; /* messages of which a part is missing, or had not completed */
	uint64_t failures;
	struct tap_spread cts_to_post;
	struct tap_spread post_to_receive;
	uint64_t bounded; /* messages whose wait has an upper bound */
	uint64_t none;	  /* of these, messages that certainly did not wait */
	uint64_t wait_max_ns;
	uint64_t announced, posted, arrived, sent; /* struct tap_progress_connection */
	bool is_socket, is_channel_inferred;
	bool is_inferred; /* what has not arrived is not known */
	int64_t channel; /* -1 unknown */
};

static struct tap_net_sum *sum_of(struct tap_report_net *report,
				  const struct tap_process *process, uint64_t id)
{
	struct tap_net_sum *sum =
		tap_rows_get(&report->connections, process->number, id, sizeof(*sum));

	if (sum && !sum->process) {
		sum->process = process;
		sum->net_id = id;
		sum->channel = -1;
	}
	return sum;
}

static void add_spread(struct tap_spread *spread, const struct tap_span *span,
		       const char *name)
{
	uint64_t ns;

	if (!tap_fields_get_unsigned(&span->exit, name, &ns) && ns <= INT64_MAX)
		tap_spread_add(spread, (int64_t) ns);
}

int tap_report_net_end(struct tap_report_net *report, const struct tap_span *span)
{
	struct tap_net_sum *sum;
	const char *known;
	uint64_t ns, bytes = 0;

	if (span->work.kind != TAP_WORK_NET_SEND)
		return 0;
	sum = sum_of(report, span->process, span->work.message.net_id);
	if (!sum)
		return -ENOMEM;
	sum->is_inferred |= !!tap_fields_get_string(&span->entry, "message_known");
	if (span->state != TAP_SPAN_COMPLETE ||
	    tap_fields_get_string(&span->exit, "message_known")) {
		sum->partial++;
		return 0;
	}
	if (tap_span_is_failure(tap_span_result(span))) {
		sum->failures++;
		return 0;
	}
	tap_fields_get_unsigned(&span->exit, "bytes", &bytes);
	sum->messages++;
	sum->bytes += bytes;
	add_spread(&sum->cts_to_post, span, "cts_to_post_ns");
	add_spread(&sum->post_to_receive, span, "post_to_receive_ns");
	if (tap_fields_get_unsigned(&span->exit, "wait_max_ns", &ns))
		return 0;
	known = tap_fields_get_string(&span->exit, "wait_known");
	sum->bounded++;
	sum->wait_max_ns += ns;
	sum->none += known && !strcmp(known, "exact");
	return 0;
}

int tap_report_net_link(struct tap_report_net *report, const struct tap_link *link)
{
	const size_t sender = link->kind == TAP_LINK_CTS_MESSAGE;
	const struct tap_link_end *ends = link->ends + sender;
	struct tap_net_sum *sum;

	if (link->kind != TAP_LINK_CTS_MESSAGE && link->kind != TAP_LINK_SOCKET_MESSAGE)
		return 0;
	sum = sum_of(report, ends[0].process, ends[0].work.message.net_id);
	if (!sum)
		return -ENOMEM;
	sum->peer = ends[1].process;
	sum->peer_net_id = ends[1].work.message.net_id;
	return 0;
}

int tap_report_net_take(struct tap_report_net *report,
			const struct tap_findings *findings)
{
	struct tap_progress_connection *const *connections;
	const size_t count =
		tap_progress_connections(tap_findings_progress(findings), &connections);
	size_t i;

	for (i = 0; i < count; i++) {
		const struct tap_progress_connection *one = connections[i];
		struct tap_net_sum *sum = tap_rows_find(
			&report->connections, one->from->number, one->from_id);

		if (!sum && tap_findings_filters(findings))
			continue;
		if (!sum)
			sum = sum_of(report, one->from, one->from_id);
		if (!sum)
			return -ENOMEM;
		sum->peer = one->to;
		sum->peer_net_id = one->to_id;
		sum->announced = one->announced;
		sum->posted = one->posted;
		sum->arrived = one->arrived;
		sum->sent = one->sent;
		sum->is_socket = one->is_socket;
		sum->channel = one->channel;
		sum->is_channel_inferred = one->is_channel_inferred;
	}
	return 0;
}

/* What failed first, then what moved most. */
static int compare_sums(const void *left, const void *right)
{
	const struct tap_net_sum *a = *(const struct tap_net_sum *const *) left;
	const struct tap_net_sum *b = *(const struct tap_net_sum *const *) right;
	int order = tap_rows_compare(b->failures + b->partial, a->failures + a->partial);

	if (!order)
		order = tap_rows_compare(b->bytes, a->bytes);
	if (!order)
		order = tap_rows_compare(a->process->number, b->process->number);
	return order ? order : tap_rows_compare(a->net_id, b->net_id);
}

void tap_report_net_sort(struct tap_report_net *report)
{
	tap_rows_sort(&report->connections, compare_sums);
}

/* ---- Columns ---- */

static void add_end(struct tap_buffer *line, const struct tap_process *process,
		    uint64_t net_id)
{
	tap_view_add_process(line, process);
	tap_buffer_add_string(line, " net ");
	tap_buffer_add_unsigned(line, net_id);
}

static void add_both(struct tap_buffer *line, const struct tap_net_sum *sum)
{
	add_end(line, sum->process, sum->net_id);
	tap_buffer_add_string(line, ", ");
	if (sum->peer)
		add_end(line, sum->peer, sum->peer_net_id);
	else
		tap_buffer_add_char(line, '?');
}

static void add_ends(struct tap_buffer *line, const void *row)
{
	tap_buffer_add_string(line, "  ");
	add_both(line, row);
}

void tap_report_net_add_ends(struct tap_buffer *line, const struct tap_report_net *report,
			     size_t at)
{
	add_both(line, report->connections.all[at]);
}

struct tap_net_traffic tap_report_net_traffic(const struct tap_report_net *report,
					      size_t at)
{
	const struct tap_net_sum *sum = report->connections.all[at];

	return (struct tap_net_traffic){.from = sum->process,
					.to = sum->peer,
					.messages = sum->messages,
					.bytes = sum->bytes,
					.is_inferred = sum->is_inferred,
					.latency = &sum->post_to_receive};
}

struct tap_net_latency tap_report_net_latency(const struct tap_report_net *report,
					      size_t at)
{
	const struct tap_net_sum *sum = report->connections.all[at];
	const struct tap_spread *latency = &sum->post_to_receive;

	return (struct tap_net_latency){.count = latency->count,
					.median_ns = tap_spread_percentile(latency, 50),
					.deviation_ns = tap_spread_deviation(latency)};
}

/* Over sockets nobody announces. */
static struct tap_value announced(const struct tap_column *column, const void *row)
{
	const struct tap_net_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = sum->is_socket || sum->is_inferred,
				  .number = sum->announced};
}

static struct tap_value posted(const struct tap_column *column, const void *row)
{
	const struct tap_net_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = sum->is_inferred, .number = sum->posted};
}

static struct tap_value arrived(const struct tap_column *column, const void *row)
{
	const struct tap_net_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = sum->is_inferred, .number = sum->arrived};
}

static struct tap_value sent(const struct tap_column *column, const void *row)
{
	const struct tap_net_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = sum->is_inferred, .number = sum->sent};
}

static struct tap_value channel(const struct tap_column *column, const void *row)
{
	(void) column;
	return tap_value_not_negative(((const struct tap_net_sum *) row)->channel);
}

static struct tap_value channel_known(const struct tap_column *column, const void *row)
{
	const struct tap_net_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = sum->channel < 0,
				  .string = tap_known_name(sum->is_channel_inferred
								   ? TAP_KNOWN_INFERRED
								   : TAP_KNOWN_DECODED)};
}

static struct tap_value wait_max(const struct tap_column *column, const void *row)
{
	const struct tap_net_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = !sum->bounded,
				  .number = sum->wait_max_ns};
}

static const struct tap_column spread_columns[] = {
	TAP_COLUMN("messages", NULL, 0, TAP_UNIT_COUNT, struct tap_spread, count),
	TAP_COLUMNS_OF(tap_spread_columns),
	TAP_COLUMNS_END,
};

#define COLUMN(key, header, width, unit, member) \
	TAP_COLUMN(key, header, width, unit, struct tap_net_sum, member)
#define PERCENTILE(header, percent, member) \
	TAP_COLUMN_PERCENTILE(NULL, header, 13, percent, struct tap_net_sum, member)

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "NCCL messages from, to", 34, add_ends),
	TAP_COLUMN_PROCESS("process", struct tap_net_sum, process),
	COLUMN("net_id", NULL, 0, TAP_UNIT_COUNT, net_id),
	TAP_COLUMN_PROCESS("peer", struct tap_net_sum, peer),
	COLUMN("peer_net_id", NULL, 0, TAP_UNIT_COUNT, peer_net_id),
	COLUMN("messages", NULL, 0, TAP_UNIT_COUNT, messages),
	COLUMN("bytes", "bytes", 14, TAP_UNIT_BYTES, bytes),
	TAP_COLUMN_VALUE("channel", "channel", 8, TAP_UNIT_COUNT, channel),
	TAP_COLUMN_VALUE("channel_known", NULL, 0, TAP_UNIT_NAME, channel_known),
	TAP_COLUMN_VALUE("announced", "announced", 11, TAP_UNIT_COUNT, announced),
	TAP_COLUMN_VALUE("posted", "posted", 10, TAP_UNIT_COUNT, posted),
	TAP_COLUMN_VALUE("arrived", "arrived", 10, TAP_UNIT_COUNT, arrived),
	TAP_COLUMN_VALUE("sent", "done", 10, TAP_UNIT_COUNT, sent),
	COLUMN("partial", NULL, 0, TAP_UNIT_COUNT, partial),
	COLUMN("failures", NULL, 0, TAP_UNIT_COUNT, failures),
	PERCENTILE("CTS-post", 50, cts_to_post),
	PERCENTILE("p99", 99, cts_to_post),
	TAP_COLUMN_PART("cts_to_post", spread_columns, struct tap_net_sum, cts_to_post),
	PERCENTILE("post-receive", 50, post_to_receive),
	PERCENTILE("p99", 99, post_to_receive),
	TAP_COLUMN_PART("post_to_receive", spread_columns, struct tap_net_sum,
			post_to_receive),
	TAP_COLUMN_VALUE(NULL, "wait <=", 13, TAP_UNIT_DURATION, wait_max),
	COLUMN("wait_max_ns", NULL, 0, TAP_UNIT_DURATION, wait_max_ns),
	COLUMN("wait_known", NULL, 0, TAP_UNIT_COUNT, bounded),
	COLUMN("wait_none", "not", 5, TAP_UNIT_COUNT, none),
	COLUMN(NULL, "partial", 9, TAP_UNIT_COUNT, partial),
	COLUMN(NULL, "failed", 9, TAP_UNIT_COUNT, failures),
	TAP_COLUMNS_END,
};

void tap_report_net_text(const struct tap_report_net *report, struct tap_buffer *line)
{
	tap_columns_add_section(line, columns, &report->connections);
}

void tap_report_net_json(const struct tap_report_net *report, struct tap_json *json)
{
	tap_columns_add_json(json, "connections", columns, &report->connections);
}

void tap_report_net_free(struct tap_report_net *report)
{
	tap_rows_free(&report->connections);
}
