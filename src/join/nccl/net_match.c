/* SPDX-License-Identifier: MIT */
/* Finds pieces by the ordinal that they have at both ends. */
#include "join/nccl/net_match.h"

#include "join/nccl/net_flush.h"
#include "join/nccl/net_share.h"
#include "join/nccl/net_span.h"
#include "join/rdma/observer.h"
#include "join/rdma/qp.h"

#include <errno.h>

#define SLOT_MASK 0xff /* of wr_id */

/*
 * A connection with this many messages that do not fit, and none that does, is not
 * NCCL's.
 */
#define REFUTED_AFTER 8

void tap_net_refute(struct tap_net *net)
{
	net->is_refuted = true;
}

void tap_net_unmatched(const struct tap_net_match *match, struct tap_net *net,
		       uint64_t number, enum tap_why why)
{
	tap_net_flush_lost(net, number);
	if (net->is_proved)
		tap_count_unmatched(match->context, TAP_MATCH_CTS_MESSAGE, why);
	else
		net->early_whys[why]++;
}

/* ---- The end of a message ---- */

/* Ends a message that no longer waits for missing pieces. */
static int settle(const struct tap_net_match *match, struct tap_net_message *message,
		  enum tap_why why)
{
	int ret;

	if (!message->is_linked)
		tap_net_unmatched(match, message->to, message->number, why);
	else
		why = TAP_WHY_NONE;
	ret = tap_net_span_end(match->context, match->qps, message, why,
			       TAP_SPAN_END_LOST);
	tap_net_message_drop(match->messages, message);
	return ret;
}

static int contradict(const struct tap_net_match *match, struct tap_net_message *message)
{
	struct tap_net *net = message->to;

	if (net->is_proved)
		return settle(match, message, TAP_WHY_CONTRADICTED);
	/* The trace may lack a part of one message, but not of all. */
	tap_net_message_drop(match->messages, message);
	if (++net->early_whys[TAP_WHY_CONTRADICTED] < REFUTED_AFTER)
		return 0;
	tap_net_refute(net);
	tap_net_refute(net->peer);
	tap_net_message_drop_all(match->messages, net);
	tap_net_piece_drop_held(match->pieces, net->peer, NULL);
	return 0;
}

/* A message has fit: emits what was held back. */
static int prove(const struct tap_net_match *match, struct tap_net *net)
{
	struct tap_net_message *message;
	enum tap_why why;
	int ret = 0;

	if (net->is_proved)
		return 0;
	net->is_proved = true;
	net->peer->is_proved = true;
	for (why = TAP_WHY_NONE + 1; why < TAP_WHY_COUNT; why++)
		while (net->early_whys[why]) {
			net->early_whys[why]--;
			tap_count_unmatched(match->context, TAP_MATCH_CTS_MESSAGE, why);
		}
	for (message = net->messages.first; message && !ret;
	     message = message->of_net.after)
		ret = tap_net_span_begin(match->context, message);
	return ret;
}

/* Checks a message whose pieces are all posted. */
static int complete_posts(const struct tap_net_match *match,
			  struct tap_net_message *message, bool *is_gone)
{
	*is_gone = !tap_net_message_fit(message);
	if (*is_gone)
		return contradict(match, message);
	tap_net_span_add_wait(message);
	if (tap_net_share_split(match->context, message))
		return -ENOMEM;
	return prove(match, message->to);
}

static int progress(const struct tap_net_match *match, struct tap_net_message *message)
{
	bool is_gone = false;
	int ret = 0;

	if (!message->is_linked && message->count && message->posted == message->count)
		ret = complete_posts(match, message, &is_gone);
	if (ret || is_gone || !message->is_linked)
		return ret;
	if (message->received == message->count && !message->is_noted) {
		message->is_noted = true;
		ret = tap_net_flush_received(match->context, message->to, message->number,
					     tap_net_message_address(message),
					     message->received_ns);
	}
	if (ret || message->sent != message->count || message->received != message->count)
		return ret;
	ret = tap_net_span_end(match->context, match->qps, message, TAP_WHY_NONE,
			       TAP_SPAN_END_LOST);
	tap_net_message_drop(match->messages, message);
	return ret;
}

/* Counts a posted piece of the message. */
static int attach(const struct tap_net_match *match, struct tap_net_message *message,
		  struct tap_net_piece *piece)
{
	int ret;

	tap_net_message_count_posted(message, piece);
	if (message->posted == 1 && tap_net_span_send(match->context, message, piece))
		return -ENOMEM;
	piece->is_early = piece->is_sent;
	if (piece->is_sent)
		tap_net_message_count_sent(message, piece);
	ret = tap_net_span_begin(match->context, message);
	return ret ? ret : progress(match, message);
}

static bool is_from(const struct tap_net_message *message,
		    const struct tap_net_piece *piece)
{
	return piece->sender->qp->observed == message->to->peer;
}

/* ---- Receives posted ahead of the CTS: the slot identifies the message ---- */

/* Looks at both ends: the message that was filled may have come from another peer. */
static bool is_refuted(const struct tap_net *from)
{
	return from->is_refuted || from->peer->is_refuted;
}

/*
 * Ends the message being filled, when data of another one is posted.  If it does not fit,
 * that may refute the connection: then all messages of the receiver are dropped.
 */
static int close_filling(const struct tap_net_match *match, struct tap_net *from)
{
	struct tap_net_message *message = from->filling;

	from->filling = NULL;
	if (!message)
		return 0;
	/* Earlier messages may have lacked pieces, but none had more. */
	if (message->posted > from->pieces)
		from->pieces = message->posted;
	if (message->posted < from->pieces)
		return settle(match, message, TAP_WHY_POST_LOST);
	message->count = message->posted;
	return progress(match, message);
}

/*
 * Gives a piece its receiver, where the piece was posted before the receiver was known to
 * be NCCL's.
 */
static int meet_receiver(const struct tap_net_match *match, struct tap_net_piece *piece)
{
	struct tap_generation *receiver = piece->sender->peer;
	struct tap_net_piece *arrived;

	if (piece->receiver || !receiver)
		return 0;
	arrived = tap_net_piece_find_arrival(match->pieces, receiver, piece->ordinal);
	if (arrived && (arrived->message || arrived->sender))
		return 0;
	if (arrived) {
		piece->is_received = arrived->is_received;
		piece->received_ns = arrived->received_ns;
		piece->received_imm = arrived->received_imm;
		tap_net_piece_drop(match->pieces, arrived);
	}
	return tap_net_piece_file_arrival(match->pieces, piece, receiver);
}

static int attach_by_slot(const struct tap_net_match *match, struct tap_net *from,
			  struct tap_net_piece *piece, bool *is_attached)
{
	struct tap_net *to = from->peer;
	struct tap_net_message *message = to->messages.first;
	int ret = 0;

	*is_attached = false;
	/* In a damaged trace another connection may have begun to fill it. */
	while (message &&
	       ((message->number - 1) % to->layout->slots != (piece->wr_id & SLOT_MASK) ||
		message->count || (message->from && message->from != from)))
		message = message->of_net.after;
	if (!message)
		return 0;
	*is_attached = true;
	ret = meet_receiver(match, piece);
	if (!ret && from->filling != message)
		ret = close_filling(match, from);
	/* A refuted connection has dropped its messages and the pieces held for them. */
	if (ret || is_refuted(from))
		return ret;
	/*
	 * Pieces are held in order of posting: the CTS of those before this one is
	 * missing.
	 */
	tap_net_piece_drop_held(match->pieces, from, piece);
	tap_net_piece_unhold(match->pieces, piece);
	tap_net_message_add(message, piece);
	from->filling = message;
	if (piece->is_received)
		tap_net_message_count_received(message, piece);
	return attach(match, message, piece);
}

/* Attaches held pieces to the message of a new CTS. */
static int retry_by_slot(const struct tap_net_match *match, struct tap_net *from)
{
	struct tap_net_piece *piece, *later;
	bool is_attached, has_attached = false;
	int ret = 0;

	for (piece = from->held.first; piece && !ret; piece = later) {
		later = piece->of_holder.after;
		ret = attach_by_slot(match, from, piece, &is_attached);
		if (is_refuted(from) || (has_attached && !is_attached))
			break;
		has_attached |= is_attached;
	}
	return ret;
}

/* ---- Events ---- */

/* Adds a piece for each pending receive, which an earlier post may use up. */
static int add_pending(const struct tap_net_match *match, struct tap_net_message *message,
		       bool *is_gone)
{
	const struct tap_net *net = message->to;
	struct tap_net_piece *piece, *held;
	size_t i;

	*is_gone = false;
	message->count = net->pending_count;
	for (i = 0; i < net->pending_count; i++) {
		struct tap_generation *generation = net->pending[i].generation;
		const uint64_t ordinal = net->pending[i].seq;

		/* In a damaged trace two pieces claim one ordinal. */
		if (tap_net_piece_find_arrival(match->pieces, generation, ordinal)) {
			*is_gone = true;
			return settle(match, message, TAP_WHY_AMBIGUOUS);
		}
		piece = tap_net_piece_make(match->pieces, ordinal);
		if (!piece)
			return -ENOMEM;
		tap_net_message_add(message, piece);
		if (tap_net_piece_file_arrival(match->pieces, piece, generation))
			return -ENOMEM;
		held = generation->peer
			       ? tap_net_piece_find_departure(match->pieces,
							      generation->peer, ordinal)
			       : NULL;
		if (held && !held->message &&
		    tap_net_piece_adopt(match->pieces, piece, held))
			return -ENOMEM;
	}
	return 0;
}

int tap_net_match_cts(const struct tap_net_match *match, struct tap_net *net,
		      const struct tap_rdma_list *cts, unsigned int requests)
{
	const size_t open_max = match->context->bounds.held_operations;
	struct tap_net_message *message;
	struct tap_net_piece *piece, *next;
	bool is_gone;
	int ret = 0;

	/* The CTS reuses a slot: the message that was in it is over. */
	while (!ret && net->messages.first &&
	       net->messages.first->number + net->layout->slots <= net->number)
		ret = settle(match, net->messages.first, TAP_WHY_POST_LOST);
	if (ret)
		return ret;
	message = tap_net_message_make(match->messages, net, cts, requests);
	if (!message || tap_net_span_receive(match->context, message, cts))
		return -ENOMEM;
	ret = tap_net_span_begin(match->context, message);
	while (!ret && match->messages->open > open_max)
		ret = settle(match, match->messages->all.first, TAP_WHY_GIVEN_UP);
	if (ret)
		return ret;
	if (net->is_preposted)
		return retry_by_slot(match, net->peer);
	ret = add_pending(match, message, &is_gone);
	if (ret || is_gone)
		return ret;
	/* The message may be dropped with its last piece. */
	for (piece = message->pieces.first; piece && !ret; piece = next) {
		next = piece->of_message.after;
		if (piece->sender)
			ret = attach(match, message, piece);
	}
	return ret;
}

int tap_net_match_post(const struct tap_net_match *match, struct tap_net *net,
		       const struct tap_rdma_list *list, uint64_t *number)
{
	struct tap_generation *receiver = list->generation->peer;
	struct tap_net_piece *piece = NULL;
	bool is_attached;

	if (receiver)
		piece = tap_net_piece_find_arrival(match->pieces, receiver,
						   list->consuming);
	if (tap_net_piece_find_departure(match->pieces, list->generation,
					 list->consuming) ||
	    (piece && piece->sender))
		return 0;
	if (!piece) {
		piece = tap_net_piece_make(match->pieces, list->consuming);
		if (!piece)
			return -ENOMEM;
	}
	tap_net_piece_fill(piece, list);
	if (tap_net_piece_file_departure(match->pieces, piece, list->generation))
		return -ENOMEM;
	if (piece->message && is_from(piece->message, piece)) {
		*number = piece->message->number;
		return attach(match, piece->message, piece);
	}
	if (piece->message)
		return contradict(match, piece->message);
	/* The receiver may hold it. */
	tap_net_piece_unhold(match->pieces, piece);
	tap_net_piece_hold(match->pieces, net, piece);
	if (!net->peer || !net->peer->is_preposted || !net->peer->layout)
		return 0;
	return attach_by_slot(match, net, piece, &is_attached);
}

uint64_t tap_net_match_number(const struct tap_net_match *match,
			      const struct tap_generation *generation, uint64_t ordinal,
			      bool is_receive)
{
	const struct tap_net_piece *piece =
		is_receive
			? tap_net_piece_find_arrival(match->pieces, generation, ordinal)
			: tap_net_piece_find_departure(match->pieces, generation,
						       ordinal);

	return piece && piece->message ? piece->message->number : 0;
}

int tap_net_match_sent(const struct tap_net_match *match,
		       const struct tap_generation *generation, uint64_t ordinal,
		       int64_t time_ns, uint64_t status)
{
	struct tap_net_piece *piece =
		tap_net_piece_find_departure(match->pieces, generation, ordinal);
	struct tap_net_message *message = piece ? piece->message : NULL;

	if (!piece || piece->is_sent)
		return 0;
	piece->is_sent = true;
	piece->sent_ns = time_ns;
	piece->status = status;
	if (!message)
		return 0;
	tap_net_message_count_sent(message, piece);
	return progress(match, message);
}

int tap_net_match_received(const struct tap_net_match *match, struct tap_net *net,
			   struct tap_generation *generation, uint64_t seq,
			   int64_t time_ns, uint32_t imm_data)
{
	struct tap_net_piece *piece =
		tap_net_piece_find_arrival(match->pieces, generation, seq);

	if (!piece && net->is_preposted) {
		piece = tap_net_piece_make(match->pieces, seq);
		if (!piece)
			return -ENOMEM;
		if (tap_net_piece_file_arrival(match->pieces, piece, generation))
			return -ENOMEM;
		tap_net_piece_hold(match->pieces, net, piece);
	}
	if (!piece || piece->is_received)
		return 0;
	piece->is_received = true;
	piece->received_ns = time_ns;
	piece->received_imm = imm_data;
	if (!piece->message)
		return 0;
	if (piece->sender && imm_data != piece->imm_data)
		return piece->message->is_linked ? 0 : contradict(match, piece->message);
	tap_net_message_count_received(piece->message, piece);
	return progress(match, piece->message);
}

int tap_net_match_retry(const struct tap_net_match *match, struct tap_net *net)
{
	struct tap_net_piece *held, *later, *piece;
	int ret = 0;

	if (net->is_refuted)
		return 0;
	for (held = net->held.first; held && !ret; held = later) {
		struct tap_generation *receiver =
			held->sender ? held->sender->peer : NULL;

		later = held->of_holder.after;
		piece = receiver ? tap_net_piece_find_arrival(match->pieces, receiver,
							      held->ordinal)
				 : NULL;
		if (!piece || !piece->message || piece->sender)
			continue;
		ret = tap_net_piece_adopt(match->pieces, piece, held);
		if (!ret && net->is_refuted)
			break;
		if (!ret)
			ret = attach(match, piece->message, piece);
		if (net->is_refuted)
			break;
	}
	return ret;
}

/* Whether nothing is missing: the sender had not posted the message. */
static bool is_outstanding(const struct tap_net_message *message)
{
	const struct tap_net_piece *piece;

	if (message->to->is_preposted)
		return !message->posted;
	for (piece = message->pieces.first; piece; piece = piece->of_message.after)
		if (!piece->sender &&
		    (!piece->receiver->peer ||
		     tap_flow_side_has(&piece->receiver->peer->out, piece->ordinal)))
			return false;
	return true;
}

int tap_net_match_close(const struct tap_net_match *match, struct tap_net *net)
{
	return close_filling(match, net);
}

int tap_net_match_finish(const struct tap_net_match *match, struct tap_net *net)
{
	struct tap_net_message *message;
	int ret = 0;

	while (!ret && (message = net->messages.first)) {
		if (!message->is_linked && !is_outstanding(message)) {
			ret = settle(match, message, TAP_WHY_POST_LOST);
			continue;
		}
		if (!message->is_linked && net->is_proved)
			match->context->matches[TAP_MATCH_CTS_MESSAGE].outstanding++;
		ret = tap_net_span_end(match->context, match->qps, message, TAP_WHY_NONE,
				       TAP_SPAN_OPEN);
		tap_net_message_drop(match->messages, message);
	}
	return ret ? ret : tap_net_flush_finish(match->context, net);
}
