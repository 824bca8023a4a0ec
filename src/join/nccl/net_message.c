/* SPDX-License-Identifier: MIT */
/* Counts a message's pieces as they come; their addresses locate its data. */
#include "join/nccl/net_message.h"

#include "join/model/context.h"
#include "join/rdma/observer.h"
#include "join/rdma/qp.h"

#include <stdlib.h>
#include <string.h>

struct tap_net_message *tap_net_message_make(struct tap_net_messages *messages,
					     struct tap_net *net,
					     const struct tap_rdma_list *cts,
					     unsigned int requests)
{
	struct tap_net_message *message = tap_list_take_first(&messages->unused, of_all);

	if (!message)
		message = malloc(sizeof(*message));
	if (!message)
		return NULL;
	memset(message, 0, sizeof(*message));
	message->to = net;
	message->number = net->number;
	message->requests = requests;
	message->cts = tap_generation_work(cts->generation, TAP_WORK_SEND, cts->seq);
	message->cts_begin_ns = cts->begin_ns;
	message->cts_end_ns = cts->end_ns;
	message->is_concurrent = cts->is_concurrent;
	tap_list_append(&net->messages, message, of_net);
	tap_list_append(&messages->all, message, of_all);
	messages->open++;
	return message;
}

void tap_net_message_drop(struct tap_net_messages *messages,
			  struct tap_net_message *message)
{
	struct tap_net_piece *piece;

	while ((piece = tap_list_take_first(&message->pieces, of_message)))
		tap_net_piece_drop(messages->pieces, piece);
	if (message->receive)
		tap_pairs_put(&messages->context->pairs, message->receive);
	if (message->send)
		tap_pairs_put(&messages->context->pairs, message->send);
	if (message->from && message->from->filling == message)
		message->from->filling = NULL;
	tap_list_remove(&message->to->messages, message, of_net);
	tap_list_remove(&messages->all, message, of_all);
	messages->open--;
	tap_list_prepend(&messages->unused, message, of_all);
}

void tap_net_message_drop_all(struct tap_net_messages *messages, struct tap_net *net)
{
	while (net->messages.first)
		tap_net_message_drop(messages, net->messages.first);
}

void tap_net_messages_free(struct tap_net_messages *messages)
{
	struct tap_net_message *message;

	while ((message = tap_list_take_first(&messages->unused, of_all)))
		free(message);
}

/* ---- Its pieces ---- */

void tap_net_message_add(struct tap_net_message *message, struct tap_net_piece *piece)
{
	piece->message = message;
	tap_list_append(&message->pieces, piece, of_message);
}

void tap_net_message_count_posted(struct tap_net_message *message,
				  const struct tap_net_piece *piece)
{
	unsigned int i;

	if (!message->posted++) {
		message->from = piece->sender->qp->observed;
		message->begin_ns = piece->begin_ns;
		message->end_ns = piece->end_ns;
	}
	if (piece->begin_ns < message->begin_ns)
		message->begin_ns = piece->begin_ns;
	if (piece->end_ns > message->end_ns)
		message->end_ns = piece->end_ns;
	for (i = 0; i < piece->requests; i++) {
		message->lengths[i] += piece->lengths[i];
		if (!message->addresses[i] || piece->addresses[i] < message->addresses[i])
			message->addresses[i] = piece->addresses[i];
		/* A part of no bytes may have no address. */
		if (!message->sources[i] ||
		    (piece->sources[i] && piece->sources[i] < message->sources[i]))
			message->sources[i] = piece->sources[i];
	}
}

uint64_t tap_net_message_bytes(const struct tap_net_message *message)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < message->requests; i++)
		bytes += message->lengths[i];
	return bytes;
}

bool tap_net_message_has_lost_end(const struct tap_net_message *message, bool is_send)
{
	const struct tap_net_piece *piece;

	for (piece = message->pieces.first; piece; piece = piece->of_message.after) {
		if (is_send && piece->sender && !piece->is_sent &&
		    tap_work_queue_has_passed(&piece->sender->sends, piece->seq))
			return true;
		if (!is_send && piece->receiver && !piece->is_received &&
		    piece->receiver->received >= piece->ordinal)
			return true;
	}
	return false;
}

uint64_t tap_net_message_address(const struct tap_net_message *message)
{
	unsigned int i = message->requests;

	while (i && !message->lengths[i - 1])
		i--;
	return i ? message->addresses[i - 1] : 0;
}

bool tap_net_messages_are_known(const struct tap_net *net, int64_t time_ns)
{
	const struct tap_net_message *message;

	for (message = net->messages.first; message; message = message->of_net.after)
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

	for (message = net->messages.last; message && message->number > after;
	     message = message->of_net.before) {
		if (message->number > last ||
		    (message->is_linked && message->received == message->count))
			continue;
		/* A later message was posted, so the post of this one is missing. */
		if ((!message->is_linked && message->number < net->linked_number) ||
		    (message->posted && tap_net_message_address(message) == address))
			return true;
	}
	return false;
}

void tap_net_message_count_sent(struct tap_net_message *message,
				const struct tap_net_piece *piece)
{
	message->sent++;
	if (piece->sent_ns > message->sent_ns)
		message->sent_ns = piece->sent_ns;
	if (!message->status)
		message->status = piece->status;
}

void tap_net_message_count_received(struct tap_net_message *message,
				    const struct tap_net_piece *piece)
{
	message->received++;
	if (piece->received_ns > message->received_ns)
		message->received_ns = piece->received_ns;
}

/* ---- Whether its pieces fit ---- */

/* What imm_data of a message with one request is. */
enum { FORM_SIZE = 1, FORM_SIZE_SWAPPED = 2, FORM_ID = 4, FORM_ALL = 7 };

/* The forms that the piece's imm_data fits. */
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

/* imm_data of several requests in 2.18: which of them are not empty. */
static uint32_t mask_of(const struct tap_net_message *message)
{
	uint32_t mask = 0;
	unsigned int i;

	for (i = 0; i < message->requests; i++)
		mask |= (uint32_t) !!message->lengths[i] << i;
	return mask;
}

/* Whether the pieces' parts of a request adjoin, as NCCL cuts it up. */
static bool is_in_one_piece(const struct tap_net_message *message, unsigned int request)
{
	uint64_t first = UINT64_MAX, end = 0;
	const struct tap_net_piece *piece;

	for (piece = message->pieces.first; piece; piece = piece->of_message.after) {
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

bool tap_net_message_fit(struct tap_net_message *message)
{
	unsigned int forms = message->from->forms ? message->from->forms : FORM_ALL;
	const struct tap_net_piece *piece;
	unsigned int i;

	for (piece = message->pieces.first; piece; piece = piece->of_message.after) {
		if (piece->requests != message->requests ||
		    piece->wr_id != message->pieces.first->wr_id)
			return false;
		if (message->requests == 1)
			forms &= forms_of(message, piece);
		else if (!piece->has_sizes && piece->imm_data != mask_of(message))
			return false;
		/*
		 * Receives may complete out of order: then the ordinal names another one.
		 */
		if (piece->is_received && piece->received_imm != piece->imm_data)
			return false;
	}
	for (i = 0; i < message->requests; i++)
		if (!is_in_one_piece(message, i))
			return false;
	/*
	 * Where receives are posted ahead of the CTS, only a slot in wr_id identifies
	 * messages.
	 */
	if (message->to->is_preposted && !message->to->layout->has_slot)
		return false;
	if (!forms)
		return false;
	message->from->forms = forms;
	message->is_linked = true;
	if (message->number > message->to->linked_number)
		message->to->linked_number = message->number;
	return true;
}
