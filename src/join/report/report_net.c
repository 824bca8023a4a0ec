/* SPDX-License-Identifier: MIT */
/* Sums, filled by what the sent messages say of themselves when they end. */
#include "join/report/report_net.h"

#include "join/model/process.h"
#include "join/report/report_work.h"
#include "join/base/spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tap_net_sum {
	const struct tap_process *process;
	uint64_t net_id;
	const struct tap_process *peer; /* NULL unknown */
	uint64_t peer_net_id;
	uint64_t messages; /* that are known whole */
	uint64_t bytes;
	uint64_t lacking; /* of which something is missing, or had not completed */
	uint64_t failures;
	struct tap_spread cts_to_post;
	struct tap_spread post_to_receive;
	uint64_t bounded; /* whose wait has a bound */
	uint64_t none;	  /* of these, that surely have not waited */
	uint64_t wait_max_ns;
	struct tap_net_sum *next;
};

static struct tap_net_sum *sum_of(struct tap_report_net *report,
				  const struct tap_process *process, uint64_t id)
{
	struct tap_net_sum *sum =
		tap_table_find(&report->by_connection, process->number, id);

	if (sum)
		return sum;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	if (tap_table_set(&report->by_connection, process->number, id, sum)) {
		free(sum);
		return NULL;
	}
	sum->process = process;
	sum->net_id = id;
	if (!report->first)
		report->end = &report->first;
	*report->end = sum;
	report->end = &sum->next;
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
	if (span->state != TAP_SPAN_COMPLETE) {
		sum->lacking++;
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
	struct tap_net_sum *sum;

	if (link->kind != TAP_LINK_CTS_MESSAGE)
		return 0;
	sum = sum_of(report, link->ends[1].process, link->ends[1].work.message.net_id);
	if (!sum)
		return -ENOMEM;
	sum->peer = link->ends[2].process;
	sum->peer_net_id = link->ends[2].work.message.net_id;
	return 0;
}

/* ---- Text ---- */

static void add_end(struct tap_buffer *line, const struct tap_process *process,
		    uint64_t net_id)
{
	tap_report_work_add_process(line, process);
	tap_buffer_add_string(line, " net ");
	tap_buffer_add_unsigned(line, net_id);
}

static void add_spread_text(struct tap_buffer *line, const struct tap_spread *spread)
{
	tap_report_work_add_percentile(line, spread, 50);
	tap_report_work_add_percentile(line, spread, 99);
}

void tap_report_net_text(const struct tap_report_net *report, struct tap_buffer *line)
{
	const struct tap_net_sum *sum;
	size_t start = line->used;

	if (!report->first)
		return;
	tap_buffer_add_string(line, "NCCL messages from, to");
	tap_buffer_fill(line, start, 36, ' ');
	tap_buffer_add_string(line, "messages         bytes      CTS-post          p99"
				    " post-receive          p99      wait <=  not"
				    "  lacking   failed\n");
	for (sum = report->first; sum; sum = sum->next) {
		start = line->used;
		tap_buffer_add_string(line, "  ");
		add_end(line, sum->process, sum->net_id);
		tap_buffer_add_string(line, ", ");
		if (sum->peer)
			add_end(line, sum->peer, sum->peer_net_id);
		else
			tap_buffer_add_char(line, '?');
		tap_buffer_fill(line, start, 34, ' ');
		tap_view_add_cell(line, sum->messages, 10);
		tap_view_add_cell(line, sum->bytes, 14);
		add_spread_text(line, &sum->cts_to_post);
		add_spread_text(line, &sum->post_to_receive);
		tap_report_work_add_duration(line, sum->bounded
							   ? (int64_t) sum->wait_max_ns
							   : -1);
		tap_view_add_cell(line, sum->none, 5);
		tap_view_add_cell(line, sum->lacking, 9);
		tap_view_add_cell(line, sum->failures, 9);
		tap_buffer_add_char(line, '\n');
	}
	tap_buffer_add_char(line, '\n');
}

/* ---- JSON ---- */

static void add_spread_json(struct tap_json *json, const char *name,
			    const struct tap_spread *spread)
{
	tap_json_open(json, name, '{');
	tap_json_unsigned(json, "messages", spread->count);
	tap_json_not_negative(json, "p50_ns", tap_spread_percentile(spread, 50));
	tap_json_not_negative(json, "p99_ns", tap_spread_percentile(spread, 99));
	tap_json_not_negative(json, "max_ns", tap_spread_max(spread));
	tap_json_close(json);
}

void tap_report_net_json(const struct tap_report_net *report, struct tap_json *json)
{
	const struct tap_net_sum *sum;

	tap_json_open(json, "connections", '[');
	for (sum = report->first; sum; sum = sum->next) {
		tap_json_open(json, NULL, '{');
		tap_json_unsigned(json, "process", sum->process->number);
		tap_json_unsigned(json, "net_id", sum->net_id);
		tap_json_not_negative(json, "peer",
				      sum->peer ? (int64_t) sum->peer->number : -1);
		tap_json_unsigned(json, "peer_net_id", sum->peer_net_id);
		tap_json_unsigned(json, "messages", sum->messages);
		tap_json_unsigned(json, "bytes", sum->bytes);
		tap_json_unsigned(json, "lacking", sum->lacking);
		tap_json_unsigned(json, "failures", sum->failures);
		add_spread_json(json, "cts_to_post", &sum->cts_to_post);
		add_spread_json(json, "post_to_receive", &sum->post_to_receive);
		tap_json_unsigned(json, "wait_max_ns", sum->wait_max_ns);
		tap_json_unsigned(json, "wait_known", sum->bounded);
		tap_json_unsigned(json, "wait_none", sum->none);
		tap_json_close(json);
	}
	tap_json_close(json);
}

void tap_report_net_free(struct tap_report_net *report)
{
	struct tap_net_sum *sum;

	while ((sum = report->first)) {
		report->first = sum->next;
		free(sum);
	}
	tap_table_free(&report->by_connection);
}
