/* SPDX-License-Identifier: MIT */
/* Sums of the rows of two tables of the report, each by pair of processes. */
#include "join/report/page_traffic.h"

#include "join/report/columns.h"

#include <errno.h>
#include <stdlib.h>

struct pair {
	const struct tap_process *from, *to; /* NULL: not known */
	uint64_t messages, bytes;
	bool is_inferred;
};

struct traffic {
	const char *what, *latency_of;
	struct tap_rows pairs;
	struct tap_spread latency;
	bool is_latency_inferred;
};

static int add(struct traffic *traffic, const struct pair *more,
	       const struct tap_spread *latency)
{
	struct pair *pair = tap_rows_get(&traffic->pairs, more->from->number,
					 more->to ? more->to->number + UINT64_C(1) : 0,
					 sizeof(*pair));

	if (!pair)
		return -ENOMEM;
	pair->from = more->from;
	pair->to = more->to;
	pair->messages += more->messages;
	pair->bytes += more->bytes;
	pair->is_inferred |= more->is_inferred;
	traffic->is_latency_inferred |= more->is_inferred && latency->count;
	tap_spread_add_up(&traffic->latency, latency);
	return 0;
}

static int take_net(struct traffic *traffic, const struct tap_report_net *net)
{
	struct tap_net_traffic one;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < net->connections.count; i++) {
		one = tap_report_net_traffic(net, i);
		ret = add(traffic,
			  &(struct pair){one.from, one.to, one.messages, one.bytes,
					 one.is_inferred},
			  one.latency);
	}
	return ret;
}

static int take_work(struct traffic *traffic, const struct tap_report_work *work)
{
	struct tap_work_traffic one;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < work->peers.count; i++) {
		one = tap_report_work_traffic(work, i);
		ret = add(traffic,
			  &(struct pair){one.from, one.to, one.messages, one.bytes,
					 false},
			  one.latency);
	}
	return ret;
}

/* ---- JSON ---- */

static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = *(const struct pair *const *) left;
	const struct pair *b = *(const struct pair *const *) right;
	int order = tap_rows_compare(b->bytes, a->bytes);

	if (!order)
		order = tap_rows_compare(b->messages, a->messages);
	if (!order)
		order = tap_rows_compare(a->from->number, b->from->number);
	return order ? order
		     : tap_rows_compare(a->to ? a->to->number + UINT64_C(1) : 0,
					b->to ? b->to->number + UINT64_C(1) : 0);
}

static void add_pair(struct tap_json *json, const struct pair *pair)
{
	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "process", pair->from->number);
	if (pair->to)
		tap_json_unsigned(json, "peer", pair->to->number);
	else
		tap_json_null(json, "peer");
	tap_json_unsigned(json, "messages", pair->messages);
	tap_json_unsigned(json, "bytes", pair->bytes);
	tap_json_string(json, "known",
			tap_known_name(pair->is_inferred ? TAP_KNOWN_INFERRED
							 : TAP_KNOWN_EXACT));
	tap_json_close(json);
}

/* Each count of durations that is not 0, as [from_ns, to_ns, count]. */
static void add_latency(struct tap_json *json, const struct traffic *traffic)
{
	const struct tap_spread *latency = &traffic->latency;
	uint64_t from_ns, to_ns;
	unsigned int i;

	tap_json_open(json, "latency", '{');
	tap_json_string(json, "of", traffic->latency_of);
	tap_json_unsigned(json, "count", latency->count);
	tap_json_not_negative(json, "p50_ns", tap_spread_percentile(latency, 50));
	tap_json_not_negative(json, "p99_ns", tap_spread_percentile(latency, 99));
	tap_json_not_negative(json, "max_ns", tap_spread_max(latency));
	tap_json_bool(json, "rounded", !tap_spread_is_exact(latency));
	tap_json_string(json, "known",
			tap_known_name(traffic->is_latency_inferred ? TAP_KNOWN_INFERRED
								    : TAP_KNOWN_EXACT));
	tap_json_open(json, "counts", '[');
	for (i = 0; i < TAP_SPREAD_SIZES; i++) {
		if (!latency->sizes[i])
			continue;
		tap_spread_range(i, &from_ns, &to_ns);
		tap_json_open(json, NULL, '[');
		tap_json_unsigned(json, NULL, from_ns);
		tap_json_unsigned(json, NULL, to_ns);
		tap_json_unsigned(json, NULL, latency->sizes[i]);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_close(json);
}

static void add_traffic(struct tap_json *json, struct traffic *traffic)
{
	const size_t count = traffic->pairs.count;
	uint64_t bytes = 0;
	size_t i;

	tap_rows_sort(&traffic->pairs, compare_pairs);
	tap_json_open(json, NULL, '{');
	tap_json_string(json, "what", traffic->what);
	tap_json_open(json, "pairs", '[');
	for (i = 0; i < count && i < TAP_PAGE_PAIRS; i++)
		add_pair(json, traffic->pairs.all[i]);
	tap_json_close(json);
	tap_json_unsigned(json, "other_pairs", count - i);
	for (; i < count; i++)
		bytes += ((const struct pair *) traffic->pairs.all[i])->bytes;
	tap_json_unsigned(json, "other_bytes", bytes);
	add_latency(json, traffic);
	tap_json_close(json);
}

int tap_page_traffic_add_json(struct tap_json *json, const struct tap_report_net *net,
			      const struct tap_report_work *work)
{
	struct traffic messages = {.what = "messages",
				   .latency_of = "from the post until it is received"};
	struct traffic requests = {.what = "work requests",
				   .latency_of = "from the post until it is completed"};
	int ret = take_net(&messages, net);

	if (!ret)
		ret = take_work(&requests, work);
	tap_json_open(json, "traffic", '[');
	if (!ret && messages.pairs.count)
		add_traffic(json, &messages);
	if (!ret && requests.pairs.count)
		add_traffic(json, &requests);
	tap_json_close(json);
	tap_rows_free(&messages.pairs);
	tap_rows_free(&requests.pairs);
	return ret;
}
