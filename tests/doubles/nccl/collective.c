/* SPDX-License-Identifier: MIT */
/*
 * Which primitives a collective is on one channel: rings, and trees for all-reduce
 * (NCCL 2.28.9, device/all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h and
 * reduce.h).
 */
#include "comm.h"
#include "reduce.h"
#include "strand.h"

#include <errno.h>
#include <stdlib.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static const char *source_at(const struct mini_strand *strand, size_t element)
{
	return (const char *) strand->op->send + element * strand->type_size;
}

static char *target_at(const struct mini_strand *strand, size_t element)
{
	return (char *) strand->op->recv + element * strand->type_size;
}

/* Elements of one rank's part where a buffer has those of all. */
static size_t block_of(const struct mini_strand *strand)
{
	return strand->op->count * mini_type_size(strand->op->type) / strand->type_size;
}

/* Where a chunk of the number-th loop lies, and how much it has; false at the end. */
static bool find_chunk(const struct mini_strand *strand, size_t number, size_t which,
		       size_t *ret_at, struct mini_primitive *p)
{
	struct mini_loop loop;

	if (!mini_coll_loop(strand->comm, strand->coll, strand->channel, number, &loop))
		return false;
	/* One that has nothing may lie behind all. */
	*ret_at = smaller(loop.begin + which * loop.stride, loop.end);
	p->count = smaller(loop.chunk, loop.end - *ret_at);
	return true;
}

/* A loop of an all-reduce has a chunk for each rank. */
static bool plan_ring_all_reduce(const struct mini_strand *strand, size_t number,
				 struct mini_primitive *p)
{
	size_t n = (size_t) strand->comm->nranks;
	size_t own = (size_t) strand->comm->topology->ring_index;
	size_t per_loop = 2 * n - 1;
	size_t j = number % per_loop;
	/* The own chunk is complete half way round. */
	size_t which = (j < n ? own + n - 1 - j : own + 2 * n - 1 - j) % n;
	size_t at;

	if (!find_chunk(strand, number / per_loop, which, &at, p))
		return false;
	p->receives = j > 0;
	p->sends = j < per_loop - 1;
	p->is_last = j == n - 1;
	if (j < n)
		p->source = source_at(strand, at);
	if (j >= n - 1)
		p->target = target_at(strand, at);
	return true;
}

static bool plan_ring_all_gather(const struct mini_strand *strand, size_t number,
				 struct mini_primitive *p)
{
	size_t n = (size_t) strand->comm->nranks;
	size_t j = number % n;
	size_t rank = (size_t) strand->comm->topology->ring[(n - j) % n];
	size_t offset;

	if (!find_chunk(strand, number / n, 0, &offset, p))
		return false;
	p->receives = j > 0;
	p->sends = j < n - 1;
	if (j == 0)
		p->source = source_at(strand, offset);
	p->target = target_at(strand, rank * block_of(strand) + offset);
	return true;
}

static bool plan_ring_reduce_scatter(const struct mini_strand *strand, size_t number,
				     struct mini_primitive *p)
{
	size_t n = (size_t) strand->comm->nranks;
	size_t j = number % n;
	size_t rank = (size_t) strand->comm->topology->ring[n - 1 - j];
	size_t offset;

	if (!find_chunk(strand, number / n, 0, &offset, p))
		return false;
	p->receives = j > 0;
	p->sends = j < n - 1;
	p->is_last = j == n - 1;
	p->source = source_at(strand, rank * block_of(strand) + offset);
	if (p->is_last)
		p->target = target_at(strand, offset);
	return true;
}

/* One chunk after another, each at one place in both buffers. */
static bool plan_chunk(const struct mini_strand *strand, size_t number,
		       struct mini_primitive *p)
{
	size_t offset;

	if (!find_chunk(strand, number, 0, &offset, p))
		return false;
	p->source = source_at(strand, offset);
	p->target = target_at(strand, offset);
	return true;
}

/* From the root along the ring, to the rank before it. */
static bool plan_ring_broadcast(const struct mini_strand *strand, size_t number,
				struct mini_primitive *p)
{
	int root = strand->op->root;

	if (!plan_chunk(strand, number, p))
		return false;
	p->receives = strand->comm->rank != root;
	p->sends = strand->comm->topology->ring[1] != root;
	if (p->receives)
		p->source = NULL;
	return true;
}

/* From the rank after the root along the ring, to the root. */
static bool plan_ring_reduce(const struct mini_strand *strand, size_t number,
			     struct mini_primitive *p)
{
	const struct ncclComm *comm = strand->comm;
	int root = strand->op->root;

	if (!plan_chunk(strand, number, p))
		return false;
	p->receives = comm->topology->ring[comm->nranks - 1] != root;
	p->sends = comm->rank != root;
	p->is_last = !p->sends;
	if (p->sends)
		p->target = NULL;
	return true;
}

static bool plan_tree_root(const struct mini_strand *strand, size_t number,
			   struct mini_primitive *p)
{
	p->receives = true;
	p->sends = true;
	p->is_last = true;
	return plan_chunk(strand, number, p);
}

static bool plan_tree_up(const struct mini_strand *strand, size_t number,
			 struct mini_primitive *p)
{
	bool is_there = plan_chunk(strand, number, p);

	p->receives = strand->from_count > 0;
	p->sends = true;
	p->target = NULL;
	return is_there;
}

static bool plan_tree_down(const struct mini_strand *strand, size_t number,
			   struct mini_primitive *p)
{
	bool is_there = plan_chunk(strand, number, p);

	p->receives = true;
	p->sends = strand->to_count > 0;
	p->source = NULL;
	return is_there;
}

static struct mini_strand *create(struct ncclComm *comm, const struct mini_coll *coll,
				  int channel, struct mini_strand **strands)
{
	struct mini_strand *strand = calloc(1, sizeof(*strand));
	const struct mini_op *op = coll->op;
	size_t step = mini_protocol_buffer(op->protocol) / MINI_STEPS;

	if (!strand)
		return NULL;
	strand->comm = comm;
	strand->op = op;
	strand->type = coll->type;
	strand->type_size = mini_type_size(coll->type);
	strand->protocol = op->protocol;
	strand->slice_steps = mini_slice_steps(op);
	strand->slices = mini_chunk_steps(op) / strand->slice_steps;
	strand->slice_room = step / strand->type_size * (size_t) strand->slice_steps;
	strand->coll = coll;
	strand->channel = channel;
	strand->next = *strands;
	*strands = strand;
	return strand;
}

static int add_from(struct mini_strand *strand, int peer, int channel)
{
	if (peer < 0)
		return 0;
	return mini_strand_flow(strand->comm, peer, channel, 0, false,
				&strand->froms[strand->from_count++]);
}

static int add_to(struct mini_strand *strand, int peer, int channel)
{
	if (peer < 0)
		return 0;
	return mini_strand_flow(strand->comm, peer, channel, 0, true,
				&strand->tos[strand->to_count++]);
}

static int ring_strand(struct ncclComm *comm, const struct mini_coll *coll, int channel,
		       struct mini_strand **strands)
{
	static bool (*const plans[])(const struct mini_strand *, size_t,
				     struct mini_primitive *) = {
		[MINI_BROADCAST] = plan_ring_broadcast,
		[MINI_REDUCE] = plan_ring_reduce,
		[MINI_ALL_GATHER] = plan_ring_all_gather,
		[MINI_REDUCE_SCATTER] = plan_ring_reduce_scatter,
		[MINI_ALL_REDUCE] = plan_ring_all_reduce,
	};
	const struct mini_topology *topology = comm->topology;
	struct mini_strand *strand = create(comm, coll, channel, strands);
	int err;

	if (!strand)
		return -ENOMEM;
	strand->plan = plans[coll->op->function];
	err = add_from(strand, topology->ring[comm->nranks - 1], channel);
	if (!err)
		err = add_to(strand, topology->ring[1], channel);
	return err ? err : mini_strand_begin(strand);
}

/* Besides the root's, one goes up and another one down at the same time. */
static int tree_strand(struct ncclComm *comm, const struct mini_coll *coll, int channel,
		       struct mini_strand **strands, bool is_up)
{
	const struct mini_tree *tree = mini_topology_tree(comm, channel);
	struct mini_strand *strand = create(comm, coll, channel, strands);
	bool is_root = tree->up < 0;
	int err = 0;
	int i;

	if (!strand)
		return -ENOMEM;
	strand->plan = is_up ? plan_tree_up : plan_tree_down;
	if (is_root)
		strand->plan = plan_tree_root;
	for (i = 0; i < MINI_TREE_ARITY && !err; i++) {
		if (is_up || is_root)
			err = add_from(strand, tree->down[i], channel);
		if (!err && (!is_up || is_root))
			err = add_to(strand, tree->down[i], channel);
	}
	if (!err)
		err = is_up ? add_to(strand, tree->up, channel)
			    : add_from(strand, tree->up, channel);
	return err ? err : mini_strand_begin(strand);
}

int mini_collective_strands(struct ncclComm *comm, const struct mini_coll *coll,
			    int channel, struct mini_strand **strands)
{
	bool is_root = mini_topology_tree(comm, channel)->up < 0;
	int err;

	if (coll->op->algorithm == MINI_RING)
		return ring_strand(comm, coll, channel, strands);
	err = tree_strand(comm, coll, channel, strands, true);
	return err || is_root ? err : tree_strand(comm, coll, channel, strands, false);
}
