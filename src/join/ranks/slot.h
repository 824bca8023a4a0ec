/* SPDX-License-Identifier: MIT */
/*
 * Queues where calls wait until they can be linked: for the end of their group, for
 * evidence that they count, for their rank to become known or, in a slot, for the other
 * ranks' calls of the same number.  Only operations.c and emit.c use it.  Hides how calls
 * of one number meet in a slot, and which ranks have passed it.
 */
#ifndef TAP_JOIN_RANKS_SLOT_H
#define TAP_JOIN_RANKS_SLOT_H

#include "common/list.h"
#include "join/model/context.h"
#include "join/model/link.h"

/* The state of the layer. */
struct tap_links {
	struct tap_context *context; /* first: layer.h */

	struct tap_table groups;	   /* by (process, thread) */
	struct tap_table sequences;	   /* by (member, direction and peer) */
	struct tap_table channels;	   /* by (communicator, both ranks) */
	struct tap_table slots;		   /* by (channel, number) */
	TAP_LIST(struct tap_queue) queues; /* oldest first */
	TAP_LIST(struct tap_queue) unused;
	size_t held;
	bool is_settling;
	bool is_finishing; /* no more calls come */
	uint64_t changes;  /* comms.changes at the last look */
	struct tap_link_end *ends;
	size_t end_room;
	struct tap_held *free_held;
	struct tap_channel *all_channels;
	struct tap_sequence *all_sequences;
};

/* A call that may be one rank's part of an operation. */
struct tap_held {
	struct tap_held *next;
	struct tap_member *member;
	struct tap_sequence *sequence; /* NULL in a group */
	const struct tap_name *name;
	uint64_t call_id;
	uint64_t number;
	int64_t peer;
	uint64_t group_id; /* 0 none */
	/* Calls and groups before it that did not count, -1: unknown. */
	int64_t not_counted;
	struct tap_call_facts facts;
	bool is_weak; /* may not count: another call of the rank is preferred */
	bool is_sure; /* in a group: it counts if the group does */
	bool is_open; /* not returned */
	/* In a slot. */
	struct tap_queue *slot;
	bool has_passed;			 /* a later number certainly counts */
	TAP_LIST_LINK(struct tap_held) unpassed; /* in the sequence, unless has_passed */
};

/* A series with numbers of its own: collectives, or messages between two ranks. */
struct tap_channel {
	struct tap_comm *comm;
	bool has_peers;
	struct tap_channel *next; /* of all */
};

enum tap_queue_kind {
	TAP_QUEUE_GROUP,
	TAP_QUEUE_UNSURE,
	TAP_QUEUE_UNPLACED,
	TAP_QUEUE_SLOT
};

/* Calls that wait for the same thing. */
struct tap_queue {
	enum tap_queue_kind kind;
	struct tap_held *first;
	struct tap_held **end;
	size_t count;
	TAP_LIST_LINK(struct tap_queue) all; /* or unused */
	uint64_t a, b;			     /* its key in the table of groups or slots */
	uint64_t group_id;		     /* group */
	bool is_open;			     /* group: its end, or a call in it, hangs */
	struct tap_member *member;	     /* unsure */
	struct tap_sequence *sequence;	     /* unplaced */
	struct tap_channel *channel;	     /* slot */
	size_t passed;			     /* slot: ranks with has_passed */
	bool is_ambiguous;		     /* slot: two calls of a rank count */
};

/* Makes a queue, the newest of links->queues.  NULL when memory is short. */
struct tap_queue *tap_queue_make(struct tap_links *links, enum tap_queue_kind kind);
void tap_queue_append(struct tap_queue *queue, struct tap_held *held);
/* Takes all calls out of a queue, and drops the queue. */
struct tap_held *tap_queue_empty(struct tap_links *links, struct tap_queue *queue);

/* Frees calls. */
void tap_held_forget(struct tap_links *links, struct tap_held *held);
void tap_held_forget_all(struct tap_links *links, struct tap_held *first);

/* Both take over the calls, and return 0, -ENOMEM or the consumer's error. */

/* Files a call that counts, or may count, in the slot of its number. */
int tap_slots_file(struct tap_links *links, struct tap_held *held);
/* Call when a rank or size has become known, or two communicators proved to be one. */
int tap_slots_settle(struct tap_links *links);

/*
 * Notes that the rank of a call in a slot has passed it, or that this no longer matters.
 */
void tap_held_pass(struct tap_held *held);

/* Frees the sequences and channels. */
void tap_slots_free(struct tap_links *links);

/*
 * Whether all missing ranks of a collective, or the peer of a message, are in the trace
 * and had not called this number when the trace ended.
 */
bool tap_slot_is_pending(struct tap_links *links, const struct tap_link *link);

/*
 * Of emit.c: emits the link of a slot's calls, or counts why there is none; drops the
 * slot.
 */
int tap_slot_emit(struct tap_links *links, struct tap_queue *slot);
/* Counts a call that stays without a match. */
void tap_slot_count_unmatched(struct tap_links *links, struct tap_comm *comm);

#endif
