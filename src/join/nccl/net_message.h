/* SPDX-License-Identifier: MIT */
/*
 * Open messages, and what their pieces say about each.
 *
 * Hides how messages are kept, and what the pieces of one message have in common:
 * adjacent data of each request, one wr_id, and imm_data that is the size or the number
 * of the message.
 */
#ifndef TAP_JOIN_NCCL_NET_MESSAGE_H
#define TAP_JOIN_NCCL_NET_MESSAGE_H

#include "join/nccl/net_piece.h"

struct tap_span;

struct tap_net_message {
	struct tap_net *to, *from; /* from: NULL unknown */
	uint64_t number;
	unsigned int requests;
	struct tap_work cts;
	int64_t cts_begin_ns, cts_end_ns;
	bool is_concurrent;
	struct tap_span *send, *receive;
	bool is_send_reported, is_receive_reported;
	TAP_LIST(struct tap_net_piece) pieces;
	size_t count; /* of pieces, 0 not known yet */
	size_t posted, sent, received;
	bool is_linked; /* all pieces are posted and fit */
	bool is_noted;	/* net_flush knows that all is received */
	uint64_t lengths[TAP_NET_REQUESTS_MAX];
	uint64_t addresses[TAP_NET_REQUESTS_MAX];
	uint64_t sources[TAP_NET_REQUESTS_MAX]; /* at the sender */
	/* Of net_share.c: what each rank has of it, where several share the connection.
	 */
	struct tap_net_part parts[TAP_NET_REQUESTS_MAX];
	unsigned int part_count;      /* 0: not known */
	uint64_t status;	      /* of the first piece that failed */
	int64_t begin_ns, end_ns;     /* of its posts */
	int64_t sent_ns, received_ns; /* the latest */
	TAP_LIST_LINK(struct tap_net_message) of_net;
	TAP_LIST_LINK(struct tap_net_message) of_all;
};

struct tap_net_messages {
	/* The owner sets these; the rest starts as zero. */
	struct tap_context *context;
	struct tap_net_pieces *pieces;

	TAP_LIST(struct tap_net_message) all, unused;
	size_t open; /* entries in all */
};

/*
 * Makes the message that a receiver's latest CTS asks for, without pieces.  NULL when
 * memory is short.
 */
struct tap_net_message *tap_net_message_make(struct tap_net_messages *messages,
					     struct tap_net *net,
					     const struct tap_rdma_list *cts,
					     unsigned int requests);
/* Drops a message with its pieces, and its spans if it still has them. */
void tap_net_message_drop(struct tap_net_messages *messages,
			  struct tap_net_message *message);
void tap_net_message_drop_all(struct tap_net_messages *messages, struct tap_net *net);

void tap_net_message_add(struct tap_net_message *message, struct tap_net_piece *piece);
/* Each counts a piece of the message: as posted, sent or received. */
void tap_net_message_count_posted(struct tap_net_message *message,
				  const struct tap_net_piece *piece);
void tap_net_message_count_sent(struct tap_net_message *message,
				const struct tap_net_piece *piece);
void tap_net_message_count_received(struct tap_net_message *message,
				    const struct tap_net_piece *piece);

/*
 * Whether the pieces, all posted, fit one message of one NCCL release; sets is_linked if
 * so.
 */
bool tap_net_message_fit(struct tap_net_message *message);

uint64_t tap_net_message_bytes(const struct tap_net_message *message);
/* The address of the last request that is not empty, where a flush reads; 0: none. */
uint64_t tap_net_message_address(const struct tap_net_message *message);
/* Whether a piece without a completion must have completed, since a later one did. */
bool tap_net_message_has_lost_end(const struct tap_net_message *message, bool is_send);

/* Whether no message received up to time_ns can still become linked. */
bool tap_net_messages_are_known(const struct tap_net *net, int64_t time_ns);
/*
 * Whether an incomplete message numbered above `after` and up to `last` may be at
 * address.
 */
bool tap_net_message_may_be_at(const struct tap_net *net, uint64_t address,
			       uint64_t after, uint64_t last);

void tap_net_messages_free(struct tap_net_messages *messages);

#endif
