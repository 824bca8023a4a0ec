/* SPDX-License-Identifier: MIT */
/*
 * The connections that plans need: of an algorithm all of all channels at its first use,
 * and those to a peer at the first transfer (NCCL 2.28.9, enqueue.cc:2410-2450,
 * transport/generic.cc).
 */
#include "comm.h"
#include "work.h"

#include <errno.h>
#include <stdlib.h>

/* Ends that are not there yet; of one index. */
struct ends {
	struct mini_end *ends;
	size_t count;
	size_t room;
};

static int add(struct ncclComm *comm, struct ends *ends, struct mini_end end)
{
	struct mini_end *more;
	size_t i;

	if (end.peer < 0 || end.peer == comm->rank ||
	    mini_proxy_is_connected(&comm->proxy, &end))
		return 0;
	for (i = 0; i < ends->count; i++) {
		const struct mini_end *other = &ends->ends[i];

		if (other->peer == end.peer && other->channel == end.channel &&
		    other->index == end.index && other->is_send == end.is_send)
			return 0;
	}
	if (ends->count == ends->room) {
		ends->room = ends->room ? 2 * ends->room : 16;
		more = realloc(ends->ends, ends->room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		ends->ends = more;
	}
	ends->ends[ends->count++] = end;
	return 0;
}

static int add_ring(struct ncclComm *comm, struct ends *ends, int channel)
{
	const int *ring = comm->topology->ring;
	int err;

	err = add(comm, ends,
		  (struct mini_end){ring[comm->nranks - 1], channel, 0, false});
	if (!err)
		err = add(comm, ends, (struct mini_end){ring[1], channel, 0, true});
	return err;
}

static int add_tree(struct ncclComm *comm, struct ends *ends, int channel)
{
	const struct mini_tree *tree = mini_topology_tree(comm, channel);
	int direction;
	int err = 0;
	int i;

	for (direction = 0; direction < 2 && !err; direction++) {
		err = add(comm, ends, (struct mini_end){tree->up, channel, 0, direction});
		for (i = 0; i < MINI_TREE_ARITY && !err; i++)
			err = add(comm, ends,
				  (struct mini_end){tree->down[i], channel, 0,
						    direction});
	}
	return err;
}

static int add_peer(struct ncclComm *comm, struct ends *ends,
		    const struct mini_pair *pair, int direction)
{
	const struct mini_side *side = &pair->sides[direction];
	int part;
	int err = 0;

	for (part = 0; side->op && part < comm->topology->p2p_channels_per_peer && !err;
	     part++)
		err = add(comm, ends,
			  (struct mini_end){side->peer,
					    mini_topology_channel(comm, pair->base, part),
					    1, direction == MINI_SENDING});
	return err;
}

static int add_work(struct ncclComm *comm, struct ends *ends,
		    const struct mini_work *work)
{
	int channel;
	int err = 0;

	if (work->is_pair) {
		err = add_peer(comm, ends, &work->pair, MINI_RECEIVING);
		return err ? err : add_peer(comm, ends, &work->pair, MINI_SENDING);
	}
	for (channel = 0; channel < comm->channels && !err; channel++)
		err = work->coll.op->algorithm == MINI_TREE
			      ? add_tree(comm, ends, channel)
			      : add_ring(comm, ends, channel);
	return err;
}

static int missing(const struct mini_plan *plans, struct ends *ends)
{
	const struct mini_work *work;
	int err = 0;

	for (; plans && !err; plans = plans->next) {
		for (work = plans->works; work && !err; work = work->next)
			err = add_work(plans->comm, ends, work);
	}
	return err;
}

static bool needs_proxy(const struct mini_plan *plans)
{
	while (plans && plans->kind != MINI_BY_PROXY)
		plans = plans->next;
	return plans;
}

bool mini_plans_are_connected(const struct mini_plan *plans)
{
	struct ends ends = {.count = 0};
	int err = missing(plans, &ends);

	free(ends.ends);
	return !err && ends.count == 0 &&
	       (!needs_proxy(plans) || mini_proxy_has_progress(&plans->comm->proxy));
}

/* Rings first, all of them together, then trees (NCCL 2.21.5, init.cc:1290-1370). */
int mini_comm_connect_all(struct ncclComm *comm)
{
	int (*const ways[])(struct ncclComm *, struct ends *, int) = {add_ring, add_tree};
	int channel;
	int way;
	int err = 0;

	for (way = 0; way < 2 && !err && comm->nranks > 1; way++) {
		struct ends ends = {.count = 0};

		for (channel = 0; channel < comm->channels && !err; channel++)
			err = ways[way](comm, &ends, channel);
		if (!err)
			err = mini_proxy_connect(&comm->proxy, ends.ends,
						 (int) ends.count);
		free(ends.ends);
	}
	return err ? err : mini_proxy_need_progress(&comm->proxy);
}

int mini_plans_connect(struct mini_plan *plans)
{
	struct mini_proxy *proxy = &plans->comm->proxy;
	struct ends ends = {.count = 0};
	int err = missing(plans, &ends);

	if (!err)
		err = mini_proxy_connect(proxy, ends.ends, (int) ends.count);
	free(ends.ends);
	/* To itself a rank needs no connection, but the progress thread. */
	if (!err && !mini_proxy_has_progress(proxy))
		err = mini_proxy_need_progress(proxy);
	return err;
}
