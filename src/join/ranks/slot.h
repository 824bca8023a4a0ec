/* SPDX-License-Identifier: MIT */
/*
 * Where calls wait for what they need to be linked: for the end of their group, for
 * a sign that they counted, for their rank to be known, or, in a slot, for the other
 * ranks' calls of the same number.  Of operations.c alone; hides how numbers meet, and
 * who has gone on.
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
	TAP_LIST(struct tap_queue) queues; /* in order of their making */
	TAP_LIST(struct tap_queue) unused;
	size_t held;
	bool is_settling;
	bool is_finishing; /* no more calls come */
	uint64_t changes;  /* of comms, when it was looked at last */
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
	uint64_t group_id;   /* 0 none */
	int64_t not_counted; /* calls and groups before it, -1 unknown */
	bool is_weak;	     /* it may not count: another call of the rank is preferred */
	bool is_sure;	     /* in a group: it counts if the group does */
	bool is_open;	     /* it has not returned */
	/* In a slot. */
	struct tap_queue *slot;
	bool has_passed;			 /* its rank has gone on for certain */
	TAP_LIST_LINK(struct tap_held) unpassed; /* of the sequence, else */
};

/* What counts its numbers apart: collectives, or messages between two ranks. */
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
	size_t passed;			     /* slot: ranks that have gone on */
	bool is_ambiguous;		     /* slot: two calls of a rank count */
};

/* A queue at the newest end, or NULL when memory is short. */
struct tap_queue *tap_queue_make(struct tap_links *links, enum tap_queue_kind kind);
void tap_queue_append(struct tap_queue *queue, struct tap_held *held);
/* Takes all calls out of a queue, which is then no longer there. */
struct tap_held *tap_queue_empty(struct tap_links *links, struct tap_queue *queue);

/* Gives calls back. */
void tap_held_forget(struct tap_links *links, struct tap_held *held);
void tap_held_forget_all(struct tap_links *links, struct tap_held *first);

/* All take the calls, and return 0, -ENOMEM or what link returned. */

/* A call counts, or may: it gets its place. */
int tap_slots_file(struct tap_links *links, struct tap_held *held);
/* A rank or a size has become known, or that two communicators are one. */
int tap_slots_settle(struct tap_links *links);

/* The rank of a call in a slot has gone on, or nobody waits for that any longer. */
void tap_held_pass(struct tap_held *held);

/* Frees the sequences and channels. */
void tap_slots_free(struct tap_links *links);

/*
 * Whether all of a collective's missing ranks, or the other side of a message, the peer,
 * are in the trace and had not come to this number when it ended.
 */
bool tap_slot_is_pending(struct tap_links *links, const struct tap_link *link);

/* Of emit.c: makes a link of what is in a slot, or counts why not; drops the slot. */
int tap_slot_emit(struct tap_links *links, struct tap_queue *slot);
/* A call that can wait no longer has no other. */
void tap_slot_count_unmatched(struct tap_links *links, struct tap_comm *comm);

#endif
