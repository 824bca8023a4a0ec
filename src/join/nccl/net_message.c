/* SPDX-License-Identifier: MIT */
/*
 * Parts are kept under the ordinal that they have on both sides.  A receiver's is made
 * with its CTS and found by the post, or the post was there before and is held.
 *
 * Nothing is told of a connection before one message of it has fit.
 */
#include "join/nccl/net_message.h"

#include "join/model/link.h"
#include "join/rdma/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS_MAX 8
#define SLOT_MASK 0xff /* of wr_id */

/* So many messages that do not fit, and none that does, are not NCCL's. */
#define REFUTED_AFTER 8

/* What the number of a single request's last piece is. */
enum { FORM_SIZE = 1, FORM_SIZE_SWAPPED = 2, FORM_ID = 4, FORM_ALL = 7 };

/* A list of data, and the receive that it uses up. */
struct tap_net_piece {
	struct tap_net_message *message; /* NULL: it is held */
	struct tap_net *holder;
	struct tap_net_piece *earlier, *later; /* held ones */
	struct tap_net_piece *next;	       /* of the message */
	struct tap_life *receiver;	       /* NULL not known yet */
	struct tap_life *sender;	       /* NULL: not posted */
	uint64_t ordinal;
	int64_t begin_ns, end_ns; /* of the post */
	int64_t tid;
	uint64_t seq; /* of its last request */
	uint64_t wr_id;
	uint32_t imm_data, received_imm;
	unsigned int requests;
	uint64_t lengths[REQUESTS_MAX];
	uint64_t addresses[REQUESTS_MAX]; /* remote */
	int64_t sent_ns, received_ns;
	uint64_t status;
	bool is_sent, is_received, is_raced;
	bool has_sizes; /* of its requests, in the last one */
};

struct tap_net_message {
	struct tap_net *to, *from; /* from: NULL unknown */
	uint64_t number;
	unsigned int requests;
	struct tap_work cts;
	int64_t cts_begin_ns, cts_end_ns;
	bool is_raced;
	struct tap_span *send, *receive;
	bool is_send_told, is_receive_told;
	struct tap_net_piece *pieces, **pieces_end;
	size_t count; /* of pieces, 0 not known yet */
	size_t posted, sent, received;
	bool is_linked; /* all is posted, and fits */
	bool is_noted;	/* all is received */
	uint64_t lengths[REQUESTS_MAX];
	uint64_t addresses[REQUESTS_MAX];
	uint64_t status;			 /* of the first that failed */
	int64_t begin_ns, end_ns;		 /* of its posts */
	int64_t sent_ns, received_ns;		 /* the latest */
	struct tap_net_message *earlier, *later; /* of the connection */
	struct tap_net_message *older, *newer;	 /* of all */
};

static void add_number(struct tap_fields *fields, const char *name, uint64_t value)
{
	struct tap_field *field = tap_fields_add(fields, name, TAP_FIELD_UNSIGNED);

	if (field)
		field->value.u = value;
}

static void add_text(struct tap_fields *fields, const char *name, const char *text)
{
	tap_fields_add_string(fields, name, text, strlen(text));
}

/* ---- Pieces ---- */

static struct tap_net_piece *make_piece(struct tap_netib *netib)
{
	struct tap_net_piece *piece = netib->free_pieces;

	if (piece)
		netib->free_pieces = piece->next;
	else
		piece = malloc(sizeof(*piece));
	if (piece)
		memset(piece, 0, sizeof(*piece));
	return piece;
}

static void unhold(struct tap_netib *netib, struct tap_net_piece *piece)
{
	struct tap_net *net = piece->holder;

	if (!net)
		return;
	if (piece->earlier)
		piece->earlier->later = piece->later;
	else
		net->first_held = piece->later;
	if (piece->later)
		piece->later->earlier = piece->earlier;
	else
		net->last_held = piece->earlier;
	piece->holder = NULL;
	netib->held--;
}

static void drop_piece(struct tap_netib *netib, struct tap_net_piece *piece)
{
	unhold(netib, piece);
	if (piece->receiver &&
	    tap_table_find(&netib->arrivals, (uintptr_t) piece->receiver,
			   piece->ordinal) == piece)
		tap_table_remove(&netib->arrivals, (uintptr_t) piece->receiver,
				 piece->ordinal);
	if (piece->sender && tap_table_find(&netib->departures, (uintptr_t) piece->sender,
					    piece->ordinal) == piece)
		tap_table_remove(&netib->departures, (uintptr_t) piece->sender,
				 piece->ordinal);
	piece->next = netib->free_pieces;
	netib->free_pieces = piece;
}

/* One without a message.  A connection's oldest goes when there are too many. */
static void hold(struct tap_netib *netib, struct tap_net *net,
		 struct tap_net_piece *piece)
{
	piece->holder = net;
	piece->earlier = net->last_held;
	piece->later = NULL;
	if (net->last_held)
		net->last_held->later = piece;
	else
		net->first_held = piece;
	net->last_held = piece;
	if (++netib->held > netib->context->bounds.held_operations &&
	    net->first_held != piece)
		drop_piece(netib, net->first_held);
}

static int file_arrival(struct tap_netib *netib, struct tap_net_piece *piece,
			struct tap_life *receiver)
{
	piece->receiver = receiver;
	return tap_table_set(&netib->arrivals, (uintptr_t) receiver, piece->ordinal,
			     piece);
}

static int file_departure(struct tap_netib *netib, struct tap_net_piece *piece,
			  struct tap_life *sender)
{
	piece->sender = sender;
	return tap_table_set(&netib->departures, (uintptr_t) sender, piece->ordinal,
			     piece);
}

static void fill(struct tap_net_piece *piece, const struct tap_rdma_list *list)
{
	const struct tap_rdma_request *last = &list->requests[list->count - 1];
	unsigned int i;

	piece->begin_ns = list->begin_ns;
	piece->end_ns = list->end_ns;
	piece->tid = list->tid;
	piece->seq = list->seq + list->count - 1;
	piece->wr_id = last->wr_id;
	piece->imm_data = (uint32_t) last->imm_data;
	piece->is_raced = list->is_raced;
	piece->requests = list->count > 2 ? (unsigned int) list->count - 1 : 1;
	piece->has_sizes = list->count > 2 && last->length;
	for (i = 0; i < piece->requests; i++) {
		piece->lengths[i] = list->requests[i].length;
		piece->addresses[i] = list->requests[i].remote_addr;
	}
}

/* What was posted before its receive was known. */
static void take_over(struct tap_net_piece *piece, const struct tap_net_piece *held)
{
	piece->begin_ns = held->begin_ns;
	piece->end_ns = held->end_ns;
	piece->tid = held->tid;
	piece->seq = held->seq;
	piece->wr_id = held->wr_id;
	piece->imm_data = held->imm_data;
	piece->is_raced = held->is_raced;
	piece->requests = held->requests;
	piece->has_sizes = held->has_sizes;
	memcpy(piece->lengths, held->lengths, sizeof(piece->lengths));
	memcpy(piece->addresses, held->addresses, sizeof(piece->addresses));
	piece->is_sent = held->is_sent;
	piece->sent_ns = held->sent_ns;
	piece->status = held->status;
}

/* ---- Spans ---- */

struct tap_work tap_net_work(const struct tap_net *net, enum tap_work_kind kind,
			     uint64_t number)
{
	return (struct tap_work){.kind = kind,
				 .message = {.net_id = net->id, .number = number}};
}

static struct tap_span *make_span(struct tap_netib *netib, const struct tap_net *net,
				  const char *name, enum tap_work_kind kind,
				  const struct tap_net_message *message, int64_t tid,
				  int64_t begin_ns)
{
	const struct tap_name *kept =
		tap_names_get(&netib->context->names, "net", 3, name, strlen(name));
	struct tap_span *span =
		kept ? tap_pairs_make(&netib->context->pairs, net->process, kept, tid)
		     : NULL;

	if (!span)
		return NULL;
	span->state = TAP_SPAN_RUNNING;
	span->operation =
		(struct tap_operation){.not_counted = -1, .peer = -1, .datatype = -1};
	span->begin_ns = begin_ns;
	span->work = tap_net_work(net, kind, message->number);
	add_number(&span->entry, "net_id", net->id);
	add_number(&span->entry, "request", message->number);
	add_number(&span->entry, "requests", message->requests);
	add_number(&span->entry, "peer_process", net->peer->process->number);
	add_number(&span->entry, "peer_net_id", net->peer->id);
	return span;
}

static int tell_begin(struct tap_netib *netib, struct tap_span *span, bool *is_told)
{
	if (!span || *is_told)
		return 0;
	*is_told = true;
	return tap_emit_begun(netib->context, span);
}

static int tell_begins(struct tap_netib *netib, struct tap_net_message *message)
{
	int ret = 0;

	if (!message->to->is_proved)
		return 0;
	ret = tell_begin(netib, message->receive, &message->is_receive_told);
	return ret ? ret : tell_begin(netib, message->send, &message->is_send_told);
}

static uint64_t bytes_of(const struct tap_net_message *message)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < message->requests; i++)
		bytes += message->lengths[i];
	return bytes;
}

static bool have_one_clock(const struct tap_net_message *message)
{
	return message->to->process->trace == message->from->process->trace;
}

/*
 * How long the sender may have waited for the receiver: from the end of what it posted
 * before until the CTS was posted.  None where the CTS came first: that is sure.
 */
static void add_wait(struct tap_net_message *message)
{
	struct tap_net *from = message->from;
	struct tap_fields *fields = &message->send->exit;
	int64_t until_ns = message->cts_end_ns;

	if (have_one_clock(message)) {
		if (until_ns > message->begin_ns)
			until_ns = message->begin_ns;
		if (from->posted_number && from->posted_number + 1 == message->number) {
			const int64_t wait_ns = until_ns - from->posted_end_ns;

			add_number(fields, "wait_max_ns",
				   wait_ns > 0 ? (uint64_t) wait_ns : 0);
			add_text(fields, "wait_known",
				 message->cts_end_ns <= from->posted_begin_ns
					 ? "exact"
					 : "inferred");
		}
		if (message->begin_ns >= message->cts_begin_ns)
			add_number(fields, "cts_to_post_ns",
				   (uint64_t) (message->begin_ns -
					       message->cts_begin_ns));
	}
	if (message->number > from->posted_number) {
		from->posted_number = message->number;
		from->posted_begin_ns = message->begin_ns;
		from->posted_end_ns = message->end_ns;
	}
}

static void add_status(struct tap_span *span, uint64_t status)
{
	struct tap_field *field =
		tap_fields_add(&span->exit, "status", TAP_FIELD_UNSIGNED);

	if (!field)
		return;
	field->value.u = status;
	field->label = tap_wc_status_name(status);
}

/* Whether a part that has not completed has, after all, since one after it has. */
static bool has_lost_end(const struct tap_net_message *message, bool is_send)
{
	const struct tap_net_piece *piece;

	for (piece = message->pieces; piece; piece = piece->next) {
		if (is_send && piece->sender && !piece->is_sent &&
		    piece->sender->sends.done_seq >= piece->seq)
			return true;
		if (!is_send && piece->receiver && !piece->is_received &&
		    piece->receiver->received >= piece->ordinal)
			return true;
	}
	return false;
}

static int end_span(struct tap_netib *netib, struct tap_span *span, bool is_told,
		    bool is_complete, int64_t end_ns, enum tap_span_state otherwise)
{
	int ret = 0;

	if (!span)
		return 0;
	span->end_ns = end_ns;
	span->state = is_complete ? TAP_SPAN_COMPLETE : otherwise;
	if (is_told)
		ret = tap_emit_ended(netib->context, span);
	return ret;
}

/* ---- Links ---- */

static enum tap_why doubt(struct tap_netib *netib, const struct tap_net_message *message)
{
	const struct tap_net_piece *piece;

	for (piece = message->pieces; piece; piece = piece->next) {
		if (piece->is_raced || message->is_raced)
			return TAP_WHY_RACED;
		if (!piece->sender->peer ||
		    !tap_life_is_sure(&netib->verbs->qps, piece->sender))
			return TAP_WHY_LATE;
	}
	return TAP_WHY_NONE;
}

static int tell_link(struct tap_netib *netib, const struct tap_net_message *message,
		     const struct tap_span *send, const struct tap_span *receive)
{
	const enum tap_why why = doubt(netib, message);
	const struct tap_net_piece *piece;
	struct tap_link_end ends[3 + TAP_NET_PIECES_MAX] = {
		{.process = message->to->process, .work = message->cts, .rank = -1},
		{.process = message->from->process,
		 .name = send->name,
		 .work = send->work,
		 .rank = -1},
		{.process = message->to->process,
		 .name = receive->name,
		 .work = receive->work,
		 .rank = -1}};
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
				.bytes = bytes_of(message)};

	if (!why && message->to->is_preposted)
		link.known = TAP_KNOWN_DECODED;
	ends[0].name =
		tap_names_get(&netib->context->names, "verbs", 5, "RDMA_WRITE", 10);
	for (piece = message->pieces; piece && link.count < 3 + TAP_NET_PIECES_MAX;
	     piece = piece->next)
		ends[link.count++] = (struct tap_link_end){
			.process = message->from->process,
			.name = send->name,
			.work = tap_life_work(piece->sender, TAP_WORK_SEND, piece->seq),
			.rank = -1};
	tap_matches_count(&netib->context->matches[TAP_MATCH_CTS_MESSAGE], link.known,
			  why);
	return tap_emit_link(netib->context, &link);
}

/* Both ends, as far as they are known, and what they belong to. */
static int end_message(struct tap_netib *netib, struct tap_net_message *message,
		       enum tap_why why, enum tap_span_state otherwise)
{
	const bool is_whole = message->is_linked;
	const bool is_sent = is_whole && message->sent == message->count;
	const bool is_received = is_whole && message->received == message->count;
	struct tap_span *send = message->send, *receive = message->receive;
	const enum tap_span_state unsent = otherwise;
	int ret;

	message->send = NULL;
	message->receive = NULL;

	if (is_whole) {
		add_number(&send->exit, "bytes", bytes_of(message));
		add_number(&send->exit, "parts", message->count);
		add_number(&receive->exit, "bytes", bytes_of(message));
		add_number(&receive->exit, "parts", message->count);
		if (is_received && have_one_clock(message) &&
		    message->received_ns >= message->begin_ns)
			add_number(&send->exit, "post_to_receive_ns",
				   (uint64_t) (message->received_ns - message->begin_ns));
	}
	if (is_sent)
		add_status(send, message->status);
	if (is_received)
		add_status(receive, 0);
	if (why && send)
		add_text(&send->exit, "why", tap_why_name(why));
	if (why)
		add_text(&receive->exit, "why", tap_why_name(why));
	if (has_lost_end(message, false))
		otherwise = TAP_SPAN_END_LOST;
	ret = end_span(netib, receive, message->is_receive_told, is_received,
		       message->received_ns, otherwise);
	if (!ret)
		ret = end_span(netib, send, message->is_send_told, is_sent,
			       message->sent_ns,
			       has_lost_end(message, true) ? TAP_SPAN_END_LOST : unsent);
	if (!ret && is_whole)
		ret = tell_link(netib, message, send, receive);
	tap_pairs_put(&netib->context->pairs, receive);
	if (send)
		tap_pairs_put(&netib->context->pairs, send);
	return ret;
}

/* ---- Messages ---- */

static void drop_message(struct tap_netib *netib, struct tap_net_message *message)
{
	struct tap_net *net = message->to;
	struct tap_net_piece *piece;

	while ((piece = message->pieces)) {
		message->pieces = piece->next;
		drop_piece(netib, piece);
	}
	if (message->receive)
		tap_pairs_put(&netib->context->pairs, message->receive);
	if (message->send)
		tap_pairs_put(&netib->context->pairs, message->send);
	if (message->from && message->from->filling == message)
		message->from->filling = NULL;
	if (message->earlier)
		message->earlier->later = message->later;
	else
		net->first = message->later;
	if (message->later)
		message->later->earlier = message->earlier;
	else
		net->last = message->earlier;
	if (message->older)
		message->older->newer = message->newer;
	else
		netib->oldest = message->newer;
	if (message->newer)
		message->newer->older = message->older;
	else
		netib->newest = message->older;
	netib->open--;
	message->newer = netib->free_messages;
	netib->free_messages = message;
}

static void add_piece(struct tap_net_message *message, struct tap_net_piece *piece)
{
	piece->message = message;
	*message->pieces_end = piece;
	message->pieces_end = &piece->next;
}

void tap_net_unmatched(struct tap_netib *netib, struct tap_net *net, uint64_t number,
		       enum tap_why why)
{
	tap_net_flush_lost(net, number);
	if (net->is_proved)
		tap_matches_lack(&netib->context->matches[TAP_MATCH_CTS_MESSAGE], why);
	else
		net->early_whys[why]++;
}

/* It waits no longer for what is missing. */
static int settle(struct tap_netib *netib, struct tap_net_message *message,
		  enum tap_why why)
{
	int ret;

	if (!message->is_linked)
		tap_net_unmatched(netib, message->to, message->number, why);
	else
		why = TAP_WHY_NONE;
	ret = end_message(netib, message, why, TAP_SPAN_END_LOST);
	drop_message(netib, message);
	return ret;
}

static int contradict(struct tap_netib *netib, struct tap_net_message *message)
{
	struct tap_net *net = message->to;

	if (net->is_proved)
		return settle(netib, message, TAP_WHY_CONTRADICTED);
	/* Something may be missing from one message, but not from all. */
	drop_message(netib, message);
	if (++net->early_whys[TAP_WHY_CONTRADICTED] < REFUTED_AFTER)
		return 0;
	net->is_refuted = true;
	net->peer->is_refuted = true;
	while (net->first)
		drop_message(netib, net->first);
	while (net->peer->first_held)
		drop_piece(netib, net->peer->first_held);
	return 0;
}

/* A message of it has fit: what was not told is told. */
static int prove(struct tap_netib *netib, struct tap_net *net)
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
			tap_matches_lack(&netib->context->matches[TAP_MATCH_CTS_MESSAGE],
					 why);
		}
	for (message = net->first; message && !ret; message = message->later)
		ret = tell_begins(netib, message);
	return ret;
}

/* The forms that the number of this piece can have. */
static unsigned int forms_of(const struct tap_net_message *message,
			     const struct tap_net_piece *piece)
{
	const uint32_t bytes = (uint32_t) message->lengths[0];
	const uint32_t id = (uint32_t) ((message->number - 1) % UINT32_MAX);
	unsigned int forms = 0;

	if (piece->imm_data == bytes)
		forms |= FORM_SIZE;
	if (piece->imm_data == __builtin_bswap32(bytes))
		forms |= FORM_SIZE_SWAPPED;
	if (piece->imm_data == __builtin_bswap32(id))
		forms |= FORM_ID;
	return forms;
}

/* Of several in 2.18: which of them are not empty. */
static uint32_t mask_of(const struct tap_net_message *message)
{
	uint32_t mask = 0;
	unsigned int i;

	for (i = 0; i < message->requests; i++)
		mask |= (uint32_t) !!message->lengths[i] << i;
	return mask;
}

/* Whether what the parts have of a request lies in one piece: NCCL cuts it up. */
static bool is_in_one_piece(const struct tap_net_message *message, unsigned int request)
{
	uint64_t first = UINT64_MAX, end = 0;
	const struct tap_net_piece *piece;

	for (piece = message->pieces; piece; piece = piece->next) {
		const uint64_t address = piece->addresses[request];
		const uint64_t length = piece->lengths[request];

		if (!length)
			continue;
		if (address < first)
			first = address;
		if (address + length > end)
			end = address + length;
	}
	return !end || end - first == message->lengths[request];
}

/* Whether all posts look like those of one message, in one release. */
static bool does_fit(struct tap_net_message *message)
{
	unsigned int forms = message->from->forms ? message->from->forms : FORM_ALL;
	const struct tap_net_piece *piece;
	unsigned int i;

	for (piece = message->pieces; piece; piece = piece->next) {
		if (piece->requests != message->requests ||
		    piece->wr_id != message->pieces->wr_id)
			return false;
		if (message->requests == 1)
			forms &= forms_of(message, piece);
		else if (!piece->has_sizes && piece->imm_data != mask_of(message))
			return false;
		/* Receives may complete out of order: then the ordinal is another's. */
		if (piece->is_received && piece->received_imm != piece->imm_data)
			return false;
	}
	for (i = 0; i < message->requests; i++)
		if (!is_in_one_piece(message, i))
			return false;
	/* One slot, whatever release it is, or a number of the request's own. */
	if (message->to->is_preposted && !message->to->layout->has_slot)
		return false;
	if (!forms)
		return false;
	message->from->forms = forms;
	return true;
}

/* All of it is posted. */
static int complete_posts(struct tap_netib *netib, struct tap_net_message *message,
			  bool *is_gone)
{
	*is_gone = !does_fit(message);
	if (*is_gone)
		return contradict(netib, message);
	message->is_linked = true;
	if (message->number > message->to->linked_number)
		message->to->linked_number = message->number;
	add_wait(message);
	return prove(netib, message->to);
}

/* ---- What a flush may be of ---- */

/* Of the last request that is not empty, which a flush reads; 0 none. */
static uint64_t address_of(const struct tap_net_message *message)
{
	unsigned int i = message->requests;

	while (i && !message->lengths[i - 1])
		i--;
	return i ? message->addresses[i - 1] : 0;
}

bool tap_net_messages_are_known(const struct tap_net *net, int64_t time_ns)
{
	const struct tap_net_message *message;

	for (message = net->first; message; message = message->later)
		if (!message->is_linked && message->received &&
		    message->number > net->linked_number &&
		    message->received_ns <= time_ns)
			return false;
	return true;
}

bool tap_net_message_may_be_at(const struct tap_net *net, uint64_t address,
			       uint64_t after, uint64_t last)
{
	const struct tap_net_message *message;

	for (message = net->last; message && message->number > after;
	     message = message->earlier) {
		if (message->number > last ||
		    (message->is_linked && message->received == message->count))
			continue;
		/* A later one was posted: of this one the post is missing. */
		if ((!message->is_linked && message->number < net->linked_number) ||
		    (message->posted && address_of(message) == address))
			return true;
	}
	return false;
}

/* ---- What comes ---- */

static int progress(struct tap_netib *netib, struct tap_net_message *message)
{
	bool is_gone = false;
	int ret = 0;

	if (!message->is_linked && message->count && message->posted == message->count)
		ret = complete_posts(netib, message, &is_gone);
	if (ret || is_gone || !message->is_linked)
		return ret;
	if (message->received == message->count && !message->is_noted) {
		message->is_noted = true;
		ret = tap_net_flush_received(netib, message->to, message->number,
					     address_of(message), message->received_ns);
	}
	if (ret || message->sent != message->count || message->received != message->count)
		return ret;
	ret = end_message(netib, message, TAP_WHY_NONE, TAP_SPAN_END_LOST);
	drop_message(netib, message);
	return ret;
}

static void count_sent(struct tap_net_message *message, const struct tap_net_piece *piece)
{
	message->sent++;
	if (piece->sent_ns > message->sent_ns)
		message->sent_ns = piece->sent_ns;
	if (!message->status)
		message->status = piece->status;
}

static void count_received(struct tap_net_message *message,
			   const struct tap_net_piece *piece)
{
	message->received++;
	if (piece->received_ns > message->received_ns)
		message->received_ns = piece->received_ns;
}

/* A part of the message is posted. */
static int attach(struct tap_netib *netib, struct tap_net_message *message,
		  struct tap_net_piece *piece)
{
	unsigned int i;
	int ret;

	if (!message->posted++) {
		message->from = piece->sender->qp->observed;
		message->begin_ns = piece->begin_ns;
		message->end_ns = piece->end_ns;
		message->send =
			make_span(netib, message->from, "net_send", TAP_WORK_NET_SEND,
				  message, piece->tid, piece->begin_ns);
		if (!message->send)
			return -ENOMEM;
	}
	if (piece->begin_ns < message->begin_ns)
		message->begin_ns = piece->begin_ns;
	if (piece->end_ns > message->end_ns)
		message->end_ns = piece->end_ns;
	for (i = 0; i < piece->requests; i++) {
		message->lengths[i] += piece->lengths[i];
		if (!message->addresses[i] || piece->addresses[i] < message->addresses[i])
			message->addresses[i] = piece->addresses[i];
	}
	if (piece->is_sent)
		count_sent(message, piece);
	ret = tell_begins(netib, message);
	return ret ? ret : progress(netib, message);
}

static bool is_from(const struct tap_net_message *message,
		    const struct tap_net_piece *piece)
{
	return piece->sender->qp->observed == message->to->peer;
}

/* ---- Receives that were posted beforehand: the slot tells ---- */

/* Of either end: the message that was filled may have come from another peer. */
static bool is_refuted(const struct tap_net *from)
{
	return from->is_refuted || from->peer->is_refuted;
}

/*
 * What has been posted for another message ends this one.  Where it does not fit, that
 * may refute the connection: then all messages of the receiver are gone.
 */
static int close_filling(struct tap_netib *netib, struct tap_net *from)
{
	struct tap_net_message *message = from->filling;

	from->filling = NULL;
	if (!message)
		return 0;
	/* Each before may have lacked some, but none has had more. */
	if (message->posted > from->per_message)
		from->per_message = message->posted;
	if (message->posted < from->per_message)
		return settle(netib, message, TAP_WHY_POST_LOST);
	message->count = message->posted;
	return progress(netib, message);
}

/* Where it was posted before its receiver was known to be NCCL's. */
static int meet_receiver(struct tap_netib *netib, struct tap_net_piece *piece)
{
	struct tap_life *receiver = piece->sender->peer;
	struct tap_net_piece *arrived;

	if (piece->receiver || !receiver)
		return 0;
	arrived = tap_table_find(&netib->arrivals, (uintptr_t) receiver, piece->ordinal);
	if (arrived && (arrived->message || arrived->sender))
		return 0;
	if (arrived) {
		piece->is_received = arrived->is_received;
		piece->received_ns = arrived->received_ns;
		piece->received_imm = arrived->received_imm;
		drop_piece(netib, arrived);
	}
	return file_arrival(netib, piece, receiver);
}

static int attach_by_slot(struct tap_netib *netib, struct tap_net *from,
			  struct tap_net_piece *piece, bool *is_attached)
{
	struct tap_net *to = from->peer;
	struct tap_net_message *message = to->first;
	int ret = 0;

	*is_attached = false;
	/* In a damaged trace another connection may have begun to fill it. */
	while (message &&
	       ((message->number - 1) % to->layout->slots != (piece->wr_id & SLOT_MASK) ||
		message->count || (message->from && message->from != from)))
		message = message->later;
	if (!message)
		return 0;
	*is_attached = true;
	ret = meet_receiver(netib, piece);
	if (!ret && from->filling != message)
		ret = close_filling(netib, from);
	/* A refuted connection has lost its messages, and what was held for them. */
	if (ret || is_refuted(from))
		return ret;
	/* In order of posting: the CTS of what waits before it is missing. */
	while (from->first_held && from->first_held != piece)
		drop_piece(netib, from->first_held);
	unhold(netib, piece);
	add_piece(message, piece);
	from->filling = message;
	if (piece->is_received)
		count_received(message, piece);
	return attach(netib, message, piece);
}

/* A CTS has come, for which data may have been there. */
static int retry_by_slot(struct tap_netib *netib, struct tap_net *from)
{
	struct tap_net_piece *piece, *later;
	bool is_attached, has_attached = false;
	int ret = 0;

	for (piece = from->first_held; piece && !ret; piece = later) {
		later = piece->later;
		ret = attach_by_slot(netib, from, piece, &is_attached);
		if (is_refuted(from) || (has_attached && !is_attached))
			break;
		has_attached |= is_attached;
	}
	return ret;
}

/* ---- Entries ---- */

static int adopt(struct tap_netib *netib, struct tap_net_piece *piece,
		 struct tap_net_piece *held)
{
	struct tap_life *sender = held->sender;

	take_over(piece, held);
	drop_piece(netib, held);
	return file_departure(netib, piece, sender);
}

int tap_net_message_make(struct tap_netib *netib, struct tap_net *net,
			 const struct tap_rdma_list *cts, unsigned int requests)
{
	struct tap_net_message *message;
	struct tap_net_piece *piece, *next;
	const uint64_t slots = net->layout->slots;
	uint64_t number;
	size_t i;
	int ret = 0;

	/* A slot is used again: what was in it is over. */
	while (!ret && net->first && net->first->number + slots <= net->number)
		ret = settle(netib, net->first, TAP_WHY_POST_LOST);
	if (ret)
		return ret;
	message = netib->free_messages;
	if (message)
		netib->free_messages = message->newer;
	else
		message = malloc(sizeof(*message));
	if (!message)
		return -ENOMEM;
	memset(message, 0, sizeof(*message));
	message->to = net;
	message->number = net->number;
	message->requests = requests;
	message->pieces_end = &message->pieces;
	message->cts = tap_life_work(cts->life, TAP_WORK_SEND, cts->seq);
	message->cts_begin_ns = cts->begin_ns;
	message->cts_end_ns = cts->end_ns;
	message->is_raced = cts->is_raced;
	message->earlier = net->last;
	if (net->last)
		net->last->later = message;
	else
		net->first = message;
	net->last = message;
	message->older = netib->newest;
	if (netib->newest)
		netib->newest->newer = message;
	else
		netib->oldest = message;
	netib->newest = message;
	netib->open++;
	message->receive = make_span(netib, net, "net_recv", TAP_WORK_NET_RECEIVE,
				     message, cts->tid, cts->begin_ns);
	if (!message->receive)
		return -ENOMEM;
	ret = tell_begins(netib, message);
	while (!ret && netib->open > netib->context->bounds.held_operations)
		ret = settle(netib, netib->oldest, TAP_WHY_GIVEN_UP);
	if (ret)
		return ret;
	if (net->is_preposted)
		return retry_by_slot(netib, net->peer);
	message->count = net->pending_count;
	for (i = 0; i < net->pending_count; i++) {
		struct tap_life *life = net->pending[i].life;
		struct tap_net_piece *held = NULL;

		number = net->pending[i].seq;
		/* Two claim one ordinal, in a damaged trace. */
		if (tap_table_find(&netib->arrivals, (uintptr_t) life, number))
			return settle(netib, message, TAP_WHY_AMBIGUOUS);
		piece = make_piece(netib);
		if (!piece)
			return -ENOMEM;
		piece->ordinal = number;
		add_piece(message, piece);
		if (file_arrival(netib, piece, life))
			return -ENOMEM;
		if (life->peer)
			held = tap_table_find(&netib->departures, (uintptr_t) life->peer,
					      number);
		if (held && !held->message && adopt(netib, piece, held))
			return -ENOMEM;
	}
	/* The message may go with its last part. */
	for (piece = message->pieces; piece && !ret; piece = next) {
		next = piece->next;
		if (piece->sender)
			ret = attach(netib, message, piece);
	}
	return ret;
}

int tap_net_message_post(struct tap_netib *netib, struct tap_net *net,
			 const struct tap_rdma_list *list, uint64_t *number)
{
	struct tap_life *receiver = list->life->peer;
	struct tap_net_piece *piece = NULL;
	bool is_attached;

	if (receiver)
		piece = tap_table_find(&netib->arrivals, (uintptr_t) receiver,
				       list->consuming);
	if (tap_table_find(&netib->departures, (uintptr_t) list->life, list->consuming) ||
	    (piece && piece->sender))
		return 0;
	if (!piece) {
		piece = make_piece(netib);
		if (!piece)
			return -ENOMEM;
		piece->ordinal = list->consuming;
	}
	fill(piece, list);
	if (file_departure(netib, piece, list->life))
		return -ENOMEM;
	if (piece->message && is_from(piece->message, piece)) {
		*number = piece->message->number;
		return attach(netib, piece->message, piece);
	}
	if (piece->message)
		return contradict(netib, piece->message);
	/* It may have been the receiver's. */
	unhold(netib, piece);
	hold(netib, net, piece);
	if (!net->peer || !net->peer->is_preposted || !net->peer->layout)
		return 0;
	return attach_by_slot(netib, net, piece, &is_attached);
}

uint64_t tap_net_message_number(const struct tap_netib *netib,
				const struct tap_life *life, uint64_t ordinal,
				bool is_receive)
{
	const struct tap_table *table =
		is_receive ? &netib->arrivals : &netib->departures;
	const struct tap_net_piece *piece =
		tap_table_find(table, (uintptr_t) life, ordinal);

	return piece && piece->message ? piece->message->number : 0;
}

int tap_net_message_sent(struct tap_netib *netib, struct tap_life *life, uint64_t ordinal,
			 int64_t time_ns, uint64_t status)
{
	struct tap_net_piece *piece =
		tap_table_find(&netib->departures, (uintptr_t) life, ordinal);
	struct tap_net_message *message = piece ? piece->message : NULL;

	if (!piece || piece->is_sent)
		return 0;
	piece->is_sent = true;
	piece->sent_ns = time_ns;
	piece->status = status;
	if (!message)
		return 0;
	count_sent(message, piece);
	return progress(netib, message);
}

int tap_net_message_received(struct tap_netib *netib, struct tap_net *net,
			     struct tap_life *life, uint64_t seq, int64_t time_ns,
			     uint32_t imm_data)
{
	struct tap_net_piece *piece;

	piece = tap_table_find(&netib->arrivals, (uintptr_t) life, seq);
	if (!piece && net->is_preposted) {
		piece = make_piece(netib);
		if (!piece)
			return -ENOMEM;
		piece->ordinal = seq;
		if (file_arrival(netib, piece, life))
			return -ENOMEM;
		hold(netib, net, piece);
	}
	if (!piece || piece->is_received)
		return 0;
	piece->is_received = true;
	piece->received_ns = time_ns;
	piece->received_imm = imm_data;
	if (!piece->message)
		return 0;
	if (piece->sender && imm_data != piece->imm_data)
		return piece->message->is_linked ? 0 : contradict(netib, piece->message);
	count_received(piece->message, piece);
	return progress(netib, piece->message);
}

int tap_net_message_retry(struct tap_netib *netib, struct tap_net *net)
{
	struct tap_net_piece *held, *later, *piece;
	int ret = 0;

	if (net->is_refuted)
		return 0;
	for (held = net->first_held; held && !ret; held = later) {
		struct tap_life *receiver = held->sender ? held->sender->peer : NULL;

		later = held->later;
		piece = receiver ? tap_table_find(&netib->arrivals, (uintptr_t) receiver,
						  held->ordinal)
				 : NULL;
		if (!piece || !piece->message || piece->sender)
			continue;
		ret = adopt(netib, piece, held);
		if (!ret && net->is_refuted)
			break;
		if (!ret)
			ret = attach(netib, piece->message, piece);
		if (net->is_refuted)
			break;
	}
	return ret;
}

/* Nothing is missing: its sender had not posted it. */
static bool is_outstanding(const struct tap_net_message *message)
{
	const struct tap_net_piece *piece;

	if (message->to->is_preposted)
		return !message->posted;
	for (piece = message->pieces; piece; piece = piece->next)
		if (!piece->sender &&
		    (!piece->receiver->peer ||
		     piece->ordinal <= piece->receiver->peer->out.count))
			return false;
	return true;
}

int tap_net_message_close(struct tap_netib *netib, struct tap_net *net)
{
	return close_filling(netib, net);
}

int tap_net_message_finish(struct tap_netib *netib, struct tap_net *net)
{
	struct tap_net_message *message;
	int ret = 0;

	while (!ret && (message = net->first)) {
		if (!message->is_linked && !is_outstanding(message)) {
			ret = settle(netib, message, TAP_WHY_POST_LOST);
			continue;
		}
		if (!message->is_linked && net->is_proved)
			netib->context->matches[TAP_MATCH_CTS_MESSAGE].outstanding++;
		ret = end_message(netib, message, TAP_WHY_NONE, TAP_SPAN_OPEN);
		drop_message(netib, message);
	}
	return ret ? ret : tap_net_flush_finish(netib, net);
}

void tap_net_message_forget(struct tap_netib *netib, struct tap_net *net)
{
	while (net->first)
		drop_message(netib, net->first);
	while (net->first_held)
		drop_piece(netib, net->first_held);
}

void tap_net_messages_free(struct tap_netib *netib)
{
	struct tap_net_message *message;
	struct tap_net_piece *piece;

	while ((message = netib->free_messages)) {
		netib->free_messages = message->newer;
		free(message);
	}
	while ((piece = netib->free_pieces)) {
		netib->free_pieces = piece->next;
		free(piece);
	}
	tap_table_free(&netib->arrivals);
	tap_table_free(&netib->departures);
}
