/* SPDX-License-Identifier: MIT */
/* Makes spans early, and emits them once the connection is known to be NCCL's. */
#include "join/nccl/net_span.h"

#include "join/model/context.h"
#include "join/model/link.h"
#include "join/model/work.h"
#include "join/nccl/attribution.h"
#include "join/nccl/net_channel.h"
#include "join/nccl/net_client.h"
#include "join/nccl/net_service.h"
#include "join/nccl/net_region.h"
#include "join/rdma/observer.h"
#include "join/rdma/qp.h"

#include <errno.h>

/* A CTS, both ends of its message, and requests. */
#define ENDS_MAX (3 + 2 * TAP_NET_PIECES_MAX)

struct tap_work tap_net_work(const struct tap_net *net, enum tap_work_kind kind,
			     uint64_t number)
{
	return (struct tap_work){.kind = kind,
				 .message = {.net_id = net->id, .number = number}};
}

static const struct tap_net_channel *find_channel(const struct tap_context *context,
						  const struct tap_net *net)
{
	const struct tap_net_channels *channels =
		tap_context_state(context, &tap_net_channels_layer);
	const struct tap_net_channel *own =
		tap_net_channel_of(channels, net->process, net->key);
	const struct tap_net_channel *others =
		net->peer
			? tap_net_channel_of(channels, net->peer->process, net->peer->key)
			: NULL;

	if (!own || !others)
		return tap_loss_is_none(&context->loss) ? own : NULL;
	return tap_net_channels_agree(own, others) ? own : NULL;
}

const struct tap_net_channel *tap_net_channel(const struct tap_context *context,
					      struct tap_net *net)
{
	/* Once its queue pairs are gone, its owner's address may be another one's. */
	if (!net->channel && net->qp_count)
		net->channel = find_channel(context, net);
	return net->channel;
}

static struct tap_span *make_span(struct tap_context *context, struct tap_net *net,
				  const char *name, enum tap_work_kind kind,
				  const struct tap_net_message *message, int64_t tid,
				  int64_t begin_ns)
{
	struct tap_span *span =
		tap_work_make_span(context, net->process, "net", name, tid);

	if (!span)
		return NULL;
	span->begin_ns = begin_ns;
	span->work = tap_net_work(net, kind, message->number);
	tap_fields_add_unsigned(&span->entry, "net_id", net->id);
	tap_fields_add_unsigned(&span->entry, "request", message->number);
	tap_fields_add_unsigned(&span->entry, "requests", message->requests);
	tap_fields_add_unsigned(&span->entry, "peer_process", net->peer->process->number);
	tap_fields_add_unsigned(&span->entry, "peer_net_id", net->peer->id);
	tap_net_channel_describe(tap_net_channel(context, net), &span->entry);
	return span;
}

int tap_net_span_receive(struct tap_context *context, struct tap_net_message *message,
			 const struct tap_rdma_list *cts)
{
	message->receive =
		make_span(context, message->to, "net_recv", TAP_WORK_NET_RECEIVE, message,
			  cts->tid, cts->begin_ns);
	return message->receive ? 0 : -ENOMEM;
}

int tap_net_span_send(struct tap_context *context, struct tap_net_message *message,
		      const struct tap_net_piece *piece)
{
	message->send = make_span(context, message->from, "net_send", TAP_WORK_NET_SEND,
				  message, piece->tid, piece->begin_ns);
	return message->send ? 0 : -ENOMEM;
}

static int emit_begin(struct tap_context *context, struct tap_span *span,
		      bool *is_reported)
{
	if (!span || *is_reported)
		return 0;
	*is_reported = true;
	return tap_emit_begun(context, span);
}

int tap_net_span_begin(struct tap_context *context, struct tap_net_message *message)
{
	int ret = 0;

	if (!message->to->is_proved)
		return 0;
	ret = emit_begin(context, message->receive, &message->is_receive_reported);
	return ret ? ret : emit_begin(context, message->send, &message->is_send_reported);
}

static bool have_one_clock(const struct tap_net_message *message)
{
	return message->to->process->trace == message->from->process->trace;
}

void tap_net_span_add_wait(struct tap_net_message *message)
{
	/*
	 * From the end of the posts before this message until the CTS was posted;
	 * certainly none where the CTS came first.
	 */
	struct tap_net *from = message->from;
	struct tap_fields *fields = &message->send->exit;
	int64_t until_ns = message->cts_end_ns;

	if (have_one_clock(message)) {
		if (until_ns > message->begin_ns)
			until_ns = message->begin_ns;
		if (from->posted_number && from->posted_number + 1 == message->number) {
			const int64_t wait_ns = until_ns - from->posted_end_ns;

			tap_fields_add_unsigned(fields, "wait_max_ns",
						wait_ns > 0 ? (uint64_t) wait_ns : 0);
			tap_fields_add_text(fields, "wait_known",
					    message->cts_end_ns <= from->posted_begin_ns
						    ? "exact"
						    : "inferred");
		}
		if (message->begin_ns >= message->cts_begin_ns)
			tap_fields_add_unsigned(fields, "cts_to_post_ns",
						(uint64_t) (message->begin_ns -
							    message->cts_begin_ns));
	}
	if (message->number > from->posted_number) {
		from->posted_number = message->number;
		from->posted_begin_ns = message->begin_ns;
		from->posted_end_ns = message->end_ns;
	}
}

static int end_span(struct tap_context *context, struct tap_span *span, bool is_reported,
		    bool is_complete, int64_t end_ns, enum tap_span_state otherwise)
{
	int ret = 0;

	if (!span)
		return 0;
	span->end_ns = end_ns;
	span->state = is_complete ? TAP_SPAN_COMPLETE : otherwise;
	if (is_reported)
		ret = tap_emit_ended(context, span);
	return ret;
}

static enum tap_why doubt(const struct tap_qps *qps,
			  const struct tap_net_message *message)
{
	const struct tap_net_piece *piece;

	for (piece = message->pieces.first; piece; piece = piece->of_message.after) {
		if (piece->is_concurrent || message->is_concurrent)
			return TAP_WHY_CONCURRENT;
		if (!piece->sender->peer || !tap_generation_is_sure(qps, piece->sender))
			return TAP_WHY_LATE;
	}
	return TAP_WHY_NONE;
}

/*
 * Names the requests of a piece: the last one, which stands for all; where they had ended
 * before, so that they do not say of which message they are, each.
 */
static void add_requests(const struct tap_net_message *message,
			 const struct tap_net_piece *piece, const struct tap_name *name,
			 struct tap_link *link, struct tap_link_end *ends)
{
	uint64_t left = piece->is_early ? piece->listed : 1;

	for (; left && link->count < ENDS_MAX; left--)
		ends[link->count++] = (struct tap_link_end){
			.process = message->from->process,
			.name = name,
			.work = tap_generation_work(piece->sender, TAP_WORK_SEND,
						    piece->seq - (left - 1)),
			.rank = -1};
}

static int emit_link(struct tap_context *context, const struct tap_qps *qps,
		     const struct tap_net_message *message, const struct tap_span *send,
		     const struct tap_span *receive)
{
	const enum tap_why why = doubt(qps, message);
	const struct tap_net_piece *piece;
	struct tap_link_end ends[ENDS_MAX]; /* large: what is not used is not set */
	struct tap_link link = {.kind = TAP_LINK_CTS_MESSAGE,
				.known = why ? TAP_KNOWN_INFERRED : TAP_KNOWN_EXACT,
				.why = why,
				.is_complete = true,
				.nranks = -1,
				.operation = send->name,
				.ends = ends,
				.count = 3,
				.begin_ns = message->cts_begin_ns,
				.end_ns = message->end_ns,
				.bytes = tap_net_message_bytes(message)};

	if (!why && message->to->is_preposted)
		link.known = TAP_KNOWN_DECODED;
	ends[0] = (struct tap_link_end){.process = message->to->process,
					.name = tap_names_get(&context->names, "verbs", 5,
							      "RDMA_WRITE", 10),
					.work = message->cts,
					.rank = -1};
	ends[1] = (struct tap_link_end){.process = message->from->process,
					.name = send->name,
					.work = send->work,
					.rank = -1};
	ends[2] = (struct tap_link_end){.process = message->to->process,
					.name = receive->name,
					.work = receive->work,
					.rank = -1};
	for (piece = message->pieces.first; piece; piece = piece->of_message.after)
		add_requests(message, piece, send->name, &link, ends);
	tap_count_match(context, TAP_MATCH_CTS_MESSAGE, link.known, why);
	return tap_emit_link(context, &link);
}

/* Where a message of one request lies; the addresses of several are not in one buffer. */
static struct tap_net_buffer buffer_of(const struct tap_context *context,
				       const struct tap_net_message *message)
{
	const struct tap_net_regions *regions =
		tap_context_state(context, &tap_net_regions_layer);
	const uint64_t bytes = message->lengths[0];
	struct tap_net_buffer sent_from, received_in;

	if (message->requests != 1)
		return (struct tap_net_buffer){0};
	sent_from = tap_net_regions_find(regions, message->from->process,
					 message->sources[0], bytes);
	received_in = tap_net_regions_find(regions, message->to->process,
					   message->addresses[0], bytes);
	return tap_net_buffer_common(&sent_from, &received_in);
}

static void count_whole(struct tap_net *net, const struct tap_net_buffer *buffer)
{
	net->whole++;
	net->has_buffer |= buffer->protocol != TAP_CCL_NO_PROTOCOL;
}

static void add_data(struct tap_fields *fields, const struct tap_net_message *message,
		     const struct tap_net_buffer *buffer)
{
	tap_fields_add_unsigned(fields, "bytes", tap_net_message_bytes(message));
	tap_fields_add_unsigned(fields, "parts", message->count);
	if (!buffer->protocol)
		return;
	tap_fields_add_text(fields, "protocol", tap_net_protocol_name(buffer->protocol));
	tap_fields_add_unsigned(fields, "slot", buffer->slot);
	tap_fields_add_text(fields, "buffer_known", "inferred");
}

static bool is_shared(const struct tap_context *context,
		      const struct tap_net_message *message)
{
	const struct tap_net_channel *channel = tap_net_channel(context, message->from);

	return channel &&
	       tap_net_channel_is_shared(tap_context_state(context,
							   &tap_net_channels_layer),
					 channel);
}

/*
 * Whether several ranks may send over the connection where nobody says that: one that has
 * buffers of its own is for collectives, and for one rank.
 */
static bool may_be_shared(const struct tap_context *context,
			  const struct tap_net_message *message)
{
	return !message->from->has_buffer && !tap_net_channel(context, message->from) &&
	       tap_net_services_may_share(tap_context_state(context,
							    &tap_net_services_layer),
					  &message->from->maker);
}

/* Whether another one than who asked for the connection has sent over it. */
static bool has_others(const struct tap_net *to, const struct tap_net_client *maker)
{
	size_t i;

	for (i = 0; i < to->shares.all.count; i++)
		if (to->shares.all.items[i].client != maker)
			return true;
	return false;
}

/*
 * Who asked for the connection first; others may use it, too.  A decoded request says it
 * better than whom the thread answered next, which may have done things for several at
 * once.
 */
static struct tap_net_client *maker_of(const struct tap_context *context,
				       struct tap_net *from)
{
	const struct tap_net_channels *channels =
		tap_context_state(context, &tap_net_channels_layer);
	const struct tap_net_channel *channel = tap_net_channel(context, from);
	struct tap_net_client *answered =
		tap_net_client_of(tap_context_state(context, &tap_net_clients_layer),
				  from->process,
				  tap_net_channel_socket(channels, from->process,
							 from->key));

	return answered && channel && channel->has_setup
		       ? tap_net_client_ranked(answered, channel->rank)
		       : answered;
}

/*
 * Each rank that has a part of the message has it ascribed.  A link that is doubtful
 * proves nothing of times.
 */
static int ascribe(struct tap_context *context, const struct tap_qps *qps,
		   const struct tap_net_message *message, const struct tap_span *send,
		   const struct tap_span *receive, const struct tap_net_buffer *buffer)
{
	struct tap_attribution *attribution =
		tap_context_state(context, &tap_attribution_layer);
	const enum tap_why why = doubt(qps, message);
	const bool are_several = is_shared(context, message);
	struct tap_net_passed added = {.send = send,
				       .receive = receive,
				       .posted_ns = message->begin_ns,
				       .arrived_ns = message->received_ns,
				       .maker = message->from->maker,
				       .number = message->number,
				       .requests = 1,
				       .bytes = tap_net_message_bytes(message),
				       .largest = tap_net_message_bytes(message),
				       .is_grouped = message->requests > 1,
				       .is_shared = are_several,
				       .channel = tap_net_channel(context, message->from),
				       .buffer = *buffer};
	struct tap_net_client *maker;
	unsigned int i;
	int ret = 0;

	if (why) {
		tap_attribution_doubtful(attribution, why);
		return 0;
	}
	maker = maker_of(context, message->from);
	if (!message->part_count) {
		added.is_guess = may_be_shared(context, message);
		/* Where data are another one's, who asked is not who sends, or not alone.
		 */
		added.is_shared |=
			(added.is_guess || maker) && has_others(message->to, maker);
		/* Only memory tells whose it is where several may use the connection. */
		if (!added.is_grouped && !added.is_shared)
			added.client = maker;
		added.is_makers = true;
		return tap_attribution_message(attribution, &added);
	}
	for (i = 0; !ret && i < message->part_count; i++) {
		const struct tap_net_part *part = &message->parts[i];

		added.client = part->client;
		added.is_shared = are_several || !part->client;
		added.is_makers = part->client && part->client == maker;
		added.is_of_data = part->is_of_data;
		added.parts = message->parts;
		added.part_count = part->client ? 0 : message->part_count;
		added.number = part->number;
		added.requests = part->requests;
		added.bytes = part->bytes;
		added.largest = part->largest;
		ret = tap_attribution_message(attribution, &added);
	}
	return ret;
}

int tap_net_span_end(struct tap_context *context, const struct tap_qps *qps,
		     struct tap_net_message *message, enum tap_why why,
		     enum tap_span_state otherwise)
{
	const bool is_whole = message->is_linked;
	const bool is_sent = is_whole && message->sent == message->count;
	const bool is_received = is_whole && message->received == message->count;
	struct tap_span *send = message->send, *receive = message->receive;
	const enum tap_span_state unsent = otherwise;
	struct tap_net_buffer buffer = {0};
	int ret;

	message->send = NULL;
	message->receive = NULL;

	if (is_whole) {
		buffer = buffer_of(context, message);
		count_whole(message->from, &buffer);
		count_whole(message->to, &buffer);
		add_data(&send->exit, message, &buffer);
		add_data(&receive->exit, message, &buffer);
		if (is_received && have_one_clock(message) &&
		    message->received_ns >= message->begin_ns)
			tap_fields_add_unsigned(&send->exit, "post_to_receive_ns",
						(uint64_t) (message->received_ns -
							    message->begin_ns));
	}
	if (is_sent)
		tap_work_add_status(&send->exit, message->status);
	if (is_received)
		tap_work_add_status(&receive->exit, 0);
	if (why && send)
		tap_fields_add_text(&send->exit, "why", tap_why_name(why));
	if (why)
		tap_fields_add_text(&receive->exit, "why", tap_why_name(why));
	if (tap_net_message_has_lost_end(message, false))
		otherwise = TAP_SPAN_END_LOST;
	ret = end_span(context, receive, message->is_receive_reported, is_received,
		       message->received_ns, otherwise);
	if (!ret)
		ret = end_span(context, send, message->is_send_reported, is_sent,
			       message->sent_ns,
			       tap_net_message_has_lost_end(message, true)
				       ? TAP_SPAN_END_LOST
				       : unsent);
	if (!ret && is_whole)
		ret = emit_link(context, qps, message, send, receive);
	if (!ret && is_received && !context->consumer->is_of_clocks)
		ret = ascribe(context, qps, message, send, receive, &buffer);
	tap_pairs_put(&context->pairs, receive);
	if (send)
		tap_pairs_put(&context->pairs, send);
	return ret;
}
