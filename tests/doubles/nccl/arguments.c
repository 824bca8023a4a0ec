/* SPDX-License-Identifier: MIT */
/*
 * Fills the argument buffer by the rules of NCCL 2.28.9: works of one function that
 * follow each other on a channel share a batch, and the batches of the channels are
 * interleaved, each with the distance to the next of its channel.
 */
#include "arguments.h"

#include "comm.h"
#include "functions.h"
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORK_P2P = 0,
	WORK_COLL = 1,
	/* Of batches in one argument buffer, with room for the plan at its end. */
	MAX_BATCHES = (MINI_ARGUMENT_BYTES - 32 - 16) / 16,
	MAX_BATCH_BYTES = 1024,
	MAX_BATCH_P2P = 8
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

struct work_p2p {
	const void *send_address;
	void *recv_address;
	size_t send_bytes;
	size_t recv_bytes;
	int send_rank;
	int recv_rank;
	uint8_t channels;
	uint8_t channel_base;
	uint8_t send_channels;
	uint8_t recv_channels;
	uint8_t chunk_sizes[2];
	uint8_t flags;
	uint8_t pad;
};

struct work_coll {
	uint32_t channel_low : 8, channel_high : 8, warps : 8, flags : 8;
	uint32_t root;
	void *recv;
	const void *send;
	uintptr_t offsets[2];
	uintptr_t *remote[2];
	size_t counts[3];
	uint64_t chunk_grains;
	uint64_t operator_argument;
};

/* What follows everything that NCCL has. */
struct tail {
	struct mini_plan *plan;
	uint64_t pad;
};

_Static_assert(sizeof(struct head) == 32, "the head is as NCCL's");
_Static_assert(sizeof(struct batch) == 16, "a batch is as NCCL's");
_Static_assert(sizeof(struct work_p2p) == 48, "a transfer is as NCCL's");
_Static_assert(sizeof(struct work_coll) == 96, "a collective is as NCCL's");

struct channel {
	/* Of the batches of this channel, in order; indices into the list below. */
	uint16_t batches[MAX_BATCHES];
	unsigned int count;
	/* Of the last of them, extensions included. */
	size_t work_bytes;
	int peers[MAX_BATCH_P2P];
	int peer_count;
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

static bool shares_batch(const struct channel *channel, const struct batch *batch,
			 unsigned int type, unsigned int number, size_t size, int peer)
{
	int i;

	if (batch->work_type != type || batch->function != number ||
	    channel->work_bytes + size > MAX_BATCH_BYTES)
		return false;
	if (type != WORK_P2P)
		return true;
	for (i = 0; i < channel->peer_count; i++) {
		if (channel->peers[i] == peer)
			return false;
	}
	return channel->peer_count < MAX_BATCH_P2P;
}

static void add_to_channel(struct mini_launch *launch, unsigned int index,
			   unsigned int type, unsigned int number, size_t size, int peer)
{
	struct mini_arguments *args = launch->arguments;
	struct channel *channel = &args->channels[index];
	struct batch *batch = NULL;
	size_t offset = 0;
	bool is_new = true;
	bool is_extension = false;

	if (channel->count) {
		batch = &args->batches[channel->batches[channel->count - 1]];
		is_new = !shares_batch(channel, batch, type, number, size, peer);
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
		channel->peer_count = 0;
	}
	batch->offset_bits |= 1ULL << (offset / size);
	channel->work_bytes += size;
	if (type == WORK_P2P)
		channel->peers[channel->peer_count++] = peer;
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

static struct work_p2p p2p_work(const struct mini_op *op, int channels,
				unsigned int channel)
{
	bool is_send = op->function == MINI_SEND;
	size_t bytes = op->count * mini_type_size(op->type);

	return (struct work_p2p){
		.send_address = is_send ? op->send : NULL,
		.recv_address = is_send ? NULL : op->recv,
		.send_bytes = is_send ? bytes : (size_t) -1,
		.recv_bytes = is_send ? (size_t) -1 : bytes,
		.send_rank = is_send ? op->root : -1,
		.recv_rank = is_send ? -1 : op->root,
		.channels = (uint8_t) channels,
		.channel_base = (uint8_t) channel,
		.send_channels = is_send,
		.recv_channels = !is_send,
	};
}

/* The first and the last channel may have less to do than those between. */
static struct work_coll coll_work(const struct mini_op *op, size_t part, int channels,
				  int warps)
{
	struct work_coll work = {
		.channel_high = (uint32_t) (channels - 1) & 0xff,
		.warps = (uint32_t) warps & 0xff,
		.root = (uint32_t) op->root,
		.recv = op->recv,
		.send = op->send,
	};

	work.counts[0] = channels > 1 ? part : op->count;
	work.counts[1] = channels > 2 ? part : 0;
	work.counts[2] = channels > 1 ? op->count - part * (size_t) (channels - 1) : 0;
	return work;
}

static int warp_count(enum mini_protocol protocol)
{
	if (protocol == MINI_LL)
		return 16;
	return protocol == MINI_LL128 ? 20 : 17;
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

bool mini_launch_add(struct mini_launch *launch, const struct mini_op *op)
{
	struct mini_arguments *args = launch->arguments;
	const struct mini_device_function *f = mini_device_function(op);
	uint64_t mask = mini_op_channels(args->comm, op);
	bool is_p2p = mini_op_is_p2p(op);
	int warps = is_p2p ? 20 : warp_count(f->protocol);
	struct work_coll coll;
	struct work_p2p p2p;
	unsigned int i;

	/* To itself a rank sends on the first. */
	if (!mask)
		mask = 1;
	if (launch->batch_count + (unsigned int) __builtin_popcountll(mask) > MAX_BATCHES)
		return false;
	for (i = 0; i < MINI_MAX_CHANNELS; i++) {
		if (mask >> i & 1)
			add_to_channel(launch, i, is_p2p ? WORK_P2P : WORK_COLL,
				       f->number, is_p2p ? sizeof(p2p) : sizeof(coll),
				       op->root);
	}
	choose_kernel(launch, f);
	if ((unsigned int) warps * 32 > launch->threads)
		launch->threads = (unsigned int) warps * 32;
	launch->op_count++;
	if (is_p2p) {
		p2p = p2p_work(op, args->comm->channels,
			       (unsigned int) __builtin_ctzll(mask));
		return append_work(args, &p2p, sizeof(p2p));
	}
	coll = coll_work(op, mini_op_elements_per_channel(args->comm, op),
			 __builtin_popcountll(mask), warps);
	return append_work(args, &coll, sizeof(coll));
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
	struct tail tail;

	if (size < sizeof(struct head) + sizeof(tail))
		return;
	memcpy(&tail, (const char *) arguments + size - sizeof(tail), sizeof(tail));
	if (tail.plan)
		mini_plan_kernel(tail.plan);
}
