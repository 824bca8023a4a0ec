/* SPDX-License-Identifier: MIT */
/*
 * Pieces of messages: a piece is a list of writes, with the receive that it uses up.
 *
 * Both ends give a piece the same ordinal, so it is found by (receiver's queue pair,
 * ordinal) and by (sender's queue pair, ordinal).  Hides these two tables, and the bound
 * on pieces that wait for a message.
 */
#ifndef TAP_JOIN_NCCL_NET_PIECE_H
#define TAP_JOIN_NCCL_NET_PIECE_H

#include "join/base/table.h"
#include "join/nccl/net.h"

struct tap_context;
struct tap_rdma_list;

#define TAP_NET_REQUESTS_MAX 8

struct tap_net_piece {
	struct tap_net_message *message; /* NULL: it has none yet */
	struct tap_net *holder;		 /* connection that holds it, or NULL */
	TAP_LIST_LINK(struct tap_net_piece) of_holder;
	TAP_LIST_LINK(struct tap_net_piece) of_message;
	struct tap_generation *receiver; /* NULL not known yet */
	struct tap_generation *sender;	 /* NULL: not posted */
	uint64_t ordinal;
	int64_t begin_ns, end_ns; /* of the post */
	int64_t tid;
	uint64_t seq; /* of its last request */
	uint64_t wr_id;
	uint32_t imm_data, received_imm;
	unsigned int requests;
	unsigned int listed; /* work requests, of which seq is the last */
	uint64_t lengths[TAP_NET_REQUESTS_MAX];
	uint64_t addresses[TAP_NET_REQUESTS_MAX]; /* remote */
	uint64_t sources[TAP_NET_REQUESTS_MAX];	  /* at the sender */
	int64_t sent_ns, received_ns;
	uint64_t status;
	bool is_sent, is_received, is_concurrent;
	bool has_sizes; /* of its requests, in the last request */
	bool is_early;	/* it was sent before its message was known */
};

struct tap_net_pieces {
	const struct tap_context
		*context;	     /* the owner sets it; the rest starts as zero */
	struct tap_table arrivals;   /* by (receiver's generation, ordinal) */
	struct tap_table departures; /* by (sender's generation, ordinal) */
	TAP_LIST(struct tap_net_piece) unused;
	size_t held;
};

/* NULL when memory is short. */
struct tap_net_piece *tap_net_piece_make(struct tap_net_pieces *pieces, uint64_t ordinal);
/* Drops a piece; the caller takes it out of its message's list. */
void tap_net_piece_drop(struct tap_net_pieces *pieces, struct tap_net_piece *piece);

/* Each files a piece so that it can be found.  Returns 0 or -ENOMEM. */
int tap_net_piece_file_arrival(struct tap_net_pieces *pieces, struct tap_net_piece *piece,
			       struct tap_generation *receiver);
int tap_net_piece_file_departure(struct tap_net_pieces *pieces,
				 struct tap_net_piece *piece,
				 struct tap_generation *sender);
/* NULL: there is none. */
struct tap_net_piece *tap_net_piece_find_arrival(const struct tap_net_pieces *pieces,
						 const struct tap_generation *receiver,
						 uint64_t ordinal);
struct tap_net_piece *tap_net_piece_find_departure(const struct tap_net_pieces *pieces,
						   const struct tap_generation *sender,
						   uint64_t ordinal);

/*
 * Holds a piece without a message; drops the connection's oldest when too many are held.
 */
void tap_net_piece_hold(struct tap_net_pieces *pieces, struct tap_net *net,
			struct tap_net_piece *piece);
void tap_net_piece_unhold(struct tap_net_pieces *pieces, struct tap_net_piece *piece);
/* Drops the pieces held before `before`, or all where it is NULL. */
void tap_net_piece_drop_held(struct tap_net_pieces *pieces, struct tap_net *net,
			     const struct tap_net_piece *before);

/* Fills a piece from the list that posts it. */
void tap_net_piece_fill(struct tap_net_piece *piece, const struct tap_rdma_list *list);
/*
 * Fills a piece from one that was posted before the receive was known, and drops that
 * one.  Returns 0 or -ENOMEM.
 */
int tap_net_piece_adopt(struct tap_net_pieces *pieces, struct tap_net_piece *piece,
			struct tap_net_piece *held);

void tap_net_pieces_free(struct tap_net_pieces *pieces);

#endif
