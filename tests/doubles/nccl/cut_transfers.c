/* SPDX-License-Identifier: MIT */
/* How a send and a receive are divided (NCCL 2.28.9, enqueue.cc:770-1005). */
#include "work.h"

#include "comm.h"
#include "settings.h"
#include "reduce.h"

enum { CODE_BITS = 3, PART_BYTES = 4 << 10 };

static size_t divide_up(size_t a, size_t b)
{
	return (a + b - 1) / b;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* A size in a byte: where its highest bit is, and the three bits below that. */
static uint8_t encode(size_t size)
{
	unsigned int log = 0;

	while (size >> log > 1)
		log++;
	if (log < CODE_BITS)
		return (uint8_t) size;
	return (uint8_t) ((log - CODE_BITS + 1) << CODE_BITS |
			  (size >> (log - CODE_BITS) & ((1 << CODE_BITS) - 1)));
}

static size_t decode(uint8_t code)
{
	size_t low = code & ((1 << CODE_BITS) - 1);

	if (code >> CODE_BITS == 0)
		return low;
	return (low | 1 << CODE_BITS) << ((code >> CODE_BITS) - 1);
}

static void cut_side(const struct ncclComm *comm, struct mini_side *side, int least,
		     int most)
{
	size_t step = comm->topology->p2p_step;
	bool is_far = comm->topology->nnodes > 1;
	size_t threshold = (size_t) mini_number(SET_NCCL_P2P_LL_THRESHOLD);
	size_t forced = (size_t) mini_number(SET_NCCL_CHUNK_SIZE);
	size_t least_part;
	size_t part;

	side->bytes = side->op->count * mini_type_size(side->op->type);
	side->protocol = MINI_SIMPLE;
	if (mini_number(SET_NCCL_ALLOC_P2P_NET_LL_BUFFERS) == 1 &&
	    side->peer != comm->rank && side->bytes <= (size_t) most * threshold)
		side->protocol = MINI_LL;
	if (side->protocol == MINI_LL)
		step = mini_protocol_buffer(MINI_LL) / MINI_STEPS;
	side->chunk = step;
	if (forced)
		side->chunk = forced < step ? forced : step;
	else if (side->protocol == MINI_SIMPLE && side->bytes < step)
		side->chunk /= 4;
	else if (side->bytes < 8 * step)
		side->chunk /= 2;
	side->chunk_code = encode(mini_protocol_room(side->protocol, side->chunk));
	side->chunk = decode(side->chunk_code);
	side->channels = 1;
	if (side->bytes == 0)
		return;
	least_part = is_far ? step / 2 : step / 8;
	if ((size_t) least > divide_up(side->bytes, least_part))
		least = (int) divide_up(side->bytes, least_part);
	side->channels = least;
	part = larger(least_part, divide_up(side->bytes, (size_t) least));
	while (part > (is_far ? step : step * 32) && side->channels <= most / 2) {
		side->channels *= 2;
		part = divide_up(side->bytes, (size_t) side->channels);
	}
}

void mini_pair_cut(const struct ncclComm *comm, struct mini_pair *pair, int least,
		   int most)
{
	int direction;
	int part;

	pair->base = mini_topology_base(comm, pair->round);
	for (direction = 0; direction < MINI_DIRECTIONS; direction++) {
		struct mini_side *side = &pair->sides[direction];

		if (!side->op)
			continue;
		cut_side(comm, side, least, most);
		side->op->algorithm = MINI_NO_ALGORITHM;
		side->op->protocol = side->protocol;
		for (part = 0; part < side->channels && side->peer != comm->rank; part++)
			side->op->channels |=
				1ULL << mini_topology_channel(comm, pair->base, part);
	}
}

void mini_side_part(const struct mini_side *side, int part, size_t *ret_begin,
		    size_t *ret_end)
{
	size_t each = 0;

	if (side->op && part < side->channels)
		each = divide_up(divide_up(side->bytes, (size_t) side->channels),
				 PART_BYTES) *
		       PART_BYTES;
	*ret_begin = (size_t) part * each;
	*ret_end = *ret_begin + each;
	if (*ret_begin > side->bytes)
		*ret_begin = side->bytes;
	if (*ret_end > side->bytes)
		*ret_end = side->bytes;
}
