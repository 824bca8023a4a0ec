/* SPDX-License-Identifier: MIT */
/*
 * Fills the argument buffer: works of one function that follow each other on a channel
 * share a batch, and the batches of the channels are interleaved, each with the distance
 * to the next of its channel.  All of that is the same in all releases from 2.22 on, but
 * what arguments_work.h hides.
 */
#include "arguments.h"

#include "arguments_work.h"
#include "comm.h"
#include "functions.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORK_P2P = 0,
	WORK_COLL = 1,
	/* Of batches in one argument buffer, with room for the plan at its end. */
	MAX_BATCHES = (MINI_ARGUMENT_BYTES - 32 - 16) / 16,
	MAX_BATCH_P2P = 8,
	/* Of a kernel with transfers. */
	P2P_WARPS = 20
};

struct head {
	void *comm;
	uint64_t channel_mask;
	uint8_t storage;
	uint8_t pad[3];
	uint32_t work_mask;
	void *work_buffer;
};

struct batch {
	uint32_t next_jump : 14, next_extends : 1, work_type : 2, function : 15;
	uint32_t offset_base;
	uint64_t offset_bits;
};

/* What follows everything that NCCL has. */
struct tail {
	struct mini_plan *plan;
	uint64_t pad;
};

_Static_assert(sizeof(struct head) == 32, "the head is as NCCL's");
_Static_assert(sizeof(struct batch) == 16, "a batch is as NCCL's");

struct channel {
	/* Of the batches of this channel, in order; indices into the list below. */
	uint16_t batches[MAX_BATCHES];
	unsigned int count;
	/* Of the last of them, extensions included. */
	size_t work_bytes;
	int rounds[MAX_BATCH_P2P];
	int round_count;
	/* Batches of transfers, extensions not counted. */
	unsigned int p2p_batches;
};

struct mini_arguments {
	struct ncclComm *comm;
	struct channel channels[MINI_MAX_CHANNELS];
	struct batch batches[MAX_BATCHES];
	char *works;
	size_t work_bytes;
};

bool mini_launch_begin(struct mini_launch *launch, struct ncclComm *comm)
{
	memset(launch, 0, sizeof(*launch));
	launch->arguments = calloc(1, sizeof(*launch->arguments));
	if (launch->arguments)
		launch->arguments->comm = comm;
	return launch->arguments != NULL;
}

void mini_launch_free(struct mini_launch *launch)
{
	if (launch->arguments)
		free(launch->arguments->works);
	free(launch->arguments);
	free(launch->buffer);
	launch->arguments = NULL;
	launch->buffer = NULL;
}

/*
 * One round's connections are used once in a batch, and its rounds are of one eighth, so
 * that it is the same on all ranks.
 */
static bool shares_batch(const struct channel *channel, const struct batch *batch,
			 unsigned int type, unsigned int number, size_t size, int round)
{
	int i;

	if (batch->work_type != type || batch->function != number ||
	    channel->work_bytes + size > mini_batch_bytes())
		return false;
	if (type != WORK_P2P)
		return true;
	for (i = 0; i < channel->round_count; i++) {
		if (channel->rounds[i] == round ||
		    channel->rounds[i] / MAX_BATCH_P2P != round / MAX_BATCH_P2P)
			return false;
	}
	return channel->round_count < MAX_BATCH_P2P;
}

static void add_to_channel(struct mini_launch *launch, unsigned int index,
			   unsigned int type, unsigned int number, size_t size, int round)
{
	struct mini_arguments *args = launch->arguments;
	struct channel *channel = &args->channels[index];
	struct batch *batch = NULL;
	size_t offset = 0;
	bool is_new = true;
	bool is_extension = false;

	if (channel->count) {
		batch = &args->batches[channel->batches[channel->count - 1]];
		is_new = !shares_batch(channel, batch, type, number, size, round);
	}
	if (!is_new) {
		offset = args->work_bytes - batch->offset_base;
		is_extension = offset > 63 * size || offset % size != 0;
		batch->next_extends = is_extension;
	}
	if (is_new || is_extension) {
		batch = &args->batches[launch->batch_count];
		channel->batches[channel->count++] = (uint16_t) launch->batch_count++;
		batch->work_type = type & 3;
		batch->function = number & 0x7fff;
		batch->offset_base = (uint32_t) args->work_bytes;
		offset = 0;
	}
	if (is_new) {
		channel->work_bytes = 0;
		channel->round_count = 0;
		channel->p2p_batches += type == WORK_P2P;
	}
	batch->offset_bits |= 1ULL << (offset / size);
	channel->work_bytes += size;
	if (type == WORK_P2P)
		channel->rounds[channel->round_count++] = round;
	launch->channel_mask |= 1ULL << index;
}

static bool append_work(struct mini_arguments *args, const void *work, size_t size)
{
	char *works = realloc(args->works, args->work_bytes + size);

	if (!works)
		return false;
	memcpy(works + args->work_bytes, work, size);
	args->works = works;
	args->work_bytes += size;
	return true;
}

/* The kernel is that of the last function before one that has a kernel of its own. */
static void choose_kernel(struct mini_launch *launch,
			  const struct mini_device_function *f)
{
	if (launch->has_own_kernel)
		return;
	launch->kernel = f->kernel;
	launch->has_own_kernel = f->is_own_kernel;
}

bool mini_launch_fits(const struct mini_launch *launch, unsigned int batches,
		      size_t work_bytes)
{
	size_t room = MINI_ARGUMENT_BYTES - sizeof(struct head) - sizeof(struct tail);
	size_t batch_bytes = batches * sizeof(struct batch);

	if (launch) {
		batch_bytes += launch->batch_count * sizeof(struct batch);
		work_bytes += launch->arguments->work_bytes;
	}
	return batch_bytes + work_bytes <= room ||
	       (batch_bytes <= room && work_bytes <= MINI_FIFO_BYTES / 2);
}

static bool add_part(struct mini_launch *launch, struct mini_plan *plan,
		     struct mini_work *work, int channel)
{
	struct mini_part *parts;
	size_t count = plan->part_count;

	/* Doubled where a power of two is full. */
	if ((count & (count - 1)) == 0) {
		parts = realloc(plan->parts, 2 * (count + 1) * sizeof(*parts));
		if (!parts)
			return false;
		plan->parts = parts;
	}
	plan->parts[plan->part_count++] = (struct mini_part){
		.work = work,
		.channel = channel,
		.batch = launch->arguments->channels[channel].p2p_batches,
	};
	plan->channel_mask |= 1ULL << channel;
	return true;
}

/* All channels of a work, as many as its wider side has. */
static uint64_t channels_of(const struct ncclComm *comm, const struct mini_work *work)
{
	const struct mini_pair *pair = &work->pair;
	uint64_t mask = 0;
	int channels = 0;
	int direction;
	int part;

	if (!work->is_pair)
		return work->coll.op->channels;
	for (direction = 0; direction < MINI_DIRECTIONS; direction++) {
		if (pair->sides[direction].channels > channels)
			channels = pair->sides[direction].channels;
	}
	for (part = 0; part < channels; part++)
		mask |= 1ULL << mini_topology_channel(comm, pair->base, part);
	return mask;
}

static const struct mini_op *any_op(const struct mini_pair *pair)
{
	const struct mini_op *send = pair->sides[MINI_SENDING].op;

	return send ? send : pair->sides[MINI_RECEIVING].op;
}

bool mini_launch_add(struct mini_launch *launch, struct mini_plan *plan,
		     struct mini_work *work)
{
	struct mini_arguments *args = launch->arguments;
	const struct mini_op *op = work->is_pair ? any_op(&work->pair) : work->coll.op;
	struct mini_device_function f = mini_device_function(op);
	size_t size = work->is_pair ? MINI_P2P_BYTES : mini_coll_bytes();
	uint64_t mask = channels_of(args->comm, work);
	int warps = work->is_pair ? P2P_WARPS : work->coll.warps;
	char bytes[MINI_MOST_WORK_BYTES];
	int i;

	for (i = 0; i < MINI_MAX_CHANNELS; i++) {
		if (!(mask >> i & 1))
			continue;
		add_to_channel(launch, (unsigned int) i,
			       work->is_pair ? WORK_P2P : WORK_COLL,
			       mini_batch_function(op, f.number), size, work->pair.round);
		if (!add_part(launch, plan, work, i))
			return false;
	}
	choose_kernel(launch, &f);
	if ((unsigned int) warps * 32 > launch->threads)
		launch->threads = (unsigned int) warps * 32;
	if (work->is_pair)
		launch->op_count +=
			(unsigned int) (work->pair.sides[MINI_SENDING].op != NULL) +
			(unsigned int) (work->pair.sides[MINI_RECEIVING].op != NULL);
	else
		launch->op_count++;
	if (work->is_pair)
		mini_write_pair(bytes, &work->pair, args->comm->topology->p2p_channels);
	else
		mini_write_coll(bytes, args->comm, &work->coll);
	return append_work(args, bytes, size);
}

/* One batch of each channel in turn, so that a channel's first is at its rank. */
static void write_batches(const struct mini_arguments *args, struct batch *to,
			  uint32_t cursor)
{
	struct batch *previous[MINI_MAX_CHANNELS] = {NULL};
	unsigned int written = 0;
	unsigned int round;
	bool has_more = true;
	int c;

	for (round = 0; has_more; round++) {
		has_more = false;
		for (c = 0; c < MINI_MAX_CHANNELS; c++) {
			if (round >= args->channels[c].count)
				continue;
			has_more = true;
			to[written] = args->batches[args->channels[c].batches[round]];
			to[written].offset_base += cursor;
			if (previous[c])
				previous[c]->next_jump =
					(uint32_t) (&to[written] - previous[c]) & 0x3fff;
			previous[c] = &to[written++];
		}
	}
}

/* Works that do not fit go round in a ring that the device reads. */
static void write_fifo(struct mini_arguments *args, struct head *head)
{
	struct ncclComm *comm = args->comm;
	size_t i;

	head->work_buffer = comm->device_comm->fifo;
	head->work_mask = MINI_FIFO_BYTES - 1;
	for (i = 0; i < args->work_bytes; i++)
		comm->device_comm->fifo[(comm->fifo_produced + i) & head->work_mask] =
			args->works[i];
	comm->fifo_produced += (uint32_t) args->work_bytes;
}

bool mini_launch_finish(struct mini_launch *launch, struct mini_plan *plan,
			bool is_captured)
{
	struct mini_arguments *args = launch->arguments;
	size_t size = sizeof(struct head) + launch->batch_count * sizeof(struct batch);
	struct tail tail = {plan, 0};
	uint32_t cursor = 0;
	struct head *head;

	if (mini_launch_is_ring())
		return mini_launch_finish_ring(launch, plan, is_captured);
	if (size + args->work_bytes + sizeof(tail) <= MINI_ARGUMENT_BYTES)
		launch->storage = MINI_IN_ARGUMENTS;
	else
		launch->storage = is_captured ? MINI_PERSISTENT : MINI_IN_FIFO;
	launch->size = size + sizeof(tail) +
		       (launch->storage == MINI_IN_ARGUMENTS ? args->work_bytes : 0);
	launch->buffer = calloc(1, launch->size);
	if (!launch->buffer)
		return false;
	head = (struct head *) launch->buffer;
	head->comm = args->comm->device_comm;
	head->channel_mask = launch->channel_mask;
	head->storage = (uint8_t) launch->storage;
	head->work_mask = UINT32_MAX;
	if (launch->storage == MINI_IN_ARGUMENTS) {
		cursor = (uint32_t) size;
		memcpy(launch->buffer + size, args->works, args->work_bytes);
	} else if (launch->storage == MINI_IN_FIFO) {
		cursor = args->comm->fifo_produced;
		write_fifo(args, head);
	} else {
		/* The graph's, which may be launched as long as the process lives. */
		head->work_buffer = args->works;
		args->works = NULL;
	}
	write_batches(args, (struct batch *) (head + 1), cursor);
	memcpy(launch->buffer + launch->size - sizeof(tail), &tail, sizeof(tail));
	return true;
}

void mini_arguments_run(const void *arguments, size_t size)
{
	struct mini_plan *plan;
	struct tail tail;

	if (mini_launch_is_ring()) {
		memcpy(&plan, (const char *) arguments + MINI_RING_PARAMETER_BYTES,
		       sizeof(plan));
		mini_plan_kernel(plan);
		return;
	}
	if (size < sizeof(struct head) + sizeof(tail))
		return;
	memcpy(&tail, (const char *) arguments + size - sizeof(tail), sizeof(tail));
	mini_plan_kernel(tail.plan);
}
