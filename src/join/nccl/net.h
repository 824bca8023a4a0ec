/* SPDX-License-Identifier: MIT */
/*
 * One end of a connection of NCCL's network code: queue pairs of a process that have the
 * same owner.  Each member belongs to one file, which alone changes it.
 */
#ifndef TAP_JOIN_NCCL_NET_H
#define TAP_JOIN_NCCL_NET_H

#include "common/list.h"
#include "join/model/wire.h"

#include <stddef.h>

struct tap_generation;
struct tap_net_flush;
struct tap_net_message;
struct tap_net_piece;
struct tap_net_recent;

/* Receives of one message at most: NCCL has no more queue pairs in a connection. */
#define TAP_NET_PIECES_MAX 128

/* How a release lays out the memory that a CTS is written to. */
struct tap_net_layout {
	uint64_t entry; /* bytes of a request; a slot has room for 8 */
	uint64_t slots;
	bool has_slot; /* wr_id of data may be the slot's number */
};

/* Messages that lack something, which a flush may mean. */
#define TAP_NET_LOST 64

/* Of a receiver; all zero is none. */
struct tap_net_flushes {
	struct tap_net_recent *recent; /* messages, the latest; or NULL */
	uint64_t recent_count;
	struct tap_net_flush *all; /* that wait, or NULL */
	size_t count;
	uint64_t lost[TAP_NET_LOST]; /* numbers, the latest */
	uint64_t lost_count;
};

struct tap_net {
	/* Of netib.c. */
	const struct tap_process *process;
	uint64_t key;	 /* of the owner */
	uint64_t id;	 /* 0: it is not known to be NCCL's */
	size_t qp_count; /* that live */
	bool is_late;	 /* it was there before recording began */
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
	} pending[TAP_NET_PIECES_MAX]; /* receives since the CTS before */
	size_t pending_count;
	bool is_preposted; /* receives are posted beforehand */

	/* Of net_piece.c: pieces that have no message. */
	TAP_LIST(struct tap_net_piece) held;

	/* Of net_message.c. */
	TAP_LIST(struct tap_net_message) messages; /* of a receiver, by number */
	uint64_t linked_number; /* of a receiver, the latest that was posted whole */
	unsigned int forms; /* of a sender, of what the number may be; 0: not asked yet */

	/* Of net_span.c, of a sender. */
	uint64_t posted_number;
	int64_t posted_begin_ns, posted_end_ns; /* of that message's posts */

	/* Of net_flush.c, of a receiver. */
	struct tap_net_flushes flushes;

	/* Of net_match.c. */
	bool is_proved;			    /* a message of it has fit */
	bool is_refuted;		    /* something did not */
	uint64_t early_whys[TAP_WHY_COUNT]; /* messages missed before it was proved */
	/* Of net_match.c, of a sender to one whose receives are posted beforehand. */
	uint64_t pieces;		 /* of each message, 0 not known */
	struct tap_net_message *filling; /* more of it may come */
};

#endif
