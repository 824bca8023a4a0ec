/* SPDX-License-Identifier: MIT */
/*
 * Endpoints wait in a table under (side, ordinal).
 *
 * On a lossy connection a message is proved to be the k-th on both sides when both had
 * counted k at a moment without messages in flight.  This is so where the sender's next
 * request began, on the clock of the same host, after the receiver had read its k-th
 * completion; and at the end of a trace without losses.
 *
 * Where two endpoints of one ordinal differ in content, a message was lost.  Messages
 * still arrive in order, so from then on the reader matches them by content, and no match
 * is exact.
 */
#include "join/rdma/flow.h"

#include "join/model/link.h"
#include "join/rdma/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many endpoints are searched for a match after a loss. */
#define LOST_MAX 256

struct tap_message {
	struct tap_endpoint endpoint;
	struct tap_flow_side *side;
	struct tap_endpoint receive; /* the match of a held send */
	bool is_held;
	int64_t begin_ns, end_ns; /* of the post, of the completion */
	TAP_LIST_LINK(struct tap_message) of_side;
	TAP_LIST_LINK(struct tap_message) of_all;
};

static int give_up_oldest(struct tap_flows *flows);

static void count_unmatched(struct tap_flows *flows, enum tap_why why)
{
	tap_count_unmatched(flows->context, TAP_MATCH_SEND_RECEIVE, why);
}

static void number_side(struct tap_flows *flows, struct tap_flow_side *side)
{
	if (!side->number)
		side->number = ++flows->side_count;
}

/* ---- Waiting endpoints ---- */

static struct tap_message *make_message(struct tap_flows *flows)
{
	struct tap_message *message = tap_list_take_first(&flows->unused, of_all);

	if (!message)
		message = malloc(sizeof(*message));
	if (!message)
		return NULL;
	memset(message, 0, sizeof(*message));
	tap_list_append(&flows->all, message, of_all);
	flows->held++;
	return message;
}

static void drop_message(struct tap_flows *flows, struct tap_message *message)
{
	struct tap_flow_side *side = message->side;

	if (message->is_held) {
		tap_list_remove(&side->held, message, of_side);
	} else {
		tap_table_remove(&flows->messages, side->number,
				 message->endpoint.ordinal);
		tap_list_remove(&side->waiting, message, of_side);
	}
	tap_list_remove(&flows->all, message, of_all);
	flows->held--;
	tap_list_prepend(&flows->unused, message, of_all);
}

/* Inserts by ordinal; endpoints mostly come in this order. */
static void insert(struct tap_message *message)
{
	struct tap_flow_side *side = message->side;
	__typeof__(side->waiting) *list = message->is_held ? &side->held : &side->waiting;
	struct tap_message *before = list->last;

	while (before && before->endpoint.ordinal > message->endpoint.ordinal)
		before = before->of_side.before;
	tap_list_insert(list, before, message, of_side);
}

/* ---- Matches ---- */

static int emit(struct tap_flows *flows, const struct tap_endpoint *send,
		const struct tap_endpoint *receive, int64_t begin_ns, int64_t end_ns,
		enum tap_why why)
{
	struct tap_link_end ends[2] = {{.process = send->process,
					.name = send->name,
					.work = send->work,
					.rank = -1},
				       {.process = receive->process,
					.name = receive->name,
					.work = receive->work,
					.rank = -1}};
	const struct tap_link link = {.kind = TAP_LINK_SEND_RECEIVE,
				      .known = why ? TAP_KNOWN_INFERRED : TAP_KNOWN_EXACT,
				      .why = why,
				      .is_complete = true,
				      .nranks = -1,
				      .operation = send->name,
				      .ends = ends,
				      .count = 2,
				      .begin_ns = begin_ns,
				      .end_ns = end_ns,
				      .bytes = send->length};

	tap_count_match(flows->context, TAP_MATCH_SEND_RECEIVE, link.known, why);
	/* A receive whose post is missing has no span to link. */
	return receive->name ? tap_emit_link(flows->context, &link) : 0;
}

static bool is_alike(const struct tap_endpoint *send, const struct tap_endpoint *receive)
{
	if (receive->is_unread)
		return true;
	if (send->has_imm != receive->has_imm ||
	    (send->has_imm && send->imm_data != receive->imm_data))
		return false;
	return !send->has_length || !receive->has_length ||
	       (uint32_t) send->length == (uint32_t) receive->length;
}

static enum tap_why doubt(struct tap_flows *flows, const struct tap_flow_side *sender,
			  const struct tap_endpoint *send,
			  const struct tap_endpoint *receive)
{
	if (sender->is_ambiguous || sender->other->is_ambiguous)
		return TAP_WHY_AMBIGUOUS;
	if (send->why == TAP_WHY_CONCURRENT || receive->why == TAP_WHY_CONCURRENT)
		return TAP_WHY_CONCURRENT;
	if (!sender->is_lossy && !tap_generation_is_sure(flows->qps, sender->generation))
		return TAP_WHY_LATE;
	if (sender->is_lossy && sender->generation->peer &&
	    !tap_generation_is_sure(flows->qps, sender->generation))
		return TAP_WHY_LATE;
	if (send->failure)
		return send->failure;
	/* The receive's post is uncertain where several have one wr_id. */
	return send->why ? send->why : receive->why;
}

static int keep_waiting(struct tap_flows *flows, struct tap_flow_side *side,
			const struct tap_endpoint *endpoint, int64_t time_ns);

/* Takes both endpoints of a message. */
static int join(struct tap_flows *flows, struct tap_flow_side *sender,
		const struct tap_endpoint *send, const struct tap_endpoint *receive,
		int64_t begin_ns, int64_t end_ns)
{
	enum tap_why why = doubt(flows, sender, send, receive);
	struct tap_message *message;
	int ret;

	if (!is_alike(send, receive) && !sender->is_lossy) {
		count_unmatched(flows, TAP_WHY_CONTRADICTED);
		count_unmatched(flows, TAP_WHY_CONTRADICTED);
		return 0;
	}
	if (!is_alike(send, receive)) {
		sender->has_lost = true;
		ret = keep_waiting(flows, sender, send, begin_ns);
		return ret ? ret : keep_waiting(flows, sender->other, receive, end_ns);
	}
	if (receive->ordinal > sender->other->joined)
		sender->other->joined = receive->ordinal;
	if (!why && sender->has_lost)
		why = TAP_WHY_UNPROVED;
	if (why || !sender->is_lossy || send->ordinal <= sender->proved)
		return emit(flows, send, receive, begin_ns, end_ns, why);
	message = make_message(flows);
	if (!message)
		return -ENOMEM;
	message->side = sender;
	message->endpoint = *send;
	message->receive = *receive;
	message->begin_ns = begin_ns;
	message->end_ns = end_ns;
	message->is_held = true;
	insert(message);
	return flows->held > flows->context->bounds.held_operations
		       ? give_up_oldest(flows)
		       : 0;
}

/* Why an endpoint has no match. */
static enum tap_why why_alone(const struct tap_flow_side *side,
			      const struct tap_endpoint *endpoint)
{
	if (endpoint->failure)
		return endpoint->failure;
	if (endpoint->why)
		return endpoint->why;
	if (side->is_ambiguous)
		return TAP_WHY_AMBIGUOUS;
	if (!side->other)
		return TAP_WHY_PEER_UNKNOWN;
	return endpoint->ordinal <= side->other->before ? TAP_WHY_BEFORE
							: TAP_WHY_PEER_MISSING;
}

/*
 * Emits an endpoint whose peer no trace has.  Datagrams have none: they name the
 * receiver's queue pair, and not the sender's.
 */
static int emit_half(struct tap_flows *flows, const struct tap_message *message)
{
	const struct tap_endpoint *endpoint = &message->endpoint;
	const struct tap_flow_side *side = message->side;
	const struct tap_generation *generation = side->generation;
	const struct tap_link_end end = {.process = endpoint->process,
					 .name = endpoint->name,
					 .work = endpoint->work,
					 .rank = -1};
	struct tap_half half = {.link = {.kind = TAP_LINK_SEND_RECEIVE,
					 .peer = -1,
					 .nranks = -1,
					 .operation = endpoint->name,
					 .ends = &end,
					 .count = 1,
					 .begin_ns = message->begin_ns,
					 .end_ns = message->begin_ns,
					 .bytes = (uint32_t) endpoint->length},
				.is_receive = endpoint->is_receive,
				.ordinal = endpoint->ordinal,
				.is_unread = endpoint->is_unread,
				.has_bytes = endpoint->has_length && !endpoint->is_unread,
				.has_imm = endpoint->has_imm && !endpoint->is_unread,
				.imm_data = endpoint->imm_data,
				.generation = generation};

	if (side->other || !generation || !generation->ordinal || !endpoint->name ||
	    (side != &generation->out && side != &generation->in))
		return 0;
	half.link.why = endpoint->failure ? endpoint->failure : endpoint->why;
	if (!half.link.why && !tap_generation_is_sure_here(flows->qps, generation))
		half.link.why = TAP_WHY_LATE;
	if (!half.link.why && side->is_lossy)
		half.link.why = TAP_WHY_UNPROVED;
	half.link.known = half.link.why ? TAP_KNOWN_INFERRED : TAP_KNOWN_EXACT;
	return tap_emit_half(flows->context, &half);
}

/* Whether nothing is missing: the send had not completed, or the peer had not read it. */
static bool is_outstanding(const struct tap_flow_side *side,
			   const struct tap_endpoint *endpoint)
{
	if (endpoint->is_receive || endpoint->failure)
		return false;
	return endpoint->is_open ||
	       (side->other && !side->is_lossy && endpoint->ordinal > side->other->count);
}

/* Ends the wait of an endpoint, which has no match. */
static int settle_alone(struct tap_flows *flows, const struct tap_message *message,
			enum tap_why why)
{
	if (why != TAP_WHY_GIVEN_UP && is_outstanding(message->side, &message->endpoint))
		flows->context->matches[TAP_MATCH_SEND_RECEIVE].outstanding++;
	else
		count_unmatched(flows, why);
	return emit_half(flows, message);
}

/* Ends the wait of an endpoint or a held pair. */
static int settle(struct tap_flows *flows, struct tap_message *message, enum tap_why why)
{
	const int ret = message->is_held
				? emit(flows, &message->endpoint, &message->receive,
				       message->begin_ns, message->end_ns, why)
				: settle_alone(flows, message, why);

	drop_message(flows, message);
	return ret;
}

static int give_up_oldest(struct tap_flows *flows)
{
	struct tap_message *message = flows->all.first;
	enum tap_why why = TAP_WHY_UNPROVED;

	if (!message->is_held)
		why = why_alone(message->side, &message->endpoint);
	return settle(flows, message,
		      why == TAP_WHY_PEER_MISSING ? TAP_WHY_GIVEN_UP : why);
}

static int prove(struct tap_flows *flows, struct tap_flow_side *sender)
{
	int ret = 0;

	sender->proved = sender->count;
	while (!ret && sender->held.first)
		ret = settle(flows, sender->held.first, TAP_WHY_NONE);
	return ret;
}

static bool are_counts_equal(const struct tap_flow_side *sender)
{
	const struct tap_flow_side *receiver = sender->other;

	return sender->is_lossy && receiver && !sender->is_broken && !sender->has_lost &&
	       !receiver->is_broken && sender->count == receiver->count;
}

int tap_flow_posted(struct tap_flows *flows, struct tap_flow_side *side, uint64_t ordinal,
		    int64_t begin_ns)
{
	const struct tap_flow_side *receiver = side->other;
	int ret = 0;

	number_side(flows, side);
	if (are_counts_equal(side) && ordinal == side->count + 1 &&
	    receiver->last_ns < begin_ns &&
	    receiver->generation->qp->process->trace ==
		    side->generation->qp->process->trace)
		ret = prove(flows, side);
	if (ordinal > side->count)
		side->count = ordinal;
	return ret;
}

/* ---- Lost messages ---- */

static struct tap_message *find_alike(const struct tap_flow_side *sender,
				      const struct tap_endpoint *receive)
{
	struct tap_message *message = sender->waiting.first;
	size_t i;

	for (i = 0; message && i < LOST_MAX; i++, message = message->of_side.after)
		if (!message->endpoint.failure && is_alike(&message->endpoint, receive))
			return message;
	return NULL;
}

/* Settles the endpoints of a side before `message`, which have no match. */
static int pass_over(struct tap_flows *flows, struct tap_flow_side *side,
		     const struct tap_message *message, enum tap_why why)
{
	int ret = 0;

	while (!ret && side->waiting.first != message) {
		const enum tap_why failure = side->waiting.first->endpoint.failure;

		ret = settle(flows, side->waiting.first, failure ? failure : why);
	}
	return ret;
}

/* Whether all receives between the last one matched and this one are waiting. */
static bool has_all_before(const struct tap_flow_side *receiver,
			   const struct tap_message *message)
{
	uint64_t expected = message->endpoint.ordinal;

	if (receiver->is_broken)
		return false;
	for (; message && message->endpoint.ordinal == expected;
	     message = message->of_side.before)
		expected--;
	return !message && expected <= receiver->joined;
}

static int realign(struct tap_flows *flows, struct tap_flow_side *sender)
{
	struct tap_flow_side *receiver = sender->other;
	struct tap_message *message = receiver->waiting.first, *found;
	struct tap_endpoint send, receive;
	int64_t begin_ns, end_ns;
	size_t i;
	int ret = 0;

	for (i = 0; message && i < LOST_MAX && !ret; i++) {
		found = find_alike(sender, &message->endpoint);
		if (!found) {
			message = message->of_side.after;
			continue;
		}
		ret = pass_over(flows, sender, found,
				has_all_before(receiver, message) ? TAP_WHY_LOST
								  : TAP_WHY_PEER_MISSING);
		if (!ret)
			ret = pass_over(flows, receiver, message, TAP_WHY_PEER_MISSING);
		if (ret)
			break;
		send = found->endpoint;
		receive = message->endpoint;
		begin_ns = found->begin_ns;
		end_ns = message->begin_ns;
		drop_message(flows, found);
		drop_message(flows, message);
		ret = join(flows, sender, &send, &receive, begin_ns, end_ns);
		message = receiver->waiting.first;
	}
	return ret;
}

static int keep_waiting(struct tap_flows *flows, struct tap_flow_side *side,
			const struct tap_endpoint *endpoint, int64_t time_ns)
{
	struct tap_flow_side *sender = endpoint->is_receive ? side->other : side;
	struct tap_message *message =
		tap_table_find(&flows->messages, side->number, endpoint->ordinal);
	int ret = 0;

	if (message) {
		/* In a damaged trace two endpoints claim one ordinal. */
		count_unmatched(flows, TAP_WHY_AMBIGUOUS);
		drop_message(flows, message);
	}
	message = make_message(flows);
	if (!message)
		return -ENOMEM;
	message->side = side;
	message->endpoint = *endpoint;
	message->begin_ns = time_ns;
	insert(message);
	if (tap_table_set(&flows->messages, side->number, endpoint->ordinal, message))
		return -ENOMEM;
	if (sender && sender->has_lost && sender->other)
		ret = realign(flows, sender);
	if (!ret && flows->held > flows->context->bounds.held_operations)
		ret = give_up_oldest(flows);
	return ret;
}

int tap_flow_take(struct tap_flows *flows, struct tap_flow_side *side,
		  const struct tap_endpoint *endpoint, int64_t time_ns)
{
	struct tap_flow_side *other = side->other;
	struct tap_message *message = NULL;
	struct tap_endpoint found;
	int64_t found_ns;

	number_side(flows, side);
	if (endpoint->is_receive) {
		side->last_ns = time_ns;
		if (endpoint->ordinal > side->count)
			side->count = endpoint->ordinal;
	}
	if (other && !(endpoint->is_receive ? other : side)->has_lost)
		message = tap_table_find(&flows->messages, other->number,
					 endpoint->ordinal);
	if (message) {
		found = message->endpoint;
		found_ns = message->begin_ns;
		drop_message(flows, message);
		return endpoint->is_receive
			       ? join(flows, other, &found, endpoint, found_ns, time_ns)
			       : join(flows, side, endpoint, &found, time_ns, found_ns);
	}
	return keep_waiting(flows, side, endpoint, time_ns);
}

int tap_flow_meet(struct tap_flows *flows, struct tap_flow_side *sender,
		  struct tap_flow_side *receiver)
{
	struct tap_message *message, *later, *found;
	int ret = 0;

	number_side(flows, sender);
	number_side(flows, receiver);
	sender->other = receiver;
	receiver->other = sender;
	for (message = sender->waiting.first; message && !ret; message = later) {
		struct tap_endpoint send = message->endpoint, receive;
		const int64_t begin_ns = message->begin_ns;
		int64_t end_ns;

		later = message->of_side.after;
		found = tap_table_find(&flows->messages, receiver->number, send.ordinal);
		if (!found)
			continue;
		receive = found->endpoint;
		end_ns = found->begin_ns;
		drop_message(flows, message);
		drop_message(flows, found);
		ret = join(flows, sender, &send, &receive, begin_ns, end_ns);
		/* join() has realigned the sides, and may have dropped `later`. */
		if (sender->has_lost)
			break;
	}
	return ret;
}

static struct tap_flow_side *make_datagram(struct tap_flows *flows,
					   struct tap_generation *generation, uint64_t a,
					   uint64_t b)
{
	struct tap_flow_side *side = tap_table_find(&flows->sides, a, b);

	if (side)
		return side;
	side = calloc(1, sizeof(*side));
	if (!side)
		return NULL;
	if (tap_table_set(&flows->sides, a, b, side)) {
		free(side);
		return NULL;
	}
	number_side(flows, side);
	side->generation = generation;
	side->is_lossy = true;
	side->next = flows->datagrams;
	flows->datagrams = side;
	return side;
}

struct tap_flow_side *tap_flow_datagram(struct tap_flows *flows,
					struct tap_generation *sender,
					struct tap_generation *receiver,
					uint64_t src_qp_num)
{
	const uint64_t number = sender ? sender->qp->qp_num : src_qp_num;
	struct tap_flow_side *in, *out;

	in = make_datagram(flows, receiver, (uintptr_t) receiver, number);
	if (!sender || !in)
		return in;
	out = make_datagram(flows, sender, (uintptr_t) sender, (uintptr_t) receiver);
	if (!out || out->other || out->is_ambiguous)
		return out;
	/* Another device uses the same number, and a completion names only the number. */
	if (in->other) {
		in->is_ambiguous = true;
		out->is_ambiguous = true;
		return out;
	}
	return tap_flow_meet(flows, out, in) ? NULL : out;
}

int tap_flows_finish(struct tap_flows *flows)
{
	const struct tap_loss *loss = &flows->context->loss;
	const bool is_whole = !loss->discarded_events && !loss->discarded_packets &&
			      !loss->discarded_unknown && !loss->damaged_streams &&
			      !loss->malformed_events;
	struct tap_message *message;
	int ret = 0;

	while (!ret && (message = flows->all.first)) {
		enum tap_why why;

		if (!message->is_held)
			why = why_alone(message->side, &message->endpoint);
		else if (is_whole && are_counts_equal(message->side))
			why = TAP_WHY_NONE;
		else
			why = TAP_WHY_UNPROVED;
		ret = settle(flows, message, why);
	}
	return ret;
}

void tap_flows_free(struct tap_flows *flows)
{
	struct tap_flow_side *side;
	struct tap_message *message;

	while (flows->all.first)
		drop_message(flows, flows->all.first);
	while ((message = tap_list_take_first(&flows->unused, of_all)))
		free(message);
	while ((side = flows->datagrams)) {
		flows->datagrams = side->next;
		free(side);
	}
	tap_table_free(&flows->messages);
	tap_table_free(&flows->sides);
}
