/* SPDX-License-Identifier: MIT */
/*
 * Which connections have something to do for a plan, in NCCL's order: collectives as they
 * follow each other, then batches of transfers, channel by channel
 * (NCCL 2.28.9, enqueue.cc:205-265, proxy.cc:515-650).
 */
#include "comm.h"
#include "proxy_op.h"
#include "work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct mini_whose whose(const struct ncclComm *comm, const struct mini_op *op)
{
	struct mini_whose whose = {
		.comm = comm,
		.comm_hash = comm->hash,
		.rank = comm->rank,
		.proxy_rank = comm->rank,
		.tag = mini_proxy_rank(&comm->proxy),
		.op = op->ordinal,
		.pool_step = comm->topology->p2p_step,
	};

	snprintf(whose.name, sizeof(whose.name), "%s", op->name);
	return whose;
}

/* What all connections of an operation have in common on a channel. */
static void add(struct mini_plan *plan, const struct mini_proxy_op *common, int peer,
		int index, bool is_send, int *err)
{
	struct mini_end end = {peer, common->channel, index, is_send};
	struct mini_proxy_op *op;

	if (peer < 0 || *err || common->steps == 0)
		return;
	op = &plan->proxy_ops[plan->proxy_op_count];
	*op = *common;
	op->peer = peer;
	op->flow = mini_proxy_flow(&plan->comm->proxy, &end);
	if (!op->flow || op->flow->is_broken)
		*err = -EIO;
	else
		plan->proxy_op_count += !op->flow->is_direct;
}

static int add_tree(struct mini_plan *plan, const struct mini_proxy_op *common)
{
	const struct mini_tree *tree = mini_topology_tree(plan->comm, common->channel);
	int err = 0;
	int i;

	for (i = 0; i < MINI_TREE_ARITY; i++)
		add(plan, common, tree->down[i], 0, false, &err);
	add(plan, common, tree->up, 0, true, &err);
	for (i = 0; i < MINI_TREE_ARITY; i++)
		add(plan, common, tree->down[i], 0, true, &err);
	add(plan, common, tree->up, 0, false, &err);
	return err;
}

/* Of a chain, where one rank only sends and one only receives. */
static int add_ring(struct mini_plan *plan, const struct mini_proxy_op *common,
		    const struct mini_op *op)
{
	const int *ring = plan->comm->topology->ring;
	int previous = ring[plan->comm->nranks - 1];
	int next = ring[1];
	int root = op->root;
	bool receives = true;
	bool sends = true;
	int err = 0;

	if (op->function == MINI_BROADCAST) {
		receives = root != ring[0];
		sends = root != next;
	} else if (op->function == MINI_REDUCE) {
		receives = root != previous;
		sends = root != ring[0];
	}
	if (receives)
		add(plan, common, previous, 0, false, &err);
	if (sends)
		add(plan, common, next, 0, true, &err);
	return err;
}

static int add_collective(struct mini_plan *plan, const struct mini_part *part)
{
	const struct mini_coll *coll = &part->work->coll;
	const struct mini_op *op = coll->op;
	size_t step = mini_protocol_buffer(op->protocol) / MINI_STEPS;
	struct mini_proxy_op common = {
		.whose = whose(plan->comm, op),
		.channel = part->channel,
		.protocol = op->protocol,
		.steps = mini_coll_steps(plan->comm, coll, part->channel),
		.slice_steps = mini_slice_steps(op),
		.chunk_steps = mini_chunk_steps(op),
		.bytes = step * (size_t) mini_slice_steps(op),
		.group = 1,
	};
	size_t begin;
	size_t count;
	size_t chunk;

	mini_coll_part(coll, part->channel, &begin, &count, &chunk);
	MINI_PROFILE(op(&common.profile, plan->comm, op, chunk));
	return op->algorithm == MINI_TREE ? add_tree(plan, &common)
					  : add_ring(plan, &common, op);
}

static int add_transfers(struct mini_plan *plan, const struct mini_part *part)
{
	const struct mini_pair *pair = &part->work->pair;
	const struct ncclComm *comm = plan->comm;
	int number = mini_topology_part(comm, pair->base, part->channel);
	int direction;
	int err = 0;

	for (direction = 0; direction < MINI_DIRECTIONS && !err; direction++) {
		const struct mini_side *side = &pair->sides[direction];
		struct mini_share share = mini_side_share(side, number);
		size_t bytes = share.end - share.begin;
		struct mini_proxy_op common = {
			.channel = part->channel,
			.number = part->batch,
			.protocol = share.protocol,
			.steps = 1,
			.slice_steps = 1,
			.chunk_steps = 1,
			.group = 1,
		};

		if (!side->op || side->peer == comm->rank || number >= side->channels)
			continue;
		common.whose = whose(comm, side->op);
		if (side->bytes > 0)
			common.steps = (int) ((bytes + share.chunk - 1) / share.chunk);
		common.bytes =
			mini_protocol_wire(share.protocol,
					   bytes < share.chunk ? bytes : share.chunk);
		MINI_PROFILE(op(&common.profile, comm, side->op,
				share.chunk * (share.protocol == MINI_LL ? 2 : 1)));
		add(plan, &common, side->peer, 1, direction == MINI_SENDING, &err);
	}
	return err;
}

/* Batches of all channels in turn; what is of one stays in its order. */
static int compare(const void *a, const void *b)
{
	const struct mini_part *const *left = a;
	const struct mini_part *const *right = b;

	if ((*left)->work->is_pair != (*right)->work->is_pair)
		return (*left)->work->is_pair - (*right)->work->is_pair;
	if ((*left)->work->is_pair && (*left)->batch != (*right)->batch)
		return (*left)->batch < (*right)->batch ? -1 : 1;
	if ((*left)->work->is_pair && (*left)->channel != (*right)->channel)
		return (*left)->channel - (*right)->channel;
	return *left < *right ? -1 : *left > *right;
}

int mini_proxy_ops_create(struct mini_plan *plan)
{
	const struct mini_part **parts = calloc(plan->part_count + 1, sizeof(*parts));
	size_t most = plan->part_count * (2 * MINI_TREE_ARITY + 2);
	size_t i;
	int err = 0;

	plan->proxy_ops = calloc(most + 1, sizeof(*plan->proxy_ops));
	if (!parts || !plan->proxy_ops)
		err = -ENOMEM;
	for (i = 0; i < plan->part_count && !err; i++)
		parts[i] = &plan->parts[i];
	if (!err)
		qsort(parts, plan->part_count, sizeof(*parts), compare);
	for (i = 0; i < plan->part_count && !err; i++)
		err = parts[i]->work->is_pair ? add_transfers(plan, parts[i])
					      : add_collective(plan, parts[i]);
	free(parts);
	return err;
}
