/* SPDX-License-Identifier: MIT */
/*
 * The communicators of the process: which one a handle stands for, the key that all of
 * its ranks share, and what has become of it.
 *
 * It hides that NCCL frees handles and gives their addresses out again: a communicator
 * has a number of its own, used once.  A handle that was never seen made (a library that
 * we cannot see into) is a communicator too, with key 0, whose operations nobody else
 * can agree on.  What is known here is kept whether anybody records or not.
 */
#ifndef TAP_INTERCEPT_NCCL_COMM_H
#define TAP_INTERCEPT_NCCL_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/nccl_types.h"
#include "common/compiler.h"
#include "common/thread.h"
#include "tracepoints/events.h"

/* How many sends to, or receives from, one rank. */
struct tap_peer {
	uint64_t count;
	uint64_t before;   /* count when group_id began */
	uint64_t group_id; /* the last group that counted here */
};

/* Sends, then receives, one of each for every rank. */
struct tap_peers {
	int32_t nr; /* ranks */
	struct tap_peer of[];
};

/* What is asked of the library that made a communicator; NULL: it cannot say. */
struct tap_comm_questions {
	ncclResult_t (*count)(ncclComm_t, int *), (*user_rank)(ncclComm_t, int *),
		(*cu_device)(ncclComm_t, int *), (*state)(ncclComm_t, ncclResult_t *);
};

/*
 * Its memory, and that of its peers, is never given back, so a pointer to one may be kept
 * and read without a lock: handle tells whether it still is the one that was meant.
 */
struct tap_comm {
	ncclComm_t handle; /* nobody's once it is gone */
	uint32_t id;	   /* never used again */
	/* Counted by the hot path alone. */
	uint64_t collectives;
	/* Of group.c: the group that it has operations in, 0 none, and what it has there.
	 */
	uint64_t group_id;
	uint64_t group_first, group_p2p;
	/* Calls and groups that did not count: who sees it unchanged knows that all did.
	 */
	uint32_t not_counted;
	struct tap_comm *group_next;
	struct tap_peers *peers; /* NULL until nranks is known */

	uintptr_t copy; /* of the library that made it, as its load address; 0 unknown */
	/*
	 * Written and told under the lock of comm.c.  Without it only its key may be
	 * read, which does not change, and its life (tap_comm_phase()).
	 */
	struct tap_comm_state about;

	/* Of comm.c alone, under its lock but for nr_pending. */
	uint32_t nr_splits, nr_grows;
	uint32_t nr_pending; /* children that have no handle yet */
	ncclComm_t *newcomm; /* where its handle will be, NULL once it is known */
	uint64_t grow_key;   /* of the identifier that newcomers were given, 0 none */
	struct tap_comm_questions questions;
	struct tap_peers *mapped; /* what peers leads to, or led to in an earlier use */
	int32_t mapped_for;	  /* ranks that it has room for */
	struct tap_nccl_config config;
	char net_name[32], comm_name[128];
	struct tap_comm *hash_next, *next;
};

/* tap_no_comm (thread.h) is what operations on none, or on too many at once, count on. */

static inline bool tap_comm_is(const struct tap_comm *c, ncclComm_t handle)
{
	return __atomic_load_n(&c->handle, __ATOMIC_RELAXED) == handle;
}

/* One more collective; others read the number meanwhile. */
static inline void tap_comm_count(struct tap_comm *c)
{
	__atomic_store_n(&c->collectives, c->collectives + 1, __ATOMIC_RELAXED);
}

static inline enum tap_comm_phase tap_comm_phase(const struct tap_comm *c)
{
	return __atomic_load_n(&c->about.phase, __ATOMIC_RELAXED);
}

/* Whether handles of its children may have come. */
static inline bool tap_comm_has_pending(const struct tap_comm *c)
{
	return __atomic_load_n(&c->nr_pending, __ATOMIC_RELAXED) != 0;
}

/* Never NULL; tap_no_comm when handle is NULL or there is no memory. */
struct tap_comm *tap_comm_of(ncclComm_t handle) tap_hidden;

/* The same, but tap_no_comm also when it was not known before. */
struct tap_comm *tap_comm_known(ncclComm_t handle) tap_hidden;

/* What a creating call was asked for.  The rest of about is found out. */
struct tap_comm_made {
	enum tap_comm_origin origin;
	ncclComm_t handle;    /* NULL: it will come, or never */
	ncclComm_t parent;    /* NULL: none */
	uint64_t hash;	      /* of the identifier, or of a list of ranks */
	int nranks, rank;     /* -1: not said */
	int color, split_key; /* of a split, else -1, 0 */
	const void *config;   /* ncclConfig_t, or NULL */
	const void *library;  /* the function that made it */
	bool is_ready;	      /* the call has done all there is to do */
	uint64_t call_id;     /* 0: not recorded */
};

/*
 * A communicator is made.  A handle that has not come will be where newcomm points to:
 * NCCL may write it only when the group ends, or when the parent is ready again.
 */
struct tap_comm *tap_comm_made(ncclComm_t *newcomm,
			       const struct tap_comm_made *made) tap_hidden;

/*
 * Looks whether the handle has come: in the call that made it, or, of all children of a
 * parent, before the program can know that the parent is ready.  is_last: it comes now or
 * never, and then the communicator is gone.  Nothing is read later.
 */
bool tap_comm_find_handle(struct tap_comm *c, bool is_last) tap_hidden;
void tap_comm_find_children(struct tap_comm *parent, uint64_t call_id) tap_hidden;

/* Newcomers to the communicator are given the identifier with this hash. */
void tap_comm_set_grow_key(struct tap_comm *c, uint64_t hash) tap_hidden;

/* The parent was split, also by a rank that has no part in the new communicator. */
void tap_comm_was_split(struct tap_comm *parent) tap_hidden;

/*
 * NCCL has done what it was asked to: what it did not say before is asked, unless it is
 * still at it.  Only a state tells that of one that does not block.
 */
void tap_comm_ready(struct tap_comm *c, uint64_t call_id) tap_hidden;

void tap_comm_set_phase(struct tap_comm *c, enum tap_comm_phase phase,
			uint64_t call_id) tap_hidden;

/* The first error counts: whether it was this one. */
bool tap_comm_set_error(struct tap_comm *c, int error, uint64_t call_id) tap_hidden;

/*
 * The handle may be given out again any moment: to be called before what frees it, and
 * tap_comm_freed() after.  Between them the handle is unknown.
 */
struct tap_comm *tap_comm_freeing(ncclComm_t handle) tap_hidden;
void tap_comm_freed(struct tap_comm *c, ncclComm_t handle, bool is_freed,
		    enum tap_comm_phase phase, uint64_t call_id) tap_hidden;

/* The counts of one rank: sends to it, or receives from it; NULL when there is none. */
static inline struct tap_peer *tap_comm_peer(struct tap_comm *c, int peer, bool is_recv)
{
	struct tap_peers *peers = __atomic_load_n(&c->peers, __ATOMIC_ACQUIRE);
	const int32_t nr = peers ? __atomic_load_n(&peers->nr, __ATOMIC_RELAXED) : 0;

	if (unlikely(peer < 0 || peer >= nr))
		return NULL;
	return &peers->of[peer + (is_recv ? nr : 0)];
}

#endif
