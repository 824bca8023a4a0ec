/* SPDX-License-Identifier: MIT */
/*
 * The communicators of the process: which one a handle means, the key that all its ranks
 * share, and its phase.
 *
 * It hides that NCCL frees handles and reuses their addresses: a communicator has a
 * number of its own, used once.  A handle whose creation the tracer did not see (in a
 * library whose calls it cannot wrap) is a communicator too, with key 0, whose operations
 * no other rank can match.  The module keeps its data whether a session records or not.
 */
#ifndef TAP_INTERCEPT_NCCL_COMM_H
#define TAP_INTERCEPT_NCCL_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/nccl_types.h"
#include "common/compiler.h"
#include "common/thread.h"
#include "intercept/metrics.h"
#include "tracepoints/events.h"

/* The number of sends to one rank, or of receives from it. */
struct tap_peer {
	uint64_t count;
	uint64_t before;   /* count when group_id began */
	uint64_t group_id; /* the last group with an operation counted here */
};

/* Sends to each rank, then receives from each rank. */
struct tap_peers {
	int32_t nr; /* ranks */
	struct tap_peer of[];
};

/* Query functions of the library that made a communicator; NULL: the library lacks it. */
struct tap_comm_questions {
	ncclResult_t (*count)(ncclComm_t, int *), (*user_rank)(ncclComm_t, int *),
		(*cu_device)(ncclComm_t, int *), (*state)(ncclComm_t, ncclResult_t *);
};

/*
 * The memory of a communicator and of its peers is never freed, so a pointer may be kept
 * and read without a lock: `handle` shows whether it still is the same communicator.
 */
struct tap_comm {
	ncclComm_t handle; /* no communicator's handle once this one is gone */
	uint32_t id;	   /* never reused */
	/* Collectives so far; only the hot path counts them. */
	uint64_t collectives;
	/* Its counters for --metrics, NULL: none of its own.  Stays when c is used again. */
	struct tap_metrics_comm *counts;
	/* Of group.c: the open group with operations on it, 0 none, and their numbers. */
	uint64_t group_id;
	uint64_t group_first, group_p2p;
	/* Calls and groups that did not count; unchanged: all did since. */
	uint32_t not_counted;
	struct tap_comm *group_next;
	struct tap_peers *peers; /* NULL while nranks is unknown */

	uintptr_t copy; /* load address of the library that made it; 0 unknown */
	/*
	 * Written, and emitted in events, under the lock of comm.c.  Without the lock
	 * only the key, which does not change, and the phase (tap_comm_phase()) may be
	 * read.
	 */
	struct tap_comm_state about;

	/* Used by comm.c alone, under its lock except nr_pending. */
	uint32_t nr_splits, nr_grows;
	uint32_t nr_pending; /* children without a handle so far */
	ncclComm_t *newcomm; /* where NCCL will write the handle, NULL once it is known */
	uint64_t grow_key;   /* hash of the identifier given to new ranks, 0 none */
	struct tap_comm_questions questions;
	struct tap_peers *mapped; /* memory of peers, kept for the next use */
	int32_t mapped_for;	  /* ranks that mapped has room for */
	struct tap_nccl_config config;
	char net_name[32], comm_name[128];
	struct tap_comm *hash_next, *next;
};

/* tap_no_comm (thread.h) counts operations on no communicator, or on too many at once. */

static inline bool tap_comm_is(const struct tap_comm *c, ncclComm_t handle)
{
	return __atomic_load_n(&c->handle, __ATOMIC_RELAXED) == handle;
}

/* Counts a collective; other threads may read the number meanwhile. */
static inline void tap_comm_count(struct tap_comm *c)
{
	__atomic_store_n(&c->collectives, c->collectives + 1, __ATOMIC_RELAXED);
}

static inline enum tap_comm_phase tap_comm_phase(const struct tap_comm *c)
{
	return __atomic_load_n(&c->about.phase, __ATOMIC_RELAXED);
}

/* Whether NCCL may have written handles of c's children. */
static inline bool tap_comm_has_pending(const struct tap_comm *c)
{
	return __atomic_load_n(&c->nr_pending, __ATOMIC_RELAXED) != 0;
}

/* Never NULL; tap_no_comm when handle is NULL or there is no memory. */
struct tap_comm *tap_comm_of(ncclComm_t handle) tap_hidden;

/* The same, but tap_no_comm also when the handle was unknown before. */
struct tap_comm *tap_comm_known(ncclComm_t handle) tap_hidden;

/* The arguments of a creating call.  comm.c queries the rest of tap_comm.about. */
struct tap_comm_made {
	enum tap_comm_origin origin;
	ncclComm_t handle;    /* NULL: NCCL has not written it */
	ncclComm_t parent;    /* NULL: none */
	uint64_t hash;	      /* hash of the identifier, or of a list of ranks */
	int nranks, rank;     /* -1: not given */
	int color, split_key; /* of a split, else -1, 0 */
	const void *config;   /* ncclConfig_t, or NULL */
	const void *library;  /* the function that made it */
	bool is_ready;	      /* the creation has finished when the call returns */
	uint64_t call_id;     /* 0: not recorded */
};

/*
 * Adds a communicator that a call has made.  NCCL writes a missing handle to *newcomm
 * later: when the group ends, or when the parent is ready again.
 */
struct tap_comm *tap_comm_made(ncclComm_t *newcomm,
			       const struct tap_comm_made *made) tap_hidden;

/*
 * Reads the handle of c if NCCL has written it: in the call that makes c, or, for all
 * children of a parent, before the program can know that the parent is ready.  is_last: a
 * handle that is missing now never comes, and c is gone.  newcomm is not read later.
 */
bool tap_comm_find_handle(struct tap_comm *c, bool is_last) tap_hidden;
void tap_comm_find_children(struct tap_comm *parent, uint64_t call_id) tap_hidden;

/* New ranks join the communicator with the identifier that has this hash. */
void tap_comm_set_grow_key(struct tap_comm *c, uint64_t hash) tap_hidden;

/* Counts a split of the parent, also in a rank that is not in the new communicator. */
void tap_comm_was_split(struct tap_comm *parent) tap_hidden;

/* Reports that this call, the end of a group, has NCCL go on with the creation of c. */
void tap_comm_goes_on(struct tap_comm *c, uint64_t call_id) tap_hidden;

/*
 * Marks c as ready when NCCL has finished creating it, and queries what was unknown
 * before.  A non-blocking communicator must report through its state that it has
 * finished.
 */
void tap_comm_ready(struct tap_comm *c, uint64_t call_id) tap_hidden;

void tap_comm_set_phase(struct tap_comm *c, enum tap_comm_phase phase,
			uint64_t call_id) tap_hidden;

/* Keeps the first error of c; returns whether this call set it. */
bool tap_comm_set_error(struct tap_comm *c, int error, uint64_t call_id) tap_hidden;

/*
 * NCCL may reuse the handle at any moment: tap_comm_freeing() is called before the call
 * that frees it, and tap_comm_freed() after.  Between the two the handle is unknown.
 */
struct tap_comm *tap_comm_freeing(ncclComm_t handle) tap_hidden;
void tap_comm_freed(struct tap_comm *c, ncclComm_t handle, bool is_freed,
		    enum tap_comm_phase phase, uint64_t call_id) tap_hidden;

/*
 * The counts for one rank: sends to it, or receives from it; NULL when they are unknown.
 */
static inline struct tap_peer *tap_comm_peer(struct tap_comm *c, int peer, bool is_recv)
{
	struct tap_peers *peers = __atomic_load_n(&c->peers, __ATOMIC_ACQUIRE);
	const int32_t nr = peers ? __atomic_load_n(&peers->nr, __ATOMIC_RELAXED) : 0;

	if (unlikely(peer < 0 || peer >= nr))
		return NULL;
	return &peers->of[peer + (is_recv ? nr : 0)];
}

#endif
