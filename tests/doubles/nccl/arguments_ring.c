/* SPDX-License-Identifier: MIT */
/*
 * Until 2.21 a kernel has three parameters: the communicator, a mask of its channels, and
 * where the works begin, 512 bytes each, in a ring of the communicator's or, of a graph,
 * in memory of its own.  The first work of each channel stands at its rank among those in
 * use and has the distance to the next (NCCL 2.18.3, include/devcomm.h:180-270,
 * enqueue.cc:765).
 */
#include "arguments.h"

#include "arguments_work.h"
#include "comm.h"
#include "functions.h"
#include "reduce.h"
#include "release.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORK_COLL = 1,
	WORK_P2P = 2,
	MAX_COLLS = 9,
	/* Receives stand at even places, sends at odd ones. */
	MAX_PAIRS = 8,
	P2P_SEND = 1,
	P2P_RECV = 2,
	/* Of a block. */
	WARPS = 20
};

struct header {
	/* The distance to the next or, of the last, what the device is to answer. */
	int32_t next;
	uint16_t function;
	uint8_t is_last : 1, is_in_fifo : 1;
	uint8_t type;
};

/* Until 2.19 of a whole collective, later of a channel's part of it. */
struct coll {
	uint8_t flags[4];
	uint32_t root;
	const void *send;
	void *recv;
	uint64_t count;
	uint64_t operator_argument;
	uint64_t chunk_count : 25, work_count : 39;
	uint64_t last_chunk_count : 25, work_offset : 39;
};

struct coll_2_18 {
	uint8_t flags[4];
	uint32_t pad;
	const void *send;
	void *recv;
	uint64_t count;
	uint64_t last_chunk;
	uint32_t root;
	uint8_t part;
	uint8_t channels;
	uint8_t pads[2];
	uint64_t operator_argument;
};

struct side {
	uint32_t peer : 30, protocol : 2;
	uint8_t type;
	uint8_t warps;
	uint8_t first_warp;
	uint8_t groups;
	uint32_t address_high;
	uint32_t address_low;
	uint32_t count_high;
	uint32_t count_low;
	int32_t chunk;
};

struct ring_work {
	struct header header;
	union {
		char all[MINI_RING_WORK_BYTES - sizeof(struct header)];
		struct coll colls[MAX_COLLS];
		struct coll_2_18 colls_2_18[MAX_COLLS];
		struct side sides[2 * MAX_PAIRS];
	};
};

_Static_assert(sizeof(struct ring_work) == MINI_RING_WORK_BYTES, "as NCCL's");
_Static_assert(sizeof(struct coll) == 56, "a collective is as NCCL's");
_Static_assert(sizeof(struct coll_2_18) == 56, "and that of before");
_Static_assert(sizeof(struct side) == 28, "half a transfer is as NCCL's");

/* The works of a channel, while they are put together. */
struct list {
	struct ring_work *works;
	size_t count;
	/* In the last one; of transfers their batch, too. */
	int used;
	unsigned int batch;
};

static struct ring_work *add_work(struct list *list, uint8_t type, unsigned int function)
{
	struct ring_work *more =
		realloc(list->works, (list->count + 1) * sizeof(*list->works));
	struct ring_work *work;

	if (!more)
		return NULL;
	list->works = more;
	work = &list->works[list->count++];
	memset(work, 0, sizeof(*work));
	work->header.type = type;
	work->header.function = (uint16_t) function;
	list->used = 0;
	return work;
}

static struct ring_work *last_of(const struct list *list, unsigned int function)
{
	struct ring_work *last = list->count ? &list->works[list->count - 1] : NULL;

	return last && last->header.function == function ? last : NULL;
}

/* Where the number of warps is, and whether there is one host alone. */
static void set_flags(const struct ncclComm *comm, const struct mini_coll *coll,
		      uint8_t flags[4])
{
	bool is_alone = comm->topology->nnodes == 1;
	bool is_2_21 = mini_release() >= 22100;

	flags[0] = (uint8_t) (1 | (coll->op->operation.scalar_at != NULL) << 1);
	if (is_2_21)
		flags[0] |= (uint8_t) (is_alone << 2);
	else if (mini_release() >= 22000)
		flags[0] |= (uint8_t) (is_alone << 3);
	flags[is_2_21 ? 2 : 1] = (uint8_t) coll->warps;
}

static void set_coll_2_18(const struct ncclComm *comm, const struct mini_coll *coll,
			  int channel, struct coll_2_18 *to)
{
	*to = (struct coll_2_18){
		.send = coll->op->send,
		.recv = coll->op->recv,
		.count = coll->count,
		.last_chunk = coll->last_chunk,
		.root = (uint32_t) coll->op->root,
		.part = coll->places[channel],
		.channels = (uint8_t) coll->shares,
		.operator_argument = mini_operator_argument(&coll->op->operation),
	};
	set_flags(comm, coll, to->flags);
}

static void set_coll(const struct ncclComm *comm, const struct mini_coll *coll,
		     int channel, struct coll *to)
{
	size_t type_size = mini_type_size(coll->type);
	size_t begin;
	size_t count;
	size_t chunk;

	mini_coll_part(coll, channel, &begin, &count, &chunk);
	*to = (struct coll){
		.root = (uint32_t) coll->op->root,
		.send = coll->op->send,
		.recv = coll->op->recv,
		.count = coll->count,
		.operator_argument = mini_operator_argument(&coll->op->operation),
		.chunk_count = chunk / type_size & 0x1ffffff,
		.work_count = count & 0x7fffffffffULL,
		.last_chunk_count = mini_coll_last_chunk(comm, coll, channel) & 0x1ffffff,
		.work_offset = begin & 0x7fffffffffULL,
	};
	set_flags(comm, coll, to->flags);
}

static bool add_coll(const struct ncclComm *comm, struct list *list,
		     const struct mini_coll *coll, int channel)
{
	unsigned int function = mini_device_function(coll->op).number;
	struct ring_work *work = last_of(list, function);

	if (!work || work->header.type != WORK_COLL || list->used == MAX_COLLS)
		work = add_work(list, WORK_COLL, function);
	if (!work)
		return false;
	if (mini_release() < 22000)
		set_coll_2_18(comm, coll, channel, &work->colls_2_18[list->used++]);
	else
		set_coll(comm, coll, channel, &work->colls[list->used++]);
	return true;
}

static struct side side_of(const struct mini_side *side, int direction, int part)
{
	const struct mini_op *op = side->op;
	const char *data = direction == MINI_SENDING ? op->send : op->recv;
	struct mini_share share = mini_side_share(side, part);
	uintptr_t address = (uintptr_t) data + share.begin;
	size_t bytes = share.end - share.begin;

	return (struct side){
		.peer = (uint32_t) side->peer & 0x3fffffff,
		.protocol = (uint32_t) share.protocol & 3,
		.type = direction == MINI_SENDING ? P2P_SEND : P2P_RECV,
		.warps = WARPS,
		.address_high = (uint32_t) (address >> 32),
		.address_low = (uint32_t) address,
		.count_high = (uint32_t) (bytes >> 32),
		.count_low = (uint32_t) bytes,
		/* With LL's flags, which the device takes away. */
		.chunk = (int32_t) (share.chunk * (share.protocol == MINI_LL ? 2 : 1)),
	};
}

/* What one channel does at once is in one work: as many as NCCL's, at most. */
static bool add_pair(struct list *list, const struct mini_pair *pair, int part,
		     unsigned int batch)
{
	const struct mini_side *sides = pair->sides;
	const struct mini_op *op = sides[MINI_SENDING].op ? sides[MINI_SENDING].op
							  : sides[MINI_RECEIVING].op;
	unsigned int function = mini_device_function(op).number;
	struct ring_work *work = last_of(list, function);
	int direction;

	if (!work || list->batch != batch || list->used == MAX_PAIRS)
		work = add_work(list, WORK_P2P, function);
	if (!work)
		return false;
	list->batch = batch;
	for (direction = 0; direction < MINI_DIRECTIONS; direction++) {
		if (sides[direction].op && part < sides[direction].channels)
			work->sides[2 * list->used + (direction == MINI_SENDING)] =
				side_of(&sides[direction], direction, part);
	}
	list->used++;
	return true;
}

static void share_warps(struct ring_work *work)
{
	int groups = 1;
	int last = 0;
	int i;

	for (i = 0; i < 2 * MAX_PAIRS; i++) {
		if (work->sides[i].type)
			last = i + 1;
	}
	while (groups < last)
		groups *= 2;
	for (i = 0; i < groups; i++) {
		work->sides[i].groups = (uint8_t) groups;
		work->sides[i].first_warp = (uint8_t) (i * WARPS / groups);
		work->sides[i].warps = (uint8_t) (WARPS / groups ? WARPS / groups : 1);
	}
}

static bool collect(const struct mini_plan *plan, struct list *lists)
{
	const struct ncclComm *comm = plan->comm;
	bool is_done = true;
	size_t i;

	for (i = 0; i < plan->part_count && is_done; i++) {
		const struct mini_part *part = &plan->parts[i];
		const struct mini_pair *pair = &part->work->pair;
		struct list *list = &lists[part->channel];

		if (part->work->is_pair)
			is_done = add_pair(list, pair,
					   (part->channel - pair->base) &
						   (comm->topology->p2p_channels - 1),
					   part->batch);
		else
			is_done = add_coll(comm, list, &part->work->coll, part->channel);
	}
	return is_done;
}

/* Where a work goes, counted from the first place of the launch. */
struct place {
	char *memory;
	uint32_t first;
	uint32_t mask;
};

static void write_list(const struct place *place, struct list *list, uint32_t index,
		       uint32_t *next, bool is_in_fifo)
{
	uint32_t at = place->first + index;
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct ring_work *work = &list->works[i];
		bool is_last = i + 1 == list->count;

		if (work->header.type == WORK_P2P)
			share_warps(work);
		work->header.is_last = is_last;
		work->header.is_in_fifo = is_last && is_in_fifo;
		work->header.next =
			is_last ? (int32_t) (at + 1)
				: (int32_t) (*next & place->mask) -
					  (int32_t) (place->first & place->mask);
		memcpy(place->memory + (size_t) (at & place->mask) * sizeof(*work), work,
		       sizeof(*work));
		if (!is_last)
			at = (*next)++;
	}
}

static void write_lists(const struct place *place, struct list *lists, uint32_t channels,
			bool is_in_fifo)
{
	uint32_t next = place->first + channels;
	uint32_t index = 0;
	int c;

	for (c = 0; c < MINI_MAX_CHANNELS; c++) {
		if (lists[c].count)
			write_list(place, &lists[c], index++, &next, is_in_fifo);
	}
}

/* The first works of a launch do not go round the end. */
static uint32_t take_places(struct ncclComm *comm, uint32_t channels, uint32_t works)
{
	uint32_t mask = MINI_RING_WORKS - 1;
	uint32_t first = comm->fifo_produced;

	if (((first + channels - 1) & mask) < (first & mask))
		first = (first + mask) & ~mask;
	comm->fifo_produced = first + works;
	return first;
}

static bool write_all(struct mini_launch *launch, struct ncclComm *comm,
		      struct list *lists, bool is_captured)
{
	struct place place = {.mask = is_captured ? UINT32_MAX : MINI_RING_WORKS - 1};
	uint32_t channels = 0;
	uint32_t works = 0;
	int c;

	for (c = 0; c < MINI_MAX_CHANNELS; c++) {
		channels += lists[c].count > 0;
		works += (uint32_t) lists[c].count;
	}
	/* A graph's may be launched as long as the process lives. */
	place.memory = is_captured ? calloc(works, sizeof(struct ring_work))
				   : comm->device_comm->fifo;
	if (!place.memory)
		return false;
	place.first = is_captured ? 0 : take_places(comm, channels, works);
	write_lists(&place, lists, channels, !is_captured);
	launch->storage = is_captured ? MINI_PERSISTENT : MINI_IN_FIFO;
	launch->work_head = place.memory + (size_t) (place.first & place.mask) *
						   sizeof(struct ring_work);
	launch->batch_count = works;
	launch->size = MINI_RING_PARAMETER_BYTES;
	return true;
}

bool mini_launch_is_ring(void)
{
	return mini_release() < 22200;
}

bool mini_launch_finish_ring(struct mini_launch *launch, const struct mini_plan *plan,
			     bool is_captured)
{
	struct list *lists = calloc(MINI_MAX_CHANNELS, sizeof(*lists));
	bool is_done;
	int c;

	if (!lists)
		return false;
	is_done =
		collect(plan, lists) && write_all(launch, plan->comm, lists, is_captured);
	for (c = 0; c < MINI_MAX_CHANNELS; c++)
		free(lists[c].works);
	free(lists);
	return is_done;
}
