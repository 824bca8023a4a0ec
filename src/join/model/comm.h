/* SPDX-License-Identifier: MIT */
/*
 * Who belongs together: each process has a handle of its own for a communicator
 * (a member), and the members that know the same key make one communicator.
 *
 * Hides that a member may be described late, repeatedly or never, and that two
 * keys may turn out to mean one communicator.
 */
#ifndef TAP_JOIN_MODEL_COMM_H
#define TAP_JOIN_MODEL_COMM_H

#include "join/base/table.h"
#include "join/model/event.h"

/* What ranks share. */
struct tap_comm {
	unsigned int number;	 /* from 0 */
	uint64_t key;		 /* 0 unknown */
	struct tap_comm *united; /* the communicator that it turned out to be, or NULL */
	int64_t nranks;		 /* -1 unknown */
	struct tap_member *members;
	/* Counted by whoever links; added up when two are united. */
	uint64_t linked;     /* operations with all ranks there */
	uint64_t incomplete; /* linked without all ranks, or without knowing how many */
	uint64_t unmatched;
	uint64_t ambiguous;
	uint64_t mismatched;
};

/* One rank's side, in one process. */
struct tap_member {
	unsigned int number; /* from 0 */
	const struct tap_process *process;
	uint64_t comm_id;
	struct tap_comm *comm; /* ask tap_member_comm() */
	int64_t rank;	       /* -1 unknown */
	int64_t device;	       /* -1 unknown */
	bool is_over;	       /* destroyed or aborted: nothing new comes */
	struct tap_fields about;
	uint64_t collectives; /* counted, as its latest state told */
	uint64_t missing;
	uint64_t not_recorded;
	struct tap_member *next; /* of the same communicator */

	/* Of ranks: its collectives, and its calls that may not count. */
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
	/* Grows when a rank, a size or a union becomes known, or a member is over. */
	uint64_t changes;
};

/*
 * The member that has this number in the process, made when new; key is what
 * else is known of it, or 0.  NULL when memory is short.
 */
struct tap_member *tap_comms_member(struct tap_comms *comms,
				    const struct tap_process *process, uint64_t comm_id,
				    uint64_t key);

/*
 * Takes a tap:comm or, with is_statedump, a tap:statedump_comm event, its fields too.
 * *member becomes what it describes, NULL when nothing in it is new.
 * Returns 0, -EINVAL when the event does not describe one, or -ENOMEM.
 */
int tap_comms_describe(struct tap_comms *comms, const struct tap_process *process,
		       struct tap_event *event, bool is_statedump,
		       struct tap_member **member);

/* What the communicator has turned out to be. */
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
