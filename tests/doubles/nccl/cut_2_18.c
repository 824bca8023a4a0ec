/* SPDX-License-Identifier: MIT */
/*
 * Collectives of 2.18 and 2.19, which run in the order of their calls: all channels of
 * one share each of its loops, whose chunks are shorter in the last one (NCCL 2.18.3,
 * enqueue.cc:265-345, 483-596 and 1277-1396; collectives/device/all_reduce.h and the
 * others beside it, which are in device/ in 2.19 and the same).
 */
#include "cut.h"

#include "choice.h"
#include "comm.h"
#include "reduce.h"

enum {
	WARP = 32,
	/* Bytes of a channel, where several collectives are chosen for together. */
	MOST_AGGREGATED = 2 << 20,
	LEAST_AGGREGATED = 512,
	/* Data of a thread's share of LL and of LL128. */
	LL_THREAD = 8,
	LL128_THREAD = 60
};

static int log2_of(size_t n)
{
	int log = 0;

	while (n >>= 1)
		log++;
	return log;
}

/* Less than ever where there is not enough for all channels. */
static size_t bytes_per_channel(const struct ncclComm *comm,
				const struct mini_work *works)
{
	size_t bytes = MOST_AGGREGATED * smaller(16, (size_t) comm->nranks);
	size_t all = 0;

	for (; works; works = works->next)
		all += mini_whole_bytes(comm, &works->coll);
	while (all < bytes * (size_t) comm->channels && bytes > LEAST_AGGREGATED)
		bytes /= 2;
	return bytes;
}

static int channels_for(const struct ncclComm *comm, size_t bytes, size_t per_channel)
{
	size_t channels = larger(1, divide_up(bytes, per_channel));

	return (int) smaller(channels, (size_t) comm->channels);
}

/* One gets what it would get alone; those alike that follow it, all the same. */
static bool choose_alike(struct ncclComm *comm, struct mini_work *first,
			 const struct mini_work *end, size_t per_channel)
{
	size_t bytes = mini_whole_bytes(comm, &first->coll);
	bool is_alone = first->next == end;
	int channels = comm->channels;
	int operations = 1;
	struct mini_choice choice;
	struct mini_work *work;
	int wanted = 0;

	/* As NCCL counts, the first one's channels are not among them. */
	for (work = first->next; work != end; work = work->next) {
		bytes += mini_whole_bytes(comm, &work->coll);
		wanted += channels_for(comm,
				       work->coll.count * mini_type_size(work->coll.type),
				       per_channel);
	}
	if (!is_alone) {
		channels = wanted < channels ? wanted : channels;
		operations = (wanted + channels - 1) / channels;
	}
	if (!mini_choose(comm, first->coll.op, bytes, operations, channels, &choice))
		return false;
	for (work = first; work != end; work = work->next) {
		work->coll.op->algorithm = choice.algorithm;
		work->coll.op->protocol = choice.protocol;
		work->coll.warps = choice.warps;
		work->coll.most_channels =
			is_alone ? choice.channels
				 : channels_for(comm, mini_whole_bytes(comm, &work->coll),
						per_channel);
	}
	return true;
}

bool mini_choose_2_18(struct ncclComm *comm, struct mini_work *works)
{
	size_t per_channel = bytes_per_channel(comm, works);
	struct mini_work *first = works;
	struct mini_work *end;

	for (; first; first = end) {
		for (end = first->next;
		     end && mini_colls_are_alike(&first->coll, &end->coll);
		     end = end->next)
			;
		if (!choose_alike(comm, first, end, per_channel))
			return false;
	}
	return true;
}

static int heaviest(const size_t *loads, const int *channels, int count)
{
	int most = 0;
	int i;

	for (i = 1; i < count; i++) {
		if (loads[channels[i]] > loads[channels[most]])
			most = i;
	}
	return most;
}

/* The channels that have least to do, each in the place of one that had more. */
static void take_channels(struct mini_cutter *cutter, struct mini_coll *coll)
{
	size_t load = mini_whole_bytes(cutter->comm, coll) / (size_t) coll->shares;
	int channels[MINI_MAX_CHANNELS];
	int most;
	int c;
	int i;

	for (i = 0; i < coll->shares; i++)
		channels[i] = i;
	for (c = coll->shares; c < cutter->comm->channels; c++) {
		most = heaviest(cutter->loads, channels, coll->shares);
		if (cutter->loads[c] < cutter->loads[channels[most]])
			channels[most] = c;
	}
	for (i = 0; i < coll->shares; i++) {
		cutter->loads[channels[i]] += load;
		coll->places[channels[i]] = (uint8_t) i;
		coll->op->channels |= 1ULL << channels[i];
	}
}

static size_t halve(size_t chunk, size_t bytes, size_t channels, size_t loops,
		    size_t least)
{
	while (bytes / (channels * chunk) < loops && chunk > least)
		chunk /= 2;
	return chunk;
}

/*
 * With SIMPLE a tree has smaller chunks the deeper it is, by NCCL's estimate of that
 * (graph/connect.cc:135).
 */
static size_t deep_chunk(const struct ncclComm *comm, size_t chunk, size_t bytes,
			 size_t channels)
{
	int nodes = comm->topology->nnodes;
	size_t depth = (size_t) (comm->nranks / nodes - 1 + log2_of((size_t) nodes));

	chunk = halve(chunk, bytes, channels, depth * 8, 131072);
	chunk = halve(chunk, bytes, channels, depth * 4, 65536);
	return halve(chunk, bytes, channels, depth, 32768);
}

/* Bytes of data; those of LL128 are halved with their flags. */
static size_t chunk_of(const struct ncclComm *comm, const struct mini_coll *coll)
{
	enum mini_protocol protocol = coll->op->protocol;
	size_t step = mini_protocol_buffer(protocol) / MINI_STEPS;
	size_t chunk = step * (size_t) mini_chunk_steps(coll->op);
	size_t bytes = mini_whole_bytes(comm, coll);
	size_t type_size = mini_type_size(coll->type);

	if (coll->op->algorithm == MINI_TREE && protocol == MINI_SIMPLE)
		chunk = deep_chunk(comm, chunk, bytes, (size_t) coll->shares);
	else if (coll->op->algorithm == MINI_TREE && protocol == MINI_LL128)
		chunk = mini_tree_chunk(comm, chunk, bytes, (size_t) coll->shares);
	chunk = smaller(mini_protocol_room(protocol, chunk),
			mini_steps_room(protocol, mini_chunk_steps(coll->op)));
	chunk = mini_divided_chunk(coll->op, chunk);
	return chunk / type_size * type_size;
}

/* What NCCL tells the kernel of it: with LL the last loop's, for trees every chunk's. */
static size_t last_chunk_of(const struct ncclComm *comm, const struct mini_coll *coll)
{
	const struct mini_op *op = coll->op;
	size_t chunk = coll->chunks[MINI_FIRST];
	size_t bytes = mini_whole_bytes(comm, coll);
	/* All ranks' chunks are among them. */
	size_t chunks = (size_t) coll->shares;

	if (op->algorithm == MINI_RING && op->function != MINI_BROADCAST &&
	    op->function != MINI_REDUCE)
		chunks *= (size_t) comm->nranks;
	if (op->protocol == MINI_LL)
		return round_up(divide_up(bytes % (chunks * chunk), chunks),
				(size_t) coll->warps * WARP * LL_THREAD) /
		       mini_type_size(coll->type);
	return op->algorithm == MINI_TREE ? chunk / mini_type_size(coll->type) : 0;
}

void mini_cut_2_18(struct mini_cutter *cutter, struct mini_coll *coll)
{
	int part;

	coll->shares = coll->most_channels;
	take_channels(cutter, coll);
	for (part = 0; part < MINI_PARTS; part++)
		coll->chunks[part] = chunk_of(cutter->comm, coll);
	coll->last_chunk = last_chunk_of(cutter->comm, coll);
}

/* A tree's chunks are shorter only where all of it is less than a loop. */
static size_t tree_loop_chunk(const struct mini_coll *coll, size_t chunk)
{
	enum mini_protocol protocol = coll->op->protocol;
	size_t type_size = mini_type_size(coll->type);
	size_t threads = (size_t) coll->warps * WARP;
	size_t shares = (size_t) coll->shares;
	size_t room = mini_steps_room(protocol, 1) / type_size;
	size_t unit = threads * (LL_THREAD / type_size);

	if (shares * chunk <= coll->count)
		return chunk;
	if (protocol == MINI_SIMPLE)
		unit = (threads - 2 * WARP) * 8 * (8 / type_size);
	else if (protocol == MINI_LL128)
		unit = threads * (LL128_THREAD / type_size) / 8;
	/* NCCL does not look whether a step has room, here it has to. */
	return smaller(round_up(divide_up(coll->count, shares), unit),
		       larger(chunk, room));
}

/* NCCL's chunk is a multiple of the units, here it need not be. */
static size_t ring_loop_chunk(const struct ncclComm *comm, const struct mini_coll *coll,
			      size_t chunk, size_t rest)
{
	const struct mini_op *op = coll->op;
	size_t type_size = mini_type_size(coll->type);
	size_t threads = (size_t) coll->warps * WARP;
	size_t chunks = (size_t) coll->shares * mini_loop_chunks(comm, op);
	size_t unit = threads * (LL_THREAD / type_size);

	if (op->protocol == MINI_LL && op->function != MINI_ALL_REDUCE)
		return rest < chunks * chunk ? smaller(chunk, coll->last_chunk) : chunk;
	if (op->protocol == MINI_SIMPLE)
		unit = (threads - WARP) * 8 / type_size;
	else if (op->protocol == MINI_LL128)
		unit = threads * (LL128_THREAD / type_size);
	if (op->protocol == MINI_LL128 && op->function != MINI_BROADCAST &&
	    op->function != MINI_REDUCE)
		unit /= 2;
	return smaller(chunk, round_up(divide_up(rest, chunks), unit));
}

bool mini_loop_2_18(const struct ncclComm *comm, const struct mini_coll *coll,
		    int channel, size_t number, struct mini_loop *loop)
{
	size_t per_channel = mini_loop_chunks(comm, coll->op);
	size_t shares = (size_t) coll->shares;
	size_t chunk = coll->chunks[MINI_FIRST] / mini_type_size(coll->type);
	size_t at = number * shares * per_channel * chunk;
	size_t place = coll->places[channel];

	if (at >= coll->count)
		return false;
	loop->end = coll->count;
	loop->chunk = coll->op->algorithm == MINI_TREE
			      ? tree_loop_chunk(coll, chunk)
			      : ring_loop_chunk(comm, coll, chunk, coll->count - at);
	if (coll->op->protocol == MINI_SIMPLE) {
		loop->begin = at + place * per_channel * loop->chunk;
		loop->stride = loop->chunk;
	} else {
		/* With flags one chunk of each channel follows the other. */
		loop->begin = at + place * loop->chunk;
		loop->stride = shares * loop->chunk;
	}
	return true;
}
