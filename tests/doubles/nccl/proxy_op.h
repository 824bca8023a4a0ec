/* SPDX-License-Identifier: MIT */
/*
 * The proxy's half of a plan: what it has to send or to receive of an operation on one
 * connection, step by step and slice by slice (NCCL 2.28.9, transport/net.cc:1222-1620).
 *
 * Hides when messages are posted, which of them share a receive, and in which order what
 * is to be sent on a connection takes its turns.
 */
#ifndef MINI_NCCL_PROXY_OP_H
#define MINI_NCCL_PROXY_OP_H

#include "flow.h"

/* Of whom an operation is, in values: whoever posts may know nothing else of it. */
struct mini_whose {
	/* NULL: of a rank of another process, or of another communicator of this one. */
	const struct ncclComm *comm;
	uint64_t comm_hash;
	int rank;
	/* Who posts, in the same communicator. */
	int proxy_rank;
	/* The tag of its messages: the rank in the top parent. */
	int tag;
	/* Which call of the rank, and its name. */
	uint64_t op;
	char name[24];
	/* Bytes of a step of a pool. */
	size_t pool_step;
};

struct mini_proxy_op {
	struct mini_whose whose;
	struct mini_flow *flow;
	/* As its communicator counts. */
	int peer;
	int channel;
	/* Point to point, those with the same number on a channel stand together. */
	uint64_t number;
	enum mini_protocol protocol;
	int steps;
	int slice_steps;
	int chunk_steps;
	/* The most that a message has. */
	size_t bytes;

	/* The first step on the connection, and how many of the own ones are so far. */
	int64_t base;
	int posted;
	int received;
	int transmitted;
	int done;
	/* How many share receives with this one. */
	int group;
	struct mini_net_request *requests[MINI_STEPS];
	/* Since when what comes next is wanted, and what is under way was. */
	uint64_t wanted_ns;
	uint64_t wanted[MINI_STEPS];
	struct mini_proxy_profile profile;
};

/* Which there are, in the order in which they are begun.  0 or -errno. */
int mini_proxy_ops_create(struct mini_plan *plan);
/* Those whose turn it is on their lines; zeros at first. */
struct mini_actives {
	struct mini_proxy_batch *first;
	/* Of other ranks, that are not over. */
	size_t guests;
	/* Whether those are to be given up. */
	const atomic_bool *is_aborted;
	/* Where MININCCL_ORDER draws with which to begin. */
	uint64_t order;
	/* How many it was ever given. */
	int added;
};

/* Gives a plan's proxy operations their places in the lines.  0 or -errno. */
int mini_proxy_ops_begin(struct mini_actives *actives, struct mini_plan *plan);
/*
 * Goes on with all whose turn it is.  Where all of a plan are over, and where one has
 * failed, `tell` is called; of another rank's, that failed, with no plan.  Returns a
 * communicator that is aborted, whose have to be dropped, or NULL.
 */
struct ncclComm *mini_proxy_ops_step(struct mini_actives *actives, bool *moved,
				     void (*tell)(void *argument, struct mini_plan *plan,
						  int err),
				     void *argument);
/* Gives what another rank wants posted a place; takes it, unless it is -errno. */
int mini_proxy_ops_add_guest(struct mini_actives *actives, struct mini_proxy_op *op);
/* Takes all of a communicator out of the lines, and calls `tell` likewise. */
void mini_proxy_ops_drop(struct mini_actives *actives, const struct ncclComm *comm,
			 void (*tell)(void *argument, struct mini_plan *plan, int err),
			 void *argument);
/* Whether there is a message to ask for, now that the kernels do nothing. */
bool mini_proxy_ops_are_busy(const struct mini_actives *actives);

#endif
