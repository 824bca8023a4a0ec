/* SPDX-License-Identifier: MIT */
/*
 * How collectives are put in order, and divided among channels and into chunks, by what
 * all releases have in common and by the rules since 2.22 (NCCL 2.28.9,
 * enqueue.cc:353-480, 520-735 and 1979-2150).
 */
#include "cut.h"

#include "choice.h"
#include "comm.h"
#include "release.h"
#include "settings.h"
#include "reduce.h"

#include <stdlib.h>

enum {
	/* Of a cell in 2.22. */
	CELL_BYTES = 16,
	/* Between two powers of two there are four sizes. */
	SIZE_BITS = 2,
	KIB = 1 << 10
};

/*
 * Less traffic on a channel is not worth it (NCCL 2.22.3, enqueue.cc:614; 2.23.4,
 * enqueue.cc:723; 2.29.2, enqueue.cc:576 and 609).
 */
static size_t least_traffic(void)
{
	if (mini_release() < 22300)
		return 512;
	return mini_release() < 22900 ? 16 << 10 : 32 << 10;
}

/* By how much more a byte with LL counts (NCCL 2.26.2, enqueue.cc:388). */
static size_t weight_of(const struct mini_op *op)
{
	return op->protocol == MINI_LL && mini_release() >= 22600 ? 4 : 1;
}

/* How often each byte of the operation's count goes over a channel. */
static size_t traffic_per_byte(const struct ncclComm *comm, const struct mini_op *op)
{
	if (op->function == MINI_ALL_REDUCE)
		return 2;
	return op->function == MINI_ALL_GATHER || op->function == MINI_REDUCE_SCATTER
		       ? (size_t) comm->nranks
		       : 1;
}

/* And how many bytes of all ranks' data stand for it. */
static size_t whole_per_byte(const struct ncclComm *comm, const struct mini_op *op)
{
	return op->function == MINI_ALL_REDUCE ? 1 : traffic_per_byte(comm, op);
}

static int log2_of(size_t n)
{
	int log = 0;

	while (n >>= 1)
		log++;
	return log;
}

/* Sizes of KiB with so few bits are alike; NCCL does not tell apart what is. */
static size_t rough_size(size_t bytes)
{
	size_t n = smaller(bytes, (size_t) 1 << 30) / KIB;
	int log = log2_of(n | 1);

	return log < SIZE_BITS ? n
			       : ((size_t) (log - SIZE_BITS + 1) << SIZE_BITS |
				  (n >> (log - SIZE_BITS) & ((1 << SIZE_BITS) - 1)));
}

/* Falling sizes; of like ones the last call is first. */
static struct mini_work *sort_by_size(struct mini_work *works)
{
	struct mini_work *sorted = NULL;
	struct mini_work **place;
	struct mini_work *work;

	while (works) {
		work = works;
		works = work->next;
		for (place = &sorted; *place && rough_size((*place)->coll.traffic) >
							rough_size(work->coll.traffic);
		     place = &(*place)->next)
			;
		work->next = *place;
		*place = work;
	}
	return sorted;
}

/* In 2.18 the least and the most have operators of their own. */
bool mini_colls_are_alike(const struct mini_coll *a, const struct mini_coll *b)
{
	return a->op->function == b->op->function && a->type == b->type &&
	       a->op->operation.kind == b->op->operation.kind &&
	       (mini_release() >= 21900 ||
		a->op->operation.is_max == b->op->operation.is_max);
}

/*
 * Those of one function, type and operator follow each other, rising; which kind is first
 * says the largest of each.
 */
static struct mini_work *sort_by_kind(struct mini_work *works)
{
	struct mini_work *sorted = NULL;
	struct mini_work **end = &sorted;

	while (works) {
		const struct mini_coll *kind = &works->coll;
		struct mini_work **place = &works;
		struct mini_work *bin = NULL;
		struct mini_work *work;

		while (*place) {
			work = *place;
			if (!mini_colls_are_alike(&work->coll, kind)) {
				place = &work->next;
				continue;
			}
			*place = work->next;
			work->next = bin;
			bin = work;
		}
		*end = bin;
		while (*end)
			end = &(*end)->next;
	}
	return sorted;
}

size_t mini_whole_bytes(const struct ncclComm *comm, const struct mini_coll *coll)
{
	return coll->count * mini_type_size(coll->type) * whole_per_byte(comm, coll->op);
}

/* Those of one kind that differ by less than a factor of four are chosen for together. */
static bool choose(struct ncclComm *comm, struct mini_work *works, int count)
{
	int operations = (count + comm->channels - 1) / comm->channels;
	struct mini_work *first = works;
	struct mini_work *work;
	struct mini_choice choice;
	size_t bytes;

	while (first) {
		bytes = 0;
		for (work = first;
		     work && mini_colls_are_alike(&work->coll, &first->coll) &&
		     (work == first || work->coll.traffic < 4 * first->coll.traffic);
		     work = work->next)
			bytes += mini_whole_bytes(comm, &work->coll);
		if (!mini_choose(comm, first->coll.op, bytes, operations, comm->channels,
				 &choice))
			return false;
		for (; first != work; first = first->next) {
			first->coll.op->algorithm = choice.algorithm;
			first->coll.op->protocol = choice.protocol;
			first->coll.most_channels = choice.channels;
			first->coll.warps = choice.warps;
			first->coll.traffic *= weight_of(first->coll.op);
		}
	}
	return true;
}

bool mini_colls_prepare(struct ncclComm *comm, struct mini_work **works)
{
	struct mini_work *work;
	int count = 0;

	for (work = *works; work; work = work->next) {
		struct mini_coll *coll = &work->coll;

		coll->type = coll->op->type;
		coll->count = coll->op->count;
		if (coll->op->function == MINI_ALL_GATHER ||
		    coll->op->function == MINI_BROADCAST) {
			coll->count *= mini_type_size(coll->type);
			coll->type = ncclInt8;
		}
		coll->traffic = coll->count * mini_type_size(coll->type) *
				traffic_per_byte(comm, coll->op);
		count++;
	}
	if (mini_release() < 22000)
		return mini_choose_2_18(comm, *works);
	if (!mini_number(SET_MININCCL_CALL_ORDER))
		*works = mini_release() < 22200 ? mini_sort_2_20(*works)
						: sort_by_kind(sort_by_size(*works));
	return mini_release() < 22200 ? mini_choose_2_20(comm, *works)
				      : choose(comm, *works, count);
}

void mini_cutter_begin(struct mini_cutter *cutter, struct ncclComm *comm,
		       const struct mini_work *works, int count)
{
	size_t traffic = 0;
	int channels = 0;

	*cutter = (struct mini_cutter){.comm = comm, .most_channels = comm->channels};
	if (mini_release() < 22200) {
		if (mini_release() >= 22000)
			mini_cutter_begin_2_20(cutter, works);
		return;
	}
	for (; count > 0; count--, works = works->next) {
		/* In 2.22 less counts as what it is. */
		traffic += mini_release() < 22300
				   ? works->coll.traffic
				   : larger(least_traffic(), works->coll.traffic);
		channels += works->coll.most_channels;
	}
	if (channels > comm->channels)
		channels = comm->channels;
	if (channels > 0 && mini_release() < 22900)
		cutter->traffic_per_channel =
			larger(least_traffic(), traffic / (size_t) channels);
	else if (channels > 0)
		cutter->traffic_per_channel = round_up(traffic / (size_t) channels, 16);
}

/*
 * The unit of the division: 16 bytes in 2.22 (NCCL 2.22.3, enqueue.cc:657-734), since
 * then as much as makes the least traffic.
 */
struct cells {
	size_t elements;
	size_t traffic;
	size_t count;
	size_t first;
	size_t middle;
	size_t last;
	size_t middle_channels;
};

static void measure(const struct mini_cutter *cutter, const struct mini_coll *coll,
		    struct cells *cells)
{
	size_t type_size = mini_type_size(coll->type);
	size_t per_byte = traffic_per_byte(cutter->comm, coll->op) * weight_of(coll->op);
	size_t bytes = CELL_BYTES;

	if (mini_release() >= 22300)
		bytes = round_up(divide_up(least_traffic(), per_byte), 16);
	cells->elements = bytes / type_size;
	cells->traffic = bytes * per_byte;
	cells->count = divide_up(coll->count * type_size, bytes);
}

/* In 2.22 a cell that does not go wholly into the first channel begins the next. */
static size_t first_cells(const struct mini_cutter *cutter, const struct cells *cells)
{
	size_t left = cutter->traffic_per_channel - cutter->traffic;

	if (cutter->most_channels - cutter->channel == 1)
		return cells->count;
	return smaller(cells->count, mini_release() < 22300
					     ? left / cells->traffic
					     : divide_up(left, cells->traffic));
}

static void divide(struct mini_cutter *cutter, struct cells *cells)
{
	size_t per_channel = smaller(cells->count, divide_up(cutter->traffic_per_channel,
							     cells->traffic));
	size_t left = (size_t) (cutter->most_channels - cutter->channel);
	size_t rest;

	cells->first = first_cells(cutter, cells);
	rest = cells->count - cells->first;
	cells->middle_channels = rest / per_channel;
	cells->last = rest % per_channel;
	if (left < (cells->first != 0) + cells->middle_channels + (cells->last != 0)) {
		cells->middle_channels = left - 2;
		per_channel = rest / (cells->middle_channels + 1);
		cells->last = per_channel + rest % (cells->middle_channels + 1);
	}
	if (cells->last == 0 && cells->middle_channels != 0) {
		cells->last = per_channel;
		cells->middle_channels--;
	}
	if (cells->first == 0) {
		cutter->channel++;
		cells->first = cells->middle_channels ? per_channel : cells->last;
		if (cells->middle_channels)
			cells->middle_channels--;
		else
			cells->last = 0;
	}
	cells->middle = cells->middle_channels ? per_channel : 0;
}

/*
 * Where the next collective begins: what a channel has room for is filled up first.  In
 * 2.22 what the last cell lacks of the data does not count.
 */
static void move_on(struct mini_cutter *cutter, const struct cells *cells, size_t missing)
{
	if (cells->last != 0) {
		cutter->channel += (int) cells->middle_channels + 1;
		cutter->traffic = cells->last * cells->traffic;
	} else {
		cutter->traffic += cells->first * cells->traffic;
	}
	if (mini_release() < 22300)
		cutter->traffic -= missing * (cells->traffic / cells->elements);
	if (cutter->traffic >= cutter->traffic_per_channel &&
	    cutter->channel + 1 != cutter->most_channels) {
		cutter->channel++;
		cutter->traffic = 0;
	}
}

int mini_chunk_steps(const struct mini_op *op)
{
	if (op->protocol != MINI_SIMPLE || op->algorithm != MINI_RING ||
	    op->function == MINI_BROADCAST || op->function == MINI_REDUCE)
		return 1;
	return (int) mini_number(SET_MININCCL_CHUNK_STEPS);
}

int mini_slice_steps(const struct mini_op *op)
{
	int chunk_steps = mini_chunk_steps(op);
	int steps = (int) mini_number(SET_MININCCL_SLICE_STEPS);

	return steps < chunk_steps && chunk_steps % steps == 0 ? steps : chunk_steps;
}

/* How many chunks of the counted data a channel has in a loop. */
size_t mini_loop_chunks(const struct ncclComm *comm, const struct mini_op *op)
{
	return op->algorithm == MINI_RING && op->function == MINI_ALL_REDUCE
		       ? (size_t) comm->nranks
		       : 1;
}

size_t mini_tree_chunk(const struct ncclComm *comm, size_t chunk, size_t bytes,
		       size_t channels)
{
	int nodes = comm->topology->nnodes;
	float ranks = (float) comm->nranks / (float) nodes;
	float steps = 1 + (float) log2_of((size_t) nodes) + 0.1f * ranks;

	while ((float) (bytes / (channels * chunk)) < steps * 64 / ranks &&
	       chunk > 131072)
		chunk /= 2;
	while ((float) (bytes / (channels * chunk)) < steps * 16 / ranks && chunk > 32768)
		chunk /= 2;
	return chunk;
}

size_t mini_steps_room(enum mini_protocol protocol, int steps)
{
	size_t step = mini_protocol_buffer(protocol) / MINI_STEPS;
	size_t grain = mini_protocol_grain(protocol);
	size_t room = mini_protocol_room(protocol, step * (size_t) steps);

	return protocol == MINI_SIMPLE ? room : room / grain * grain;
}

size_t mini_divided_chunk(const struct mini_op *op, size_t chunk)
{
	size_t divisor = (size_t) mini_number(SET_MININCCL_CHUNK_DIVISOR);
	size_t grain = mini_protocol_grain(op->protocol);

	return divisor == 1 ? chunk : larger(chunk / divisor / grain, 1) * grain;
}

static size_t chunk_of(const struct ncclComm *comm, const struct mini_coll *coll,
		       size_t count)
{
	enum mini_protocol protocol = coll->op->protocol;
	size_t grain = mini_protocol_grain(protocol);
	size_t step = mini_protocol_buffer(protocol) / MINI_STEPS;
	size_t chunk =
		mini_protocol_room(protocol, step * (size_t) mini_chunk_steps(coll->op));
	size_t bytes =
		count * mini_type_size(coll->type) * whole_per_byte(comm, coll->op);

	if (coll->op->algorithm == MINI_TREE && protocol == MINI_LL128)
		chunk = mini_tree_chunk(comm, chunk, bytes, 1);
	chunk = mini_divided_chunk(coll->op, chunk);
	return larger(chunk / grain, 1) * grain;
}

void mini_cutter_cut(struct mini_cutter *cutter, struct mini_coll *coll)
{
	struct cells cells;
	size_t missing;
	int i;

	if (mini_release() < 22200) {
		if (mini_release() < 22000)
			mini_cut_2_18(cutter, coll);
		else
			mini_cut_2_20(cutter, coll);
		return;
	}
	measure(cutter, coll, &cells);
	divide(cutter, &cells);
	/* 16 bytes (device/all_reduce.h:26). */
	coll->grain = 16 / mini_type_size(coll->type);
	coll->first_channel = cutter->channel;
	coll->last_channel =
		cutter->channel + (int) cells.middle_channels + (cells.last != 0);
	coll->counts[MINI_FIRST] = cells.first * cells.elements;
	coll->counts[MINI_MIDDLE] = cells.middle * cells.elements;
	coll->counts[MINI_LAST] = cells.last * cells.elements;
	missing = cells.count * cells.elements - coll->count;
	coll->counts[cells.last ? MINI_LAST : MINI_FIRST] -= missing;
	for (i = 0; i < MINI_PARTS; i++)
		coll->chunks[i] = coll->counts[i]
					  ? chunk_of(cutter->comm, coll, coll->counts[i])
					  : 0;
	for (i = coll->first_channel; i <= coll->last_channel; i++)
		coll->op->channels |= 1ULL << i;
	move_on(cutter, &cells, missing);
}

void mini_coll_part(const struct mini_coll *coll, int channel, size_t *ret_begin,
		    size_t *ret_count, size_t *ret_chunk)
{
	int part = MINI_MIDDLE;

	*ret_begin = 0;
	if (coll->shares) {
		*ret_count = coll->count;
		*ret_chunk = coll->chunks[MINI_FIRST];
		return;
	}
	if (channel == coll->first_channel)
		part = MINI_FIRST;
	else
		*ret_begin = coll->counts[MINI_FIRST] +
			     (size_t) (channel - coll->first_channel - 1) *
				     coll->counts[MINI_MIDDLE];
	if (channel == coll->last_channel && part != MINI_FIRST)
		part = MINI_LAST;
	*ret_count = coll->counts[part];
	*ret_chunk = coll->chunks[part];
}

/* A loop of a ring all-reduce has a chunk for each rank, the last one shorter ones. */
static size_t loop_chunk(const struct mini_coll *coll, size_t chunks, size_t chunk,
			 size_t rest)
{
	if (chunks == 1 || rest >= chunks * chunk)
		return chunk;
	return smaller(chunk, round_up(divide_up(rest, chunks), coll->grain));
}

bool mini_coll_loop(const struct ncclComm *comm, const struct mini_coll *coll,
		    int channel, size_t number, struct mini_loop *loop)
{
	size_t chunks = mini_loop_chunks(comm, coll->op);
	size_t begin;
	size_t count;
	size_t chunk;
	size_t at;

	if (coll->shares)
		return mini_loop_2_18(comm, coll, channel, number, loop);
	mini_coll_part(coll, channel, &begin, &count, &chunk);
	chunk /= mini_type_size(coll->type);
	at = number * chunks * chunk;
	if (at >= count)
		return false;
	chunk = loop_chunk(coll, chunks, chunk, count - at);
	*loop = (struct mini_loop){begin + at, chunk, chunk, begin + count};
	return true;
}

size_t mini_coll_last_chunk(const struct ncclComm *comm, const struct mini_coll *coll,
			    int channel)
{
	size_t chunks = mini_loop_chunks(comm, coll->op);
	size_t begin;
	size_t count;
	size_t chunk;

	mini_coll_part(coll, channel, &begin, &count, &chunk);
	chunk /= mini_type_size(coll->type);
	return loop_chunk(coll, chunks, chunk, count % (chunks * chunk));
}

/* Before 2.20 as many on each channel, also where it has nothing in a loop. */
int mini_coll_steps(const struct ncclComm *comm, const struct mini_coll *coll,
		    int channel)
{
	const struct mini_op *op = coll->op;
	size_t steps_per_loop = 1;
	size_t begin;
	size_t count;
	size_t chunk;
	size_t loop;

	mini_coll_part(coll, channel, &begin, &count, &chunk);
	if (op->algorithm == MINI_RING && op->function != MINI_BROADCAST &&
	    op->function != MINI_REDUCE)
		steps_per_loop = (size_t) (comm->nranks - 1) *
				 (op->function == MINI_ALL_REDUCE ? 2 : 1);
	loop = chunk / mini_type_size(coll->type) * mini_loop_chunks(comm, op);
	if (coll->shares)
		loop *= (size_t) coll->shares;
	return (int) (divide_up(count, loop) * steps_per_loop) * mini_chunk_steps(op);
}
