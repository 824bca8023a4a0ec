/* SPDX-License-Identifier: MIT */
/* Which primitives a send and a receive are (NCCL 2.28.9, device/sendrecv.h). */
#include "comm.h"
#include "strand.h"

#include <errno.h>
#include <stdlib.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A transfer of nothing is one message. */
static bool find_chunk(const struct mini_strand *strand, size_t number, size_t *ret_at,
		       size_t *ret_count)
{
	size_t offset = number * strand->chunk;

	if (number > 0 && offset >= strand->count)
		return false;
	*ret_at = strand->begin + offset;
	*ret_count = smaller(strand->chunk, strand->count - offset);
	return true;
}

static bool plan_send(const struct mini_strand *strand, size_t number,
		      struct mini_primitive *p)
{
	size_t at;

	p->sends = true;
	if (!find_chunk(strand, number, &at, &p->count))
		return false;
	p->source = (const char *) strand->op->send + at;
	return true;
}

static bool plan_receive(const struct mini_strand *strand, size_t number,
			 struct mini_primitive *p)
{
	size_t at;

	p->receives = true;
	if (!find_chunk(strand, number, &at, &p->count))
		return false;
	p->target = (char *) strand->op->recv + at;
	return true;
}

static int add_side(struct ncclComm *comm, const struct mini_side *side, int channel,
		    int part, bool is_send, struct mini_strand **strands)
{
	struct mini_strand *strand = calloc(1, sizeof(*strand));
	struct mini_share share = mini_side_share(side, part);
	int err;

	if (!strand)
		return -ENOMEM;
	strand->next = *strands;
	*strands = strand;
	strand->comm = comm;
	strand->op = side->op;
	strand->type = ncclInt8;
	strand->type_size = 1;
	strand->protocol = share.protocol;
	strand->slice_steps = 1;
	strand->slices = 1;
	strand->slice_room = comm->topology->p2p_step;
	strand->chunk = share.chunk;
	strand->plan = is_send ? plan_send : plan_receive;
	strand->begin = share.begin;
	strand->count = share.end - share.begin;
	if (is_send)
		err = mini_strand_flow(comm, side->peer, channel, 1, true,
				       &strand->tos[strand->to_count++]);
	else
		err = mini_strand_flow(comm, side->peer, channel, 1, false,
				       &strand->froms[strand->from_count++]);
	return err ? err : mini_strand_begin(strand);
}

static bool plan_copy(const struct mini_strand *strand, size_t number,
		      struct mini_primitive *p)
{
	if (number > 0)
		return false;
	p->source = (const char *) strand->op->send + strand->begin;
	/* The other side's, which has no strand. */
	p->target = strand->to_self + strand->begin;
	p->count = strand->count;
	return true;
}

/* To itself a rank copies, on each channel a part. */
static int add_copy(struct ncclComm *comm, const struct mini_pair *pair, int part,
		    struct mini_strand **strands)
{
	const struct mini_side *from = &pair->sides[MINI_SENDING];
	struct mini_strand *strand = calloc(1, sizeof(*strand));
	struct mini_share share = mini_side_share(from, part);

	if (!strand)
		return -ENOMEM;
	strand->next = *strands;
	*strands = strand;
	strand->comm = comm;
	strand->op = from->op;
	strand->type = ncclInt8;
	strand->type_size = 1;
	strand->protocol = MINI_SIMPLE;
	strand->slice_steps = 1;
	strand->slices = 1;
	strand->slice_room = SIZE_MAX;
	strand->plan = plan_copy;
	strand->to_self = pair->sides[MINI_RECEIVING].op->recv;
	strand->begin = share.begin;
	strand->count = share.end - share.begin;
	return 0;
}

int mini_transfer_strands(struct ncclComm *comm, const struct mini_pair *pair,
			  int channel, struct mini_strand **strands)
{
	int part = mini_topology_part(comm, pair->base, channel);
	int direction;
	int err = 0;

	if (pair->sides[MINI_SENDING].op && pair->sides[MINI_SENDING].peer == comm->rank)
		return add_copy(comm, pair, part, strands);
	for (direction = 0; direction < MINI_DIRECTIONS && !err; direction++) {
		const struct mini_side *side = &pair->sides[direction];

		if (side->op && part < side->channels)
			err = add_side(comm, side, channel, part,
				       direction == MINI_SENDING, strands);
	}
	return err;
}
