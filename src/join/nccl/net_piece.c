/* SPDX-License-Identifier: MIT */
/*
 * A CTS makes the receiver's piece and the post finds it, or the post comes first and its
 * piece is held.
 */
#include "join/nccl/net_piece.h"

#include "join/model/context.h"
#include "join/rdma/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tap_net_piece *tap_net_piece_make(struct tap_net_pieces *pieces, uint64_t ordinal)
{
	struct tap_net_piece *piece = tap_list_take_first(&pieces->unused, of_holder);

	if (!piece)
		piece = malloc(sizeof(*piece));
	if (!piece)
		return NULL;
	memset(piece, 0, sizeof(*piece));
	piece->ordinal = ordinal;
	return piece;
}

struct tap_net_piece *tap_net_piece_find_arrival(const struct tap_net_pieces *pieces,
						 const struct tap_generation *receiver,
						 uint64_t ordinal)
{
	return tap_table_find(&pieces->arrivals, (uintptr_t) receiver, ordinal);
}

struct tap_net_piece *tap_net_piece_find_departure(const struct tap_net_pieces *pieces,
						   const struct tap_generation *sender,
						   uint64_t ordinal)
{
	return tap_table_find(&pieces->departures, (uintptr_t) sender, ordinal);
}

void tap_net_piece_unhold(struct tap_net_pieces *pieces, struct tap_net_piece *piece)
{
	if (!piece->holder)
		return;
	tap_list_remove(&piece->holder->held, piece, of_holder);
	piece->holder = NULL;
	pieces->held--;
}

void tap_net_piece_drop(struct tap_net_pieces *pieces, struct tap_net_piece *piece)
{
	tap_net_piece_unhold(pieces, piece);
	if (piece->receiver &&
	    tap_net_piece_find_arrival(pieces, piece->receiver, piece->ordinal) == piece)
		tap_table_remove(&pieces->arrivals, (uintptr_t) piece->receiver,
				 piece->ordinal);
	if (piece->sender &&
	    tap_net_piece_find_departure(pieces, piece->sender, piece->ordinal) == piece)
		tap_table_remove(&pieces->departures, (uintptr_t) piece->sender,
				 piece->ordinal);
	tap_list_prepend(&pieces->unused, piece, of_holder);
}

void tap_net_piece_drop_held(struct tap_net_pieces *pieces, struct tap_net *net,
			     const struct tap_net_piece *before)
{
	while (net->held.first && net->held.first != before)
		tap_net_piece_drop(pieces, net->held.first);
}

void tap_net_piece_hold(struct tap_net_pieces *pieces, struct tap_net *net,
			struct tap_net_piece *piece)
{
	piece->holder = net;
	tap_list_append(&net->held, piece, of_holder);
	if (++pieces->held > pieces->context->bounds.held_operations &&
	    net->held.first != piece)
		tap_net_piece_drop(pieces, net->held.first);
}

int tap_net_piece_file_arrival(struct tap_net_pieces *pieces, struct tap_net_piece *piece,
			       struct tap_generation *receiver)
{
	piece->receiver = receiver;
	return tap_table_set(&pieces->arrivals, (uintptr_t) receiver, piece->ordinal,
			     piece);
}

int tap_net_piece_file_departure(struct tap_net_pieces *pieces,
				 struct tap_net_piece *piece,
				 struct tap_generation *sender)
{
	piece->sender = sender;
	return tap_table_set(&pieces->departures, (uintptr_t) sender, piece->ordinal,
			     piece);
}

void tap_net_piece_fill(struct tap_net_piece *piece, const struct tap_rdma_list *list)
{
	const struct tap_rdma_request *last = &list->requests[list->count - 1];
	unsigned int i;

	piece->begin_ns = list->begin_ns;
	piece->end_ns = list->end_ns;
	piece->tid = list->tid;
	piece->seq = list->seq + list->count - 1;
	piece->listed = (unsigned int) list->count;
	piece->wr_id = last->wr_id;
	piece->imm_data = (uint32_t) last->imm_data;
	piece->is_concurrent = list->is_concurrent;
	piece->requests = list->count > 2 ? (unsigned int) list->count - 1 : 1;
	piece->has_sizes = list->count > 2 && last->length;
	for (i = 0; i < piece->requests; i++) {
		piece->lengths[i] = list->requests[i].length;
		piece->addresses[i] = list->requests[i].remote_addr;
		piece->sources[i] = list->requests[i].addr;
	}
}

/* Copies what the held piece has of the post. */
static void take_over(struct tap_net_piece *piece, const struct tap_net_piece *held)
{
	piece->begin_ns = held->begin_ns;
	piece->end_ns = held->end_ns;
	piece->tid = held->tid;
	piece->seq = held->seq;
	piece->listed = held->listed;
	piece->wr_id = held->wr_id;
	piece->imm_data = held->imm_data;
	piece->is_concurrent = held->is_concurrent;
	piece->requests = held->requests;
	piece->has_sizes = held->has_sizes;
	memcpy(piece->lengths, held->lengths, sizeof(piece->lengths));
	memcpy(piece->addresses, held->addresses, sizeof(piece->addresses));
	memcpy(piece->sources, held->sources, sizeof(piece->sources));
	piece->is_sent = held->is_sent;
	piece->sent_ns = held->sent_ns;
	piece->status = held->status;
}

int tap_net_piece_adopt(struct tap_net_pieces *pieces, struct tap_net_piece *piece,
			struct tap_net_piece *held)
{
	struct tap_generation *sender = held->sender;

	take_over(piece, held);
	tap_net_piece_drop(pieces, held);
	return tap_net_piece_file_departure(pieces, piece, sender);
}

void tap_net_pieces_free(struct tap_net_pieces *pieces)
{
	struct tap_net_piece *piece;

	while ((piece = tap_list_take_first(&pieces->unused, of_holder)))
		free(piece);
	tap_table_free(&pieces->arrivals);
	tap_table_free(&pieces->departures);
}
