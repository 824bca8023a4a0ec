/* SPDX-License-Identifier: MIT */
/* Slices that are open or held, and the flows between them. */
#include "join/views/perfetto.h"

#include <errno.h>
#include <stdlib.h>

#include "join/views/filtered.h"
#include "join/views/perfetto_name.h"
#include "join/views/perfetto_proto.h"

/* A span of which a packet is held, or that is open. */
struct slice {
	struct tap_perfetto *perfetto;
	struct tap_known_id id;
	struct tap_track_lane *lane;
	uint64_t begin, end; /* numbers of its packets; 0: not made */
	int64_t begin_ns, end_ns;
	size_t fields;	     /* how many its first packet has */
	unsigned int held;   /* packets */
	bool is_over;
	bool has_end; /* end_ns is when it ended */
};

/* ---- Slices ---- */

static struct slice *find(const struct tap_perfetto *perfetto, struct tap_known_id id)
{
	return tap_table_find(&perfetto->by_id, id.process, id.number);
}

static void drop_if_done(struct slice *slice)
{
	struct tap_perfetto *perfetto = slice->perfetto;

	if (slice->held || !slice->is_over)
		return;
	/* Two spans of a damaged trace may have one id. */
	if (find(perfetto, slice->id) == slice)
		tap_table_remove(&perfetto->by_id, slice->id.process, slice->id.number);
	free(slice);
}

static void take_written(void *owner, uint64_t number)
{
	struct slice *slice = owner;

	(void) number;
	slice->held--;
	drop_if_done(slice);
}

void tap_perfetto_init(struct tap_perfetto *perfetto, const struct tap_view *view,
		       const struct tap_packet_form *form)
{
	perfetto->packets.form = form;
	perfetto->packets.view = view;
	perfetto->packets.written = take_written;
	perfetto->packets.earliest_ns = INT64_MAX;
	perfetto->tracks.packets = &perfetto->packets;
	perfetto->counts.packets = &perfetto->packets;
	perfetto->counts.tracks = &perfetto->tracks;
}

static struct slice *make_slice(struct tap_perfetto *perfetto,
				const struct tap_span *span, int64_t begin_ns)
{
	struct slice *slice = calloc(1, sizeof(*slice));

	if (!slice)
		return NULL;
	slice->perfetto = perfetto;
	slice->begin_ns = begin_ns;
	slice->id = tap_known_span(span->process, &span->work, span->call_id);
	slice->lane = tap_tracks_begin(&perfetto->tracks, span, begin_ns);
	if (slice->lane)
		return slice;
	free(slice);
	return NULL;
}

/* Makes the slice known by its id.  A damaged trace may have another one of that id. */
static int file_slice(struct tap_perfetto *perfetto, struct slice *slice)
{
	struct slice *other = find(perfetto, slice->id);

	if (tap_table_set(&perfetto->by_id, slice->id.process, slice->id.number, slice))
		return -ENOMEM;
	if (!other)
		return 0;
	other->is_over = true;
	drop_if_done(other);
	return 0;
}

static void add_about(struct tap_perfetto *perfetto, const struct tap_span *span)
{
	struct tap_packets *packets = &perfetto->packets;
	const struct tap_member *member = span->member;
	const uint64_t key = member ? tap_member_comm(member)->key
				    : span->operation.comm_key;

	if (key)
		tap_packets_hex(packets, "comm_key", key);
	if (member && member->rank >= 0)
		tap_packets_signed(packets, "comm_rank", member->rank);
	if (span->operation.number)
		tap_packets_unsigned(packets, "op_number", span->operation.number);
	if (span->is_inner)
		tap_packets_bool(packets, "inner", true);
	if (span->is_from_nvtx)
		tap_packets_string(packets, "known_by", "nvtx");
	if (!span->caller_number)
		return;
	perfetto->text.used = 0;
	tap_view_add_caller(&perfetto->text, span->caller, span->caller_number,
			    span->caller_offset);
	tap_buffer_add_char(&perfetto->text, '\0');
	if (!perfetto->text.is_short)
		tap_packets_string(packets, "caller", perfetto->text.data);
}

static void add_fields(struct tap_packets *packets, const struct tap_fields *fields,
		       size_t from)
{
	size_t i;

	for (i = from; i < fields->count; i++)
		tap_packets_field(packets, fields, &fields->list[i],
				  fields->list[i].name);
}

static int write_begin(struct tap_perfetto *perfetto, const struct tap_span *span,
		       struct slice *slice, int64_t begin_ns)
{
	struct tap_packets *packets = &perfetto->packets;
	int ret;

	perfetto->text.used = 0;
	tap_perfetto_add_name(&perfetto->text, span);
	tap_buffer_add_char(&perfetto->text, '\0');
	if (perfetto->text.is_short)
		return -ENOMEM;
	tap_packets_begin(packets, TYPE_BEGIN, slice->lane->track);
	tap_packets_category(packets, span->name->layer);
	tap_packets_name(packets, perfetto->text.data);
	add_about(perfetto, span);
	add_fields(packets, &span->entry, 0);
	slice->fields = span->entry.count;
	ret = tap_packets_end(packets, begin_ns, slice, &slice->begin);
	slice->held += !ret;
	return ret;
}

static int draw_waiting(struct tap_perfetto *perfetto);

int tap_perfetto_begun(struct tap_perfetto *perfetto, const struct tap_span *span)
{
	struct slice *slice = make_slice(perfetto, span, span->begin_ns);
	int ret;

	if (!slice)
		return -ENOMEM;
	ret = file_slice(perfetto, slice);
	if (!ret)
		ret = write_begin(perfetto, span, slice, span->begin_ns);
	if (!ret)
		ret = tap_counts_begun(&perfetto->counts, span);
	return ret ? ret : draw_waiting(perfetto);
}

/* Where an argument is called "result", too, what is returned has another name. */
static void add_exit(struct tap_perfetto *perfetto, const struct tap_span *span)
{
	const struct tap_field *result = tap_span_result(span), *field;
	struct tap_packets *packets = &perfetto->packets;
	size_t i;

	if (result)
		tap_packets_field(packets, &span->exit, result,
				  tap_fields_find(&span->entry, "result") ? "returned"
									  : "result");
	for (i = 0; i < span->exit.count; i++) {
		field = &span->exit.list[i];
		if (field == result)
			continue;
		if (!tap_fields_find_headed(&span->entry, field->name, field->head)) {
			tap_packets_field(packets, &span->exit, field, field->name);
			continue;
		}
		perfetto->text.used = 0;
		tap_buffer_add_string(&perfetto->text, field->name);
		tap_buffer_add_string(&perfetto->text, "_after");
		tap_buffer_add_char(&perfetto->text, '\0');
		if (!perfetto->text.is_short)
			tap_packets_field(packets, &span->exit, field,
					  perfetto->text.data);
	}
}

static int write_end(struct tap_perfetto *perfetto, const struct tap_span *span,
		     struct slice *slice, int64_t end_ns)
{
	struct tap_packets *packets = &perfetto->packets;
	const int64_t shown_ns = tap_tracks_end(slice->lane, end_ns);
	int ret;

	tap_packets_begin(packets, TYPE_END, slice->lane->track);
	if (span->state != TAP_SPAN_COMPLETE)
		tap_packets_string(packets, "state", tap_span_state_name(span->state));
	if (span->is_end_bound)
		tap_packets_signed(packets, "end_max_ns", end_ns);
	else if (shown_ns != end_ns)
		tap_packets_signed(packets, "end_ns", end_ns);
	add_fields(packets, &span->entry, slice->fields);
	add_exit(perfetto, span);
	slice->end_ns = shown_ns;
	slice->has_end = span->state == TAP_SPAN_COMPLETE && !span->is_end_bound;
	ret = tap_packets_end(packets, shown_ns, slice, &slice->end);
	slice->held += !ret;
	return ret;
}

/*
 * When a span is drawn to end: of a call that returned at an unknown time, when that was
 * known; of one that never returned, not at all.
 */
static int draw_end(struct tap_perfetto *perfetto, const struct tap_span *span,
		    struct slice *slice)
{
	switch (span->state) {
	case TAP_SPAN_RUNNING:
	case TAP_SPAN_OPEN:
		return 0;
	case TAP_SPAN_COMPLETE:
	case TAP_SPAN_BEGIN_LOST:
		return write_end(perfetto, span, slice, span->end_ns);
	case TAP_SPAN_END_LOST:
		break;
	}
	return write_end(perfetto, span, slice, perfetto->packets.view->context->last_ns);
}

int tap_perfetto_ended(struct tap_perfetto *perfetto, const struct tap_span *span)
{
	struct slice *slice;
	int ret = 0;

	/* Of a span without a beginning nobody told before. */
	if (span->state == TAP_SPAN_BEGIN_LOST) {
		slice = make_slice(perfetto, span, span->end_ns);
		/* In a damaged trace it may have the id of one that is open. */
		if (slice && !find(perfetto, slice->id))
			ret = file_slice(perfetto, slice);
		if (slice && !ret)
			ret = write_begin(perfetto, span, slice, span->end_ns);
	} else {
		slice = find(perfetto,
			     tap_known_span(span->process, &span->work, span->call_id));
	}
	if (!slice)
		return span->state == TAP_SPAN_BEGIN_LOST ? -ENOMEM : 0;
	if (!ret)
		ret = draw_end(perfetto, span, slice);
	if (!ret)
		ret = tap_counts_ended(&perfetto->counts, span);
	slice->is_over = true;
	drop_if_done(slice);
	return ret;
}

/*
 * ---- Flows ----
 *
 * The importer draws an arrow from the slice that begins first, whatever the file says.  A
 * receive is posted before the message is sent, and a kernel waits for it: there the arrow
 * ends in an instant, when the message was there.
 */

static bool begins_after(const struct slice *effect, const struct slice *cause)
{
	return effect->begin_ns > cause->begin_ns ||
	       (effect->begin_ns == cause->begin_ns && effect->begin > cause->begin);
}

/* Ends an arrow in the slice itself. */
static int end_in(struct tap_perfetto *perfetto, const struct slice *effect,
		  uint64_t flow)
{
	const bool has_begin = tap_packets_holds(&perfetto->packets, effect->begin);

	return tap_packets_flow(&perfetto->packets,
				has_begin ? effect->begin : effect->end, flow,
				TAP_FLOW_ENDS);
}

/* Ends an arrow in a slice that was there before the cause. */
static int arrive_in(struct tap_perfetto *perfetto, const struct slice *cause,
		     const struct slice *effect, bool is_receive, uint64_t flow)
{
	/* At the very end, too, the arrow must come before the slice is over. */
	if (is_receive || (tap_packets_holds(&perfetto->packets, effect->end) &&
			   cause->end_ns == effect->end_ns))
		return tap_packets_flow(&perfetto->packets, effect->end, flow,
					TAP_FLOW_ARRIVES);
	return tap_packets_arrival(&perfetto->packets, effect->lane->track,
				   cause->end_ns, flow);
}

/* Whether an arrow can end in an instant: when the message was there is known. */
static bool can_arrive(const struct slice *cause, const struct slice *effect,
		       bool is_receive)
{
	if (is_receive)
		return effect->has_end && effect->end_ns > cause->begin_ns;
	return cause->has_end && cause->end_ns >= effect->begin_ns &&
	       (!effect->has_end || cause->end_ns <= effect->end_ns);
}

static bool is_held(const struct tap_perfetto *perfetto, const struct slice *cause,
		    const struct slice *effect)
{
	return cause && effect && tap_packets_holds(&perfetto->packets, cause->begin) &&
	       (tap_packets_holds(&perfetto->packets, effect->begin) ||
		tap_packets_holds(&perfetto->packets, effect->end));
}

/* Draws an arrow between two slices that are held, unless their times contradict it. */
static int draw_held(struct tap_perfetto *perfetto, const struct tap_arrow *arrow,
		     const struct slice *cause, const struct slice *effect)
{
	const bool is_direct = begins_after(effect, cause);
	uint64_t flow;
	int ret;

	if (!is_direct && (!(arrow->is_receive || arrow->is_served) ||
			   !can_arrive(cause, effect, arrow->is_receive))) {
		perfetto->contradicted++;
		return 0;
	}
	flow = ++perfetto->flow_count;
	ret = tap_packets_flow(&perfetto->packets, cause->begin, flow, TAP_FLOW_BEGINS);
	if (ret)
		return ret;
	return is_direct ? end_in(perfetto, effect, flow)
			 : arrive_in(perfetto, cause, effect, arrow->is_receive, flow);
}

/* The request of a flush begins right after the link: wait for it, but not twice. */
static int draw_waiting(struct tap_perfetto *perfetto)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < perfetto->waiting.count; i++) {
		const struct tap_arrow *arrow = &perfetto->waiting.items[i];
		const struct slice *cause = find(perfetto, arrow->from);
		const struct slice *effect = find(perfetto, arrow->to);

		if (is_held(perfetto, cause, effect))
			ret = draw_held(perfetto, arrow, cause, effect);
		else
			perfetto->late++;
	}
	perfetto->waiting.count = 0;
	return ret;
}

static int draw(struct tap_perfetto *perfetto, const struct tap_link_end *from,
		const struct tap_link_end *to)
{
	const struct tap_arrow arrow = {
		.from = tap_known_span(from->process, &from->work, from->call_id),
		.to = tap_known_span(to->process, &to->work, to->call_id),
		.is_receive = tap_work_is_receive(&to->work),
		.is_served = tap_work_is_run(&to->work) &&
			     tap_work_is_message(&from->work),
	};
	const struct slice *cause = find(perfetto, arrow.from);
	const struct slice *effect = find(perfetto, arrow.to);

	if (is_held(perfetto, cause, effect))
		return draw_held(perfetto, &arrow, cause, effect);
	if (cause && !effect)
		return tap_vec_add(&perfetto->waiting, arrow);
	perfetto->late++;
	return 0;
}

/* From the first end to each of the others, or back. */
static int draw_star(struct tap_perfetto *perfetto, const struct tap_link *link,
		     size_t hub, size_t from, bool is_back)
{
	const struct tap_link_end *ends = link->ends;
	int ret = 0;
	size_t i;

	for (i = from; !ret && i < link->count; i++)
		ret = is_back ? draw(perfetto, &ends[i], &ends[hub])
			      : draw(perfetto, &ends[hub], &ends[i]);
	return ret;
}

int tap_perfetto_link(struct tap_perfetto *perfetto, const struct tap_link *link)
{
	int ret;

	switch (link->kind) {
	case TAP_LINK_COLLECTIVE_RANKS: /* no rank's call is the cause of another's */
	case TAP_LINK_SEND_RECV:
	case TAP_LINK_POST_COMPLETION: /* one slice */
	case TAP_LINK_PROXY_OP:	       /* which has them around it */
		return 0;
	case TAP_LINK_CTS_MESSAGE:
		ret = draw_star(perfetto, link, 1, 2, false);
		return ret ? ret : draw(perfetto, &link->ends[0], &link->ends[1]);
	case TAP_LINK_KERNEL_COLLECTIVE:
		return draw_star(perfetto, link, 0, 1, true);
	case TAP_LINK_MESSAGE_KERNEL:
		/* The message itself has a link of its own. */
		ret = draw(perfetto, &link->ends[0], &link->ends[1]);
		return ret ? ret : draw(perfetto, &link->ends[2], &link->ends[3]);
	default:
		return draw_star(perfetto, link, 0, 1, false);
	}
}

/* ---- Instants ---- */

int tap_perfetto_instant(struct tap_perfetto *perfetto, const struct tap_process *process,
			 const char *category, const char *name)
{
	const uint64_t track = tap_tracks_findings(&perfetto->tracks, process);

	if (!track)
		return -ENOMEM;
	tap_packets_begin(&perfetto->packets, TYPE_INSTANT, track);
	tap_packets_category(&perfetto->packets, category);
	tap_packets_name(&perfetto->packets, name);
	return 0;
}

int tap_perfetto_problem(struct tap_perfetto *perfetto, const struct tap_problem *problem)
{
	int ret = tap_perfetto_instant(perfetto, problem->process, "problem",
				       problem->what);

	if (ret)
		return ret;
	tap_packets_string(&perfetto->packets, "detail", problem->detail);
	tap_packets_unsigned(&perfetto->packets, "count", problem->count);
	return tap_packets_end(&perfetto->packets, problem->time_ns, NULL, NULL);
}

/* What a reader must know of the whole file: what it lacks. */
static int tell_losses(struct tap_perfetto *perfetto, const struct tap_loss *loss)
{
	const struct tap_view *view = perfetto->packets.view;
	struct tap_packets *packets = &perfetto->packets;
	struct tap_buffer *text = &perfetto->text;
	int ret = tap_perfetto_instant(perfetto, NULL, "trace", "about this trace");

	if (ret)
		return ret;
	text->used = 0;
	tap_filtered_add_text(text, view);
	tap_view_add_clocks_text(text, view->context);
	tap_view_add_loss_text(text, loss);
	tap_merged_add_text(text, &perfetto->merged, view->context);
	tap_packets_text(packets, "text", text);
	if (perfetto->late)
		tap_packets_unsigned(packets, "flows_without_slice", perfetto->late);
	if (perfetto->contradicted)
		tap_packets_unsigned(packets, "flows_not_in_order",
				     perfetto->contradicted);
	return tap_packets_end(packets, view->context->first_ns, NULL, NULL);
}

int tap_perfetto_finish(struct tap_perfetto *perfetto, const struct tap_loss *loss)
{
	int ret = draw_waiting(perfetto);

	if (!ret)
		ret = tap_counts_finish(&perfetto->counts);
	if (!ret)
		ret = tap_merged_place(&perfetto->merged, &perfetto->tracks);
	if (!ret)
		ret = tell_losses(perfetto, loss);
	if (!ret)
		ret = tap_tracks_describe(&perfetto->tracks);
	if (!ret)
		ret = tap_merged_write(&perfetto->merged, &perfetto->packets);
	return ret ? ret : tap_packets_finish(&perfetto->packets);
}

void tap_perfetto_free(struct tap_perfetto *perfetto)
{
	size_t i;

	for (i = 0; i < perfetto->by_id.size; i++)
		free(perfetto->by_id.slots[i].value);
	tap_table_free(&perfetto->by_id);
	tap_vec_free(&perfetto->waiting);
	tap_counts_free(&perfetto->counts);
	tap_tracks_free(&perfetto->tracks);
	tap_merged_free(&perfetto->merged);
	tap_packets_free(&perfetto->packets);
	tap_buffer_free(&perfetto->text);
}
