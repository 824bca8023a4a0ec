/* SPDX-License-Identifier: MIT */
/*
 * Messages that are not over, and what is known of each by its pieces.
 *
 * Hides how many are kept, and what the pieces of one message have in common: one place
 * in the sender's memory of its requests, one wr_id, a number that is the size or says
 * which message it is.
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
	bool is_linked; /* all is posted, and fits */
	bool is_noted;	/* all is received */
	uint64_t lengths[TAP_NET_REQUESTS_MAX];
	uint64_t addresses[TAP_NET_REQUESTS_MAX];
	uint64_t status;	      /* of the first that failed */
	int64_t begin_ns, end_ns;     /* of its posts */
	int64_t sent_ns, received_ns; /* the latest */
	TAP_LIST_LINK(struct tap_net_message) of_net;
	TAP_LIST_LINK(struct tap_net_message) of_all;
};

struct tap_net_messages {
	/* Set by the owner; the rest is zero at first. */
	struct tap_context *context;
	struct tap_net_pieces *pieces;

	TAP_LIST(struct tap_net_message) all, unused;
	size_t open; /* of all */
};

/* The latest of a receiver, without pieces, which its CTS asks for.  NULL: no memory. */
struct tap_net_message *tap_net_message_make(struct tap_net_messages *messages,
					     struct tap_net *net,
					     const struct tap_rdma_list *cts,
					     unsigned int requests);
/* With its pieces, and its spans if it has them still. */
void tap_net_message_drop(struct tap_net_messages *messages,
			  struct tap_net_message *message);
void tap_net_message_drop_all(struct tap_net_messages *messages, struct tap_net *net);

void tap_net_message_add(struct tap_net_message *message, struct tap_net_piece *piece);
/* A piece that it has is posted; was sent; was received. */
void tap_net_message_count_posted(struct tap_net_message *message,
				  const struct tap_net_piece *piece);
void tap_net_message_count_sent(struct tap_net_message *message,
				const struct tap_net_piece *piece);
void tap_net_message_count_received(struct tap_net_message *message,
				    const struct tap_net_piece *piece);

/* All is posted: whether it looks like one message, in one release.  It is linked then.
 */
bool tap_net_message_fit(struct tap_net_message *message);

uint64_t tap_net_message_bytes(const struct tap_net_message *message);
/* Of the last request that is not empty, which a flush reads; 0 none. */
uint64_t tap_net_message_address(const struct tap_net_message *message);
/* Whether a piece that has not completed has, after all, since one after it has. */
bool tap_net_message_has_lost_end(const struct tap_net_message *message, bool is_send);

/* Whether of all that was received until then it is known what it is. */
bool tap_net_messages_are_known(const struct tap_net *net, int64_t time_ns);
/* Whether one that is not whole, numbered above `after` up to `last`, may end there. */
bool tap_net_message_may_be_at(const struct tap_net *net, uint64_t address,
			       uint64_t after, uint64_t last);

void tap_net_messages_free(struct tap_net_messages *messages);

#endif
