/* SPDX-License-Identifier: MIT */
/* A message whose ends are both known is passed on to be ascribed. */
#include "join/nccl/net_stream_span.h"

#include "join/model/link.h"
#include "join/model/process.h"
#include "join/model/work.h"
#include "join/nccl/attribution.h"
#include "join/nccl/net_client.h"

#include <errno.h>

int tap_stream_span_begin(struct tap_streams *streams, struct tap_stream_message *message,
			  int64_t tid)
{
	const struct tap_stream_end *end = message->end;
	struct tap_span *span =
		tap_work_make_span(streams->context, end->process, "net",
				   end->is_sender ? "net_send" : "net_recv", tid);

	if (!span)
		return -ENOMEM;
	message->span = span;
	span->begin_ns = message->begin_ns;
	span->work = (struct tap_work){.kind = end->is_sender ? TAP_WORK_NET_SEND
							      : TAP_WORK_NET_RECEIVE,
				       .message = {.net_id = end->net_id,
						   .number = message->number}};
	tap_fields_add_unsigned(&span->entry, "net_id", end->net_id);
	tap_fields_add_unsigned(&span->entry, "request", message->number);
	tap_fields_add_unsigned(&span->entry, "requests", 1);
	tap_fields_add_text(&span->entry, "transport", "socket");
	if (message->is_inferred)
		tap_fields_add_text(&span->entry, "message_known", "inferred");
	streams->describe(streams->data, end, &span->entry);
	return tap_emit_begun(streams->context, span);
}

int tap_stream_span_end(struct tap_streams *streams, struct tap_stream_message *message,
			const struct tap_stream_message *other)
{
	struct tap_span *span = message->span;
	struct tap_fields *exit = &span->exit;

	if (message->is_doubted)
		tap_fields_add_text(exit, "message_known", "unknown");
	else if (message->has_size)
		tap_fields_add_unsigned(exit, "bytes", message->size);
	tap_fields_add_unsigned(exit, "parts", message->tasks ? message->tasks : 1);
	if (message->end->peer) {
		tap_fields_add_unsigned(exit, "peer_process",
					message->end->peer->process->number);
		tap_fields_add_unsigned(exit, "peer_net_id", message->end->peer->net_id);
	}
	if (other && message->end->is_sender &&
	    message->end->process->trace == other->end->process->trace &&
	    other->end_ns >= message->begin_ns)
		tap_fields_add_unsigned(exit, "post_to_receive_ns",
					(uint64_t) (other->end_ns - message->begin_ns));
	if (message->is_over)
		tap_work_add_status(exit, 0);
	span->end_ns = message->end_ns;
	span->state = message->is_over	     ? TAP_SPAN_COMPLETE
		      : message->is_end_lost ? TAP_SPAN_END_LOST
					     : TAP_SPAN_OPEN;
	return tap_emit_ended(streams->context, span);
}

static struct tap_link_end link_end(const struct tap_stream_message *message)
{
	return (struct tap_link_end){.process = message->end->process,
				     .name = message->span->name,
				     .work = message->span->work,
				     .rank = -1};
}

static int emit_link(struct tap_streams *streams, const struct tap_stream_message *sent,
		     const struct tap_stream_message *received)
{
	const struct tap_link_end ends[2] = {link_end(sent), link_end(received)};
	const struct tap_link link = {.kind = TAP_LINK_SOCKET_MESSAGE,
				      .known = sent->is_inferred ? TAP_KNOWN_INFERRED
								 : TAP_KNOWN_EXACT,
				      .why = sent->is_inferred ? TAP_WHY_ORDER
							       : TAP_WHY_NONE,
				      .is_complete = true,
				      .peer = -1,
				      .nranks = -1,
				      .operation = sent->span->name,
				      .ends = ends,
				      .count = 2,
				      .begin_ns = sent->begin_ns,
				      .end_ns = received->end_ns,
				      .bytes = sent->size};

	tap_count_match(streams->context, TAP_MATCH_SOCKET_MESSAGE, link.known, link.why);
	return tap_emit_link(streams->context, &link);
}

int tap_stream_span_half(struct tap_streams *streams,
			 const struct tap_stream_message *message)
{
	const struct tap_link_end end = link_end(message);
	const struct tap_half half = {.link = {.kind = TAP_LINK_SOCKET_MESSAGE,
					       .known = TAP_KNOWN_EXACT,
					       .peer = -1,
					       .nranks = -1,
					       .operation = message->span->name,
					       .ends = &end,
					       .count = 1,
					       .begin_ns = message->begin_ns,
					       .end_ns = message->end_ns,
					       .bytes = message->size},
				      .is_receive = !message->end->is_sender,
				      .ordinal = message->number,
				      .has_bytes = message->has_size,
				      .listener = message->end->listener,
				      .offset = message->offset};

	return tap_emit_half(streams->context, &half);
}

static int ascribe(struct tap_streams *streams, const struct tap_stream_message *sent,
		   const struct tap_stream_message *received)
{
	const struct tap_net_clients *clients =
		tap_context_state(streams->context, &tap_net_clients_layer);
	const struct tap_net_passed message = {
		.send = sent->span,
		.receive = received->span,
		.posted_ns = sent->begin_ns,
		.arrived_ns = received->end_ns,
		.maker = sent->end->maker,
		.number = received->number,
		.requests = 1,
		.bytes = sent->size,
		.largest = sent->size,
		.is_makers = true,
		.client = tap_net_client_of(clients, sent->end->process,
					    sent->end->socket)};

	return tap_attribution_message(tap_context_state(streams->context,
							 &tap_attribution_layer),
				       &message);
}

int tap_stream_span_link(struct tap_streams *streams,
			 const struct tap_stream_message *sent,
			 const struct tap_stream_message *received)
{
	const int ret = emit_link(streams, sent, received);

	return ret ? ret : ascribe(streams, sent, received);
}
