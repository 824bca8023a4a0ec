/* SPDX-License-Identifier: MIT */
/*
 * The state of one end of a connection of NCCL's network code: the queue pairs of a
 * process that have the same owner.  Each member belongs to one file; only that file
 * changes it.
 */
#ifndef TAP_JOIN_NCCL_NET_H
#define TAP_JOIN_NCCL_NET_H

#include "common/list.h"
#include "common/vec.h"
#include "join/model/wire.h"
#include "join/nccl/net_service.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_generation;
struct tap_net_channel;
struct tap_net_client;
struct tap_net_flush;
struct tap_net_message;
struct tap_net_piece;
struct tap_net_recent;

/* Most receives of one message: an NCCL connection has no more queue pairs. */
#define TAP_NET_PIECES_MAX 128

/* How an NCCL release lays out the memory that a CTS is written to. */
struct tap_net_layout {
	uint64_t entry; /* bytes of a request; a slot has room for 8 */
	uint64_t slots;
	bool has_slot; /* data may have the slot's number as wr_id */
};

/* Incomplete messages that are remembered, since a flush may belong to them. */
#define TAP_NET_LOST 64

/* Flushes of a receiver; empty when all zero. */
struct tap_net_flushes {
	struct tap_net_recent *recent; /* the latest messages, or NULL */
	uint64_t recent_count;
	struct tap_net_flush *all; /* waiting flushes, or NULL */
	size_t count;
	uint64_t lost[TAP_NET_LOST]; /* latest numbers of such messages */
	uint64_t lost_count;
};

/* For whom messages are, where several ranks share a connection: net_share.h. */

/* What one rank has of a message; or all that is without bytes, which any may have. */
struct tap_net_part {
	struct tap_net_client *client; /* NULL: any */
	uint64_t number; /* of its first request, among those of the rank, from 1 */
	unsigned int requests;
	uint64_t bytes, largest;
	bool is_of_data; /* the number is among those requests that have bytes */
};

/* How far one rank's numbers are. */
struct tap_net_share {
	struct tap_net_client *client;
	uint64_t next;
};

/* Of a receiving end; all zero is without messages. */
struct tap_net_shares {
	TAP_VEC(struct tap_net_share) all;
	uint64_t latest; /* message; 0: none */
	bool has_missed; /* of the only rank so far, as it seemed */
	bool is_divided; /* there are several; each one's data alone are numbered */
};

struct tap_net {
	/* Of netib.c. */
	const struct tap_process *process;
	uint64_t key;	 /* of the owner */
	uint64_t id;	 /* 0: not known to be NCCL's */
	size_t qp_count; /* queue pairs not destroyed */
	bool is_late;	 /* existed before recording began */
	struct tap_net_maker maker;
	struct tap_net *peer;
	struct tap_net *next; /* of all */
	/* Of netib.c, of a receiver. */
	const struct tap_net_layout *layout;
	uint64_t local_addr, remote_addr; /* regions */
	uint64_t number;		  /* of the latest CTS, 0 none */
	uint64_t parts;			  /* of each message, 0 not known */
	struct {
		struct tap_generation *generation;
		uint64_t seq;
		uint64_t wr_id;
	} pending[TAP_NET_PIECES_MAX]; /* receives since the last CTS */
	size_t pending_count;
	bool is_preposted;	      /* receives are posted ahead of the CTS */
	struct tap_net_shares shares; /* of net_share.c */

	/* Of net_piece.c: pieces without a message. */
	TAP_LIST(struct tap_net_piece) held;

	/* Of net_message.c. */
	TAP_LIST(struct tap_net_message) messages; /* of a receiver, by number */
	uint64_t linked_number; /* of a receiver: latest message posted completely */
	/* Of a sender: what imm_data may mean; 0: not determined yet. */
	unsigned int forms;

	/* Of net_span.c. */
	const struct tap_net_channel *channel; /* that it is for, NULL not known yet */
	uint64_t whole;			       /* messages of which all parts are known */
	bool has_buffer; /* of these, some lie in a buffer that one protocol has */
	/* The same, of a sender. */
	uint64_t posted_number;
	int64_t posted_begin_ns, posted_end_ns; /* of that message's posts */

	/* Of net_flush.c, of a receiver. */
	struct tap_net_flushes flushes;

	/* Of net_match.c. */
	bool is_proved;			    /* a message has fit */
	bool is_refuted;		    /* something did not fit */
	uint64_t early_whys[TAP_WHY_COUNT]; /* messages missed before is_proved */
	/* Of net_match.c, of a sender whose peer has is_preposted. */
	uint64_t pieces;		 /* of each message, 0 not known */
	struct tap_net_message *filling; /* more pieces may join it */
};

#endif
