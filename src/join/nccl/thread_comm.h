/* SPDX-License-Identifier: MIT */
/*
 * The communicator that one of NCCL's own threads works for: the one that the call makes
 * which the thread was created for.
 *
 * Hides how that is found out where a call makes several: from the rank for which the
 * service thread sets up receivers or, where it sets up none, from the order in which
 * NCCL creates the threads that initialise.
 */
#ifndef TAP_JOIN_NCCL_THREAD_COMM_H
#define TAP_JOIN_NCCL_THREAD_COMM_H

#include "join/model/context.h"
#include "join/model/event.h"
#include "join/nccl/thread_role.h"

struct tap_thread_comms {
	/* The owner sets these; the rest starts as zero. */
	const struct tap_context *context;
	const struct tap_thread_roles *roles;

	struct tap_table made; /* what calls make, by (process, call) */
};

struct tap_thread_comm {
	uint64_t comm_id;		 /* 0 unknown */
	const struct tap_member *member; /* of that, NULL unknown */
	enum tap_known known;		 /* valid if comm_id */
};

/* Notes that a call makes a communicator.  Returns 0 or -ENOMEM. */
int tap_thread_comms_take(struct tap_thread_comms *comms,
			  const struct tap_process *process,
			  const struct tap_event *event);

/* How many communicators the call makes that the thread was created for. */
uint64_t tap_thread_comms_count(const struct tap_thread_comms *comms,
				const struct tap_thread_entry *thread);

/* Threads that serve the whole process have none. */
struct tap_thread_comm tap_thread_comms_of(const struct tap_thread_comms *comms,
					   const struct tap_thread_entry *thread);

void tap_thread_comms_free(struct tap_thread_comms *comms);

#endif
