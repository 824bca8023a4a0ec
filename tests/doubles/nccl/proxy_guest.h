/* SPDX-License-Identifier: MIT */
/*
 * Posting for another rank of the node, NCCL's PXN: what a rank sends to another node is
 * posted by the one beside the adapter, to which it is connected by NVLink.  That one,
 * the poster, makes the connection and has all memory: buffers, which the rank's device
 * fills, and an inbox, where the rank's proxy says what there is to do.
 *
 * Hides that memory and how it gets to the other rank (NCCL 2.28.9, proxy.cc:330-520,
 * transport/net.cc:840-900).
 */
#ifndef MINI_NCCL_PROXY_GUEST_H
#define MINI_NCCL_PROXY_GUEST_H

#include "proxy.h"
#include "proxy_op.h"
#include "shared_memory.h"

/* In an inbox. */
enum { MINI_ERRANDS = 2048 };

/* What there is to do for another rank. */
struct mini_errand {
	/* The connection, as the poster calls it. */
	uint64_t flow;
	struct mini_proxy_op op;
};

/* NCCL's ncclProxyOpsPool, and what wakes the progress thread for anything else. */
struct mini_inbox {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* A ring; both only grow. */
	uint64_t begin;
	uint64_t end;
	struct mini_errand errands[MINI_ERRANDS];
};

/* A rank that posts for this one; what of it is open is not zero. */
struct mini_poster {
	struct mini_poster *next;
	/* In the top parent. */
	int rank;
	struct mini_caller caller;
	struct mini_shared inbox;
	struct mini_shared memory;
	struct mini_pool pool;
};

/* A rank that this one posts for. */
struct mini_guest {
	struct mini_guest *next;
	int rank;
	struct mini_shared memory;
	struct mini_pool pool;
	struct mini_link *links;
};

/* What a poster answers once a connection is there, behind what NCCL says first. */
struct mini_posted {
	uint64_t flow;
	struct mini_shared_handle inbox;
	struct mini_shared_handle pool;
	struct mini_shared_handle front;
};

/* With its lock; `changed` and the lock are for all processes.  0 or -errno. */
int mini_inbox_make(struct mini_proxy_state *state);

/* Who posts for this one, with a socket to its service thread.  NULL without memory. */
struct mini_poster *mini_poster_of(struct mini_proxy_state *state, int rank);
/* Adds the connection that the poster has made.  0 or -errno. */
int mini_poster_connect(struct mini_proxy_state *state, struct mini_poster *poster,
			const struct mini_end *end, const struct mini_posted *posted);
/* Says that nothing more comes; of what was aborted also that nothing is wanted. */
void mini_posters_leave(struct mini_proxy_state *state, bool is_aborted);

/* On the service thread, for another rank: takes the connection.  0 or -errno. */
int mini_guest_connect(struct mini_proxy_state *state, int rank, struct mini_link *link,
		       struct mini_posted *ret_posted);

/* Gives what of a plan others post to those.  Waits while their inboxes are full. */
void mini_errands_put(struct mini_plan *plan, struct mini_actives *actives);
/* Takes all that others want posted.  0 or -errno. */
int mini_errands_take(struct mini_proxy_state *state, struct mini_actives *actives);
/* Called with the lock held. */
static inline bool mini_errands_are_there(const struct mini_proxy_state *state)
{
	return state->inbox->begin != state->inbox->end;
}

/* Closes all of it, when no thread is left. */
void mini_guests_close(struct mini_proxy_state *state);

#endif
