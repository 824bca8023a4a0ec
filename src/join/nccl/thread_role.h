/* SPDX-License-Identifier: MIT */
/*
 * The roles of NCCL's threads, from the structure of their creation and from what they
 * do.
 *
 * Hides the rules, and that a role may become known after others: what one thread shows
 * tells the role of all that have the same routine.
 */
#ifndef TAP_JOIN_NCCL_THREAD_ROLE_H
#define TAP_JOIN_NCCL_THREAD_ROLE_H

#include "common/list.h"
#include "join/base/table.h"
#include "join/model/nccl_thread.h"

struct tap_thread_entry {
	struct tap_nccl_thread about;
	uint64_t created;	/* when, on the clock of the process; orders siblings */
	uint64_t outer_call_id; /* of the calls around about.call_id, the outermost */
	uint64_t nr_arguments;
	/* Of a creator that is NCCL's: when it was created, and by whom; else 0. */
	uint64_t creator_created;
	int64_t creators_creator;
	bool is_gone; /* it has ended, or another thread has its number */
	TAP_LIST_LINK(struct tap_thread_entry) live;
};

struct tap_thread_roles {
	struct tap_table by_routine; /* role + 1, by (object, offset) */
	/* All threads that live, and those that ended last, in order of appearance. */
	TAP_LIST(struct tap_thread_entry) live;
};

/* The thread that had this number latest, and was there at this time of its process. */
struct tap_thread_entry *tap_thread_role_find(const struct tap_thread_roles *roles,
					      const struct tap_process *process,
					      int64_t tid, uint64_t created);

/* The thread of NCCL's that created it, NULL: none, or not kept any more. */
struct tap_thread_entry *tap_thread_role_creator(const struct tap_thread_roles *roles,
						 const struct tap_thread_entry *thread);

/* Finds out what a new thread shows of itself and of others.  Returns 0 or -ENOMEM. */
int tap_thread_role_begin(struct tap_thread_roles *roles, struct tap_thread_entry *thread,
			  struct tap_thread_entry *creator);
/* The thread does what only threads of this role do.  Returns 0 or -ENOMEM. */
int tap_thread_role_does(struct tap_thread_roles *roles, struct tap_thread_entry *thread,
			 enum tap_thread_role role);
/* Nothing more will be known of the thread. */
void tap_thread_role_end(struct tap_thread_roles *roles, struct tap_thread_entry *thread);

#endif
