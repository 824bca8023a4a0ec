/* SPDX-License-Identifier: MIT */
/*
 * Collectives of 2.20 and 2.21: all of a group have together the channels that they would
 * have alone, and fill them up one after another with equally many bytes of what is
 * counted, not of what is moved (NCCL 2.21.5, enqueue.cc:187-245, 431-505, 743-870,
 * 1722-1776 and 1897-1908).
 */
#include "cut.h"

#include "choice.h"
#include "comm.h"
#include "reduce.h"
#include "release.h"

enum {
	WARP = 32,
	LOAD_ALIGNMENT = 16,
	SIMPLE_ALIGNMENT = 4096,
	/* Of a thread's share, and of a warp's. */
	LL_ALIGNMENT = 8,
	LL128_ALIGNMENT = 480
};

static size_t counted_bytes(const struct mini_coll *coll)
{
	return coll->count * mini_type_size(coll->type);
}

static int compare_numbers(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int compare(const struct mini_coll *a, const struct mini_coll *b)
{
	int order = compare_numbers(a->op->function, b->op->function);

	if (!order)
		order = compare_numbers(a->type, b->type);
	if (!order)
		order = compare_numbers(a->op->operation.kind, b->op->operation.kind);
	return order ? order : compare_numbers(a->count, b->count);
}

/* The greatest first; of equal ones the last call (utils.h:405). */
struct mini_work *mini_sort_2_20(struct mini_work *works)
{
	struct mini_work *sorted = NULL;
	struct mini_work **place;
	struct mini_work *work;

	while (works) {
		work = works;
		works = work->next;
		for (place = &sorted; *place && compare(&(*place)->coll, &work->coll) > 0;
		     place = &(*place)->next)
			;
		work->next = *place;
		*place = work;
	}
	return sorted;
}

/* All alike are chosen for together, but each alone says how many channels it adds. */
bool mini_choose_2_20(struct ncclComm *comm, struct mini_work *works)
{
	struct mini_work *first = works;
	struct mini_choice choice;
	struct mini_work *work;
	int usable = 0;

	while (first) {
		size_t bytes = 0;
		const struct mini_coll *kind = &first->coll;

		for (work = first; work && mini_colls_are_alike(&work->coll, kind);
		     work = work->next)
			bytes += mini_whole_bytes(comm, &work->coll);
		if (!mini_choose(comm, kind->op, bytes, 1, comm->channels, &choice))
			return false;
		for (; first != work; first = first->next) {
			first->coll.op->algorithm = choice.algorithm;
			first->coll.op->protocol = choice.protocol;
			first->coll.warps = choice.warps;
			first->coll.chosen_bytes = bytes;
			usable += mini_choose_channels(comm, &choice,
						       mini_whole_bytes(comm,
									&first->coll));
		}
	}
	for (work = works; work; work = work->next)
		work->coll.usable_channels =
			usable < comm->channels ? usable : comm->channels;
	return true;
}

void mini_cutter_begin_2_20(struct mini_cutter *cutter, const struct mini_work *works)
{
	size_t channels;

	if (!works)
		return;
	cutter->most_channels = works->coll.usable_channels;
	channels = (size_t) cutter->most_channels;
	for (; works; works = works->next)
		cutter->bytes += counted_bytes(&works->coll);
	cutter->most_load = round_up(divide_up(cutter->bytes, channels), LOAD_ALIGNMENT);
}

/*
 * The channels that it may have, roughly, decide how small a tree's chunks with LL128
 * are: in 2.20 those of all that it was chosen with (2.20.5, enqueue.cc:809).
 */
static size_t chunk_of(const struct mini_cutter *cutter, const struct mini_coll *coll)
{
	enum mini_protocol protocol = coll->op->protocol;
	size_t chunk = mini_steps_room(protocol, mini_chunk_steps(coll->op));
	size_t type_size = mini_type_size(coll->type);
	size_t bytes = mini_release() < 22100 ? coll->chosen_bytes : counted_bytes(coll);
	size_t channels =
		divide_up(bytes * (size_t) cutter->most_channels, cutter->bytes);

	if (coll->op->algorithm == MINI_TREE && protocol == MINI_LL128)
		chunk = mini_tree_chunk(cutter->comm, chunk, coll->chosen_bytes,
					channels);
	return mini_divided_chunk(coll->op, chunk) / type_size * type_size;
}

/* Elements of which a channel's part, and a chunk of its last loop, is a multiple. */
static size_t alignment_of(const struct mini_coll *coll)
{
	size_t type_size = mini_type_size(coll->type);
	size_t warps = (size_t) coll->warps;

	if (coll->op->protocol == MINI_SIMPLE)
		return SIMPLE_ALIGNMENT / type_size;
	if (coll->op->protocol == MINI_LL128)
		return LL128_ALIGNMENT / type_size * warps;
	return LL_ALIGNMENT / type_size * warps * WARP;
}

/* Those between the first and the last have equally much. */
static void add_part(struct mini_coll *coll, int channel, size_t count)
{
	if (!coll->op->channels) {
		coll->first_channel = channel;
		coll->counts[MINI_FIRST] = count;
	} else {
		coll->counts[MINI_MIDDLE] = coll->counts[MINI_LAST];
		coll->counts[MINI_LAST] = count;
	}
	coll->last_channel = channel;
	coll->op->channels |= 1ULL << channel;
}

void mini_cut_2_20(struct mini_cutter *cutter, struct mini_coll *coll)
{
	size_t type_size = mini_type_size(coll->type);
	size_t left = coll->count;
	size_t count;
	int part;
	int c;

	coll->grain = alignment_of(coll);
	for (part = 0; part < MINI_PARTS; part++) {
		coll->counts[part] = 0;
		coll->chunks[part] = chunk_of(cutter, coll);
	}
	for (c = 0; c < cutter->most_channels && left > 0; c++) {
		if (cutter->loads[c] >= cutter->most_load)
			continue;
		count = smaller(divide_up(cutter->most_load - cutter->loads[c],
					  type_size),
				left);
		count = smaller(round_up(count, coll->grain), left);
		add_part(coll, c, count);
		cutter->loads[c] += count * type_size;
		left -= count;
	}
}
