/* SPDX-License-Identifier: MIT */
/*
 * Communicators and their members: each process has its own handle for a communicator (a
 * member); members with the same key form one communicator.
 *
 * Hides that a member may be described late, repeatedly or never, and that two keys may
 * turn out to mean one communicator.
 */
#ifndef TAP_JOIN_MODEL_COMM_H
#define TAP_JOIN_MODEL_COMM_H

#include "join/base/table.h"
#include "join/model/event.h"

/* A communicator. */
struct tap_comm {
	unsigned int number;	 /* from 0 */
	uint64_t key;		 /* 0 unknown */
	struct tap_comm *united; /* the one that it turned out to be, or NULL */
	int64_t nranks;		 /* -1 unknown */
	struct tap_member *members;
	/*
	 * Counted by the layer that links operations; added up when two communicators are
	 * united.
	 */
	uint64_t linked;     /* operations with all ranks present */
	uint64_t incomplete; /* linked without all ranks, or without knowing how many */
	uint64_t unmatched;
	uint64_t ambiguous;
	uint64_t mismatched;
};

/* One rank's side of a communicator, in one process. */
struct tap_member {
	unsigned int number; /* from 0 */
	const struct tap_process *process;
	uint64_t comm_id;
	struct tap_comm *comm; /* read by tap_member_comm() only */
	int64_t rank;	       /* -1 unknown */
	int64_t device;	       /* -1 unknown */
	bool is_over;	       /* destroyed or aborted: no later description counts */
	bool is_made;	       /* the recording has seen it being made */
	struct tap_fields about;
	uint64_t collectives; /* the count in its latest state dump */
	uint64_t missing;
	uint64_t not_recorded;
	struct tap_member *next; /* of the same communicator */

	/*
	 * For the layer of ranks: the member's collectives, and its calls that may not
	 * count.
	 */
	struct tap_sequence *sequence;
	struct tap_queue *unsure;
};

/* All zero is no communicator. */
struct tap_comms {
	struct tap_table by_id;	 /* members by (process, comm_id) */
	struct tap_table by_key; /* communicators */
	struct tap_member **members;
	size_t member_count;
	size_t member_room;
	struct tap_comm **all;
	size_t count;
	size_t room;
	/* Increases when a rank, a size or a union becomes known, or a member is over. */
	uint64_t changes;
};

/*
 * The member with this number in the process, made when new; key is the communicator's
 * key, or 0 when unknown.  NULL when memory is short.
 */
struct tap_member *tap_comms_member(struct tap_comms *comms,
				    const struct tap_process *process, uint64_t comm_id,
				    uint64_t key);

/*
 * Takes a tap:comm or, with is_statedump, a tap:statedump_comm event, and its fields.
 * *member becomes the member that it describes, NULL when nothing in it is new.  Returns
 * 0, -EINVAL when the event describes no communicator, or -ENOMEM.
 */
int tap_comms_describe(struct tap_comms *comms, const struct tap_process *process,
		       struct tap_event *event, bool is_statedump,
		       struct tap_member **member);

/* The communicator that this one has turned out to be, or itself. */
static inline struct tap_comm *tap_comm_root(struct tap_comm *comm)
{
	while (comm->united)
		comm = comm->united;
	return comm;
}

/* The communicator of a member. */
static inline struct tap_comm *tap_member_comm(const struct tap_member *member)
{
	return tap_comm_root(member->comm);
}

void tap_comms_free(struct tap_comms *comms);

#endif
