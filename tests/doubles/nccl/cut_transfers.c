/* SPDX-License-Identifier: MIT */
/* How a send and a receive are divided, by release. */
#include "work.h"

#include "comm.h"
#include "reduce.h"
#include "release.h"
#include "settings.h"

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

/* Of SIMPLE that of the buffer which all connections share. */
static size_t step_of(const struct ncclComm *comm, enum mini_protocol protocol)
{
	return protocol == MINI_LL ? mini_protocol_buffer(MINI_LL) / MINI_STEPS
				   : comm->topology->p2p_step;
}

/* `most` is of what is asked about: of a transfer, or of a part of it. */
static enum mini_protocol choose_protocol(const struct ncclComm *comm,
					  const struct mini_side *side, size_t bytes,
					  size_t most)
{
	bool is_ll = mini_number(SET_NCCL_ALLOC_P2P_NET_LL_BUFFERS) == 1 &&
		     side->peer != comm->rank && bytes <= most;

	return is_ll ? MINI_LL : MINI_SIMPLE;
}

/* Before 2.20 chunks of LL are quartered, too (NCCL 2.18.3, proxy.cc:607-625). */
static size_t choose_chunk(const struct ncclComm *comm, enum mini_protocol protocol,
			   size_t bytes)
{
	bool is_quartered = protocol == MINI_SIMPLE || mini_release() < 22000;
	size_t forced = (size_t) mini_number(SET_NCCL_CHUNK_SIZE);
	size_t step = step_of(comm, protocol);
	size_t chunk = step;

	if (forced)
		chunk = forced < step ? forced : step;
	else if (is_quartered && bytes < step)
		chunk /= 4;
	else if (bytes < 8 * step)
		chunk /= 2;
	return mini_protocol_room(protocol, chunk);
}

static size_t least_part(const struct ncclComm *comm, size_t step)
{
	bool is_far = comm->topology->nnodes > 1 && mini_release() >= 22000;

	return is_far ? step / 2 : step / 8;
}

/* Twice as many channels, until a part is small enough, whose size it returns. */
static size_t widen(const struct ncclComm *comm, struct mini_side *side, size_t step,
		    int most)
{
	size_t most_part = comm->topology->nnodes > 1 ? step : step * 32;
	size_t part = larger(least_part(comm, step),
			     divide_up(side->bytes, (size_t) side->channels));

	while (part > most_part && side->channels <= most / 2) {
		side->channels *= 2;
		part = divide_up(side->bytes, (size_t) side->channels);
	}
	return part;
}

static void count_channels(const struct ncclComm *comm, struct mini_side *side,
			   enum mini_protocol protocol, int least, int most)
{
	size_t step = step_of(comm, protocol);
	size_t parts = divide_up(side->bytes, least_part(comm, step));

	side->channels = 1;
	if (side->bytes == 0)
		return;
	side->channels = parts < (size_t) least ? (int) parts : least;
	widen(comm, side, step, most);
}

/*
 * From 2.22 on a transfer has one protocol.  Since 2.29 its channels are counted as for
 * SIMPLE, whatever it is then, and only those that it has may have LL's threshold each;
 * before, all that it could have do, and the channels are counted by the protocol's own
 * step (NCCL 2.28.9, enqueue.cc:821-900; 2.29.2, enqueue.cc:879-918).
 */
static void cut_whole(const struct ncclComm *comm, struct mini_side *side, int least,
		      int most)
{
	size_t threshold = (size_t) mini_number(SET_NCCL_P2P_LL_THRESHOLD);
	bool is_counted_first = mini_release() >= 22900;
	int channels = most;

	if (is_counted_first) {
		count_channels(comm, side, MINI_SIMPLE, least, most);
		channels = side->channels;
	}
	side->protocol =
		choose_protocol(comm, side, side->bytes, (size_t) channels * threshold);
	if (!is_counted_first)
		count_channels(comm, side, side->protocol, least, most);
	side->chunk_code = encode(choose_chunk(comm, side->protocol, side->bytes));
	side->chunk = decode(side->chunk_code);
	side->last_protocol = side->protocol;
	side->last_chunk = side->chunk;
	side->part_bytes =
		divide_up(divide_up(side->bytes, (size_t) side->channels), PART_BYTES) *
		PART_BYTES;
}

/*
 * Before 2.22 each part is a transfer of its own, whose bytes decide how it goes, and
 * there are no more parts than have any (NCCL 2.18.3, enqueue.cc:352-395 and 601-712,
 * proxy.cc:588-637).
 */
static void cut_alone(const struct ncclComm *comm, struct mini_side *side, int least,
		      int most)
{
	size_t threshold = (size_t) mini_number(SET_NCCL_P2P_LL_THRESHOLD);
	size_t step = step_of(comm, MINI_SIMPLE);
	size_t unit = least_part(comm, step);
	size_t last;

	side->channels = least;
	/* As NCCL rounds, also by what is no power of two. */
	side->part_bytes = (widen(comm, side, step, most) + unit - 1) & -unit;
	side->channels = 1;
	if (side->bytes > 0)
		side->channels = (int) divide_up(side->bytes, side->part_bytes);
	last = side->bytes - (size_t) (side->channels - 1) * side->part_bytes;
	side->last_protocol = choose_protocol(comm, side, last, threshold);
	side->last_chunk = choose_chunk(comm, side->last_protocol, last);
	side->protocol = side->last_protocol;
	side->chunk = side->last_chunk;
	if (side->channels == 1)
		return;
	side->protocol = choose_protocol(comm, side, side->part_bytes, threshold);
	side->chunk = choose_chunk(comm, side->protocol, side->part_bytes);
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
		side->bytes = side->op->count * mini_type_size(side->op->type);
		if (mini_release() < 22200)
			cut_alone(comm, side, least, most);
		else
			cut_whole(comm, side, least, most);
		side->op->algorithm = MINI_NO_ALGORITHM;
		side->op->protocol = side->protocol;
		for (part = 0; part < side->channels && side->peer != comm->rank; part++)
			side->op->channels |=
				1ULL << mini_topology_channel(comm, pair->base, part);
	}
}

struct mini_share mini_side_share(const struct mini_side *side, int part)
{
	bool is_last = part + 1 == side->channels;
	struct mini_share share = {
		.protocol = is_last ? side->last_protocol : side->protocol,
		.chunk = is_last ? side->last_chunk : side->chunk,
	};

	if (!side->op || part >= side->channels)
		return share;
	share.begin = (size_t) part * side->part_bytes;
	share.end = share.begin + side->part_bytes;
	if (share.begin > side->bytes)
		share.begin = side->bytes;
	if (share.end > side->bytes)
		share.end = side->bytes;
	return share;
}
