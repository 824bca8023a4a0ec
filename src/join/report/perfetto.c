/* SPDX-License-Identifier: MIT */
/*
 * The view for Perfetto, and that as JSON: what views/perfetto.h makes of spans and
 * links, and the findings as instants, each at the rank at fault.
 */
#include "join/report/focus.h"
#include "join/report/forward.h"
#include "join/views/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct view {
	struct tap_finding_view base;
	struct tap_perfetto perfetto;
};

static int take_begun(void *data, struct tap_span *span)
{
	struct view *view = data;

	return tap_perfetto_begun(&view->perfetto, span);
}

static int take_ended(void *data, struct tap_span *span)
{
	struct view *view = data;
	int ret = tap_forward_ended(data, span);

	return ret ? ret : tap_perfetto_ended(&view->perfetto, span);
}

static int take_link(void *data, const struct tap_link *link)
{
	struct view *view = data;
	int ret = tap_forward_link(data, link);

	return ret ? ret : tap_perfetto_link(&view->perfetto, link);
}

static int take_problem(void *data, const struct tap_problem *problem)
{
	struct view *view = data;
	int ret = tap_forward_problem(data, problem);

	return ret ? ret : tap_perfetto_problem(&view->perfetto, problem);
}

static int take_sample(void *data, const struct tap_sampled *sample)
{
	struct view *view = data;
	int ret = tap_forward_sample(data, sample);

	return ret ? ret : tap_counts_sample(&view->perfetto.counts, sample);
}

static int take_nccl_thread(void *data, const struct tap_nccl_thread *thread)
{
	struct view *view = data;

	tap_tracks_thread(&view->perfetto.tracks, thread);
	return tap_forward_nccl_thread(data, thread);
}

static int take_connection(void *data, const struct tap_nccl_connection *connection)
{
	struct view *view = data;

	tap_tracks_connection(&view->perfetto.tracks, connection);
	return tap_forward_connection(data, connection);
}

/* ---- Findings ---- */

static void add_ranks(struct tap_buffer *text, const int64_t *ranks, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (i)
			tap_buffer_add_string(text, ", ");
		if (ranks[i] < 0)
			tap_buffer_add_char(text, '?');
		else
			tap_buffer_add_signed(text, ranks[i]);
	}
}

static void add_fields(struct view *view, const struct tap_finding *finding)
{
	struct tap_packets *packets = &view->perfetto.packets;
	struct tap_buffer *text = &view->base.view.line;
	size_t i;

	tap_packets_string(packets, "kind", tap_finding_kind_name(finding->kind));
	tap_packets_string(packets, "severity", tap_severity_name(finding->severity));
	tap_packets_text(packets, "headline", &finding->headline);
	tap_packets_text(packets, "detail", &finding->detail);
	tap_packets_text(packets, "rules_out", &finding->rules_out);
	tap_packets_text(packets, "next", &finding->next);
	text->used = 0;
	add_ranks(text, finding->ranks.items, finding->ranks.count);
	tap_packets_text(packets, "ranks", text);
	text->used = 0;
	add_ranks(text, finding->waiting.items, finding->waiting.count);
	tap_packets_text(packets, "waiting_ranks", text);
	text->used = 0;
	if (finding->op_number)
		tap_packets_unsigned(packets, "op_number", finding->op_number);
	if (finding->cost_ns)
		tap_packets_signed(packets, "cost_ns", finding->cost_ns);
	for (i = 0; i < finding->evidence.count; i++)
		tap_packets_signed(packets, finding->evidence.items[i].name,
				   finding->evidence.items[i].value);
}

/* "HUNG ncclAllReduce #3 ..." */
static int show_at(struct view *view, size_t number, const struct tap_process *process)
{
	const struct tap_finding *finding = tap_findings_at(view->base.findings, number);
	const struct tap_context *context = view->base.view.context;
	struct tap_buffer *name = &view->base.view.line;
	int ret;

	name->used = 0;
	tap_buffer_add_string(name, tap_finding_word(finding));
	tap_buffer_add_char(name, ' ');
	tap_buffer_add(name, finding->headline.data, finding->headline.used);
	tap_buffer_add_char(name, '\0');
	ret = name->is_short ? -ENOMEM
			     : tap_perfetto_instant(&view->perfetto, process, "finding",
						    name->data);
	if (ret)
		return ret;
	/* With filters it is another number than that of `timeline --finding`. */
	if (!view->base.view.filters)
		tap_packets_unsigned(&view->perfetto.packets, "finding", number + 1);
	add_fields(view, finding);
	return tap_packets_end(&view->perfetto.packets,
			       finding->time_ns >= 0 ? finding->time_ns
						     : context->last_ns,
			       NULL, NULL);
}

/* A finding that blames no process of the trace stands at the trace. */
static int show_finding(struct view *view, size_t number)
{
	struct tap_culprits culprits = {0};
	int ret = tap_focus_add_culprits(&culprits,
					 tap_findings_at(view->base.findings, number),
					 view->base.view.context);
	size_t i;

	for (i = 0; !ret && i < culprits.count; i++)
		ret = show_at(view, number, culprits.items[i]);
	if (!ret && !culprits.count)
		ret = show_at(view, number, NULL);
	tap_vec_free(&culprits);
	return ret;
}

/* How far the merged files fit is for the person who merges them, too. */
static int report_merged(struct view *view)
{
	struct tap_buffer *text = &view->base.view.line;

	text->used = 0;
	tap_merged_add_text(text, &view->perfetto.merged, view->base.view.context);
	if (text->is_short)
		return -ENOMEM;
	fwrite(text->data, 1, text->used, stderr);
	return 0;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct view *view = data;
	int ret = tap_findings_conclude(view->base.findings, loss);
	size_t i;

	for (i = 0; !ret && i < tap_findings_count(view->base.findings); i++)
		ret = show_finding(view, i);
	if (!ret)
		ret = tap_perfetto_finish(&view->perfetto, loss);
	return ret ? ret : report_merged(view);
}

static void destroy(struct tap_view *base)
{
	struct view *view = (struct view *) base;

	tap_perfetto_free(&view->perfetto);
	tap_forward_free(&view->base);
	free(view);
}

static const struct tap_consumer consumer = {
	.process = tap_forward_process,
	.problem = take_problem,
	.sample = take_sample,
	.thread = tap_forward_thread,
	.communicator = tap_forward_communicator,
	.nccl_thread = take_nccl_thread,
	.connection = take_connection,
	.span_begun = take_begun,
	.span_ended = take_ended,
	.link = take_link,
	.defect = tap_forward_defect,
	.end_state = tap_forward_end_state,
	.finish = finish,
};

static struct tap_view *create(const struct tap_packet_form *form)
{
	struct view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->base.view.consumer = &consumer;
	view->base.view.all = &tap_forward_all;
	view->base.view.destroy = destroy;
	tap_perfetto_init(&view->perfetto, &view->base.view, form);
	view->base.findings = tap_findings_create(&view->base.view);
	if (view->base.findings)
		return &view->base.view;
	free(view);
	return NULL;
}

struct tap_view *tap_perfetto_create(void)
{
	return create(&tap_packet_form_proto);
}

struct tap_view *tap_trace_events_create(void)
{
	return create(&tap_packet_form_json);
}

int tap_trace_events_merge(struct tap_view *view, const char *path,
			   struct tap_event_file_error *error)
{
	struct tap_perfetto *perfetto = &((struct view *) view)->perfetto;
	int ret = tap_merged_add(&perfetto->merged, path, error);

	perfetto->packets.earliest_ns = tap_merged_first_ns(&perfetto->merged);
	return ret;
}
