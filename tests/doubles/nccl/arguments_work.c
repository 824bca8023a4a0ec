/* SPDX-License-Identifier: MIT */
/* Works of the argument buffer, as each release has them. */
#include "arguments_work.h"

#include "arguments.h"
#include "comm.h"
#include "release.h"

#include <string.h>

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

/* As from 2.23 to 2.29, and in 2.32. */
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

_Static_assert(sizeof(struct work_p2p) == MINI_P2P_BYTES, "a transfer is as NCCL's");
_Static_assert(sizeof(struct work_coll) == 96, "a collective is as NCCL's");

/* What differs between releases. */
struct form {
	int since;
	/* Of a collective; it has no offsets in the least, and padding in the largest. */
	size_t coll_bytes;
	/* Of works in a batch; since 2.29 on a device of an A100's kind. */
	size_t batch_bytes;
	/* The bits of a number above which NCCL's own number of the function stands. */
	int function_bits;
};

static const struct form *form_of_release(void)
{
	static const struct form forms[] = {
		{23200, 96, 8192, 11}, {23000, 128, 8192, 15}, {22900, 96, 8192, 15},
		{22300, 96, 1024, 15}, {0, 64, 1024, 15},
	};
	const struct form *form = forms;

	while (mini_release() < form->since)
		form++;
	return form;
}

size_t mini_batch_bytes(void)
{
	return form_of_release()->batch_bytes;
}

size_t mini_coll_bytes(void)
{
	return form_of_release()->coll_bytes;
}

/* In 2.32 with NCCL's ncclFunc_t, of which the wheel has the numbers. */
unsigned int mini_batch_function(const struct mini_op *op, unsigned int number)
{
	static const unsigned int functions[] = {
		[MINI_BROADCAST] = 0,	   [MINI_REDUCE] = 1,	  [MINI_ALL_GATHER] = 2,
		[MINI_REDUCE_SCATTER] = 3, [MINI_ALL_REDUCE] = 4, [MINI_SEND] = 5,
		[MINI_RECV] = 5,
	};

	if (form_of_release()->function_bits == 15)
		return number;
	return number | functions[op->function] << form_of_release()->function_bits;
}

/* Whether the kernel is to say when it begins and ends each channel's part, from 2.27 on. */
static bool is_profiled(const struct mini_op *op)
{
	return op->profile.mask & MINI_EVENT_KERNEL_CHANNEL;
}

static struct work_p2p p2p_work(const struct mini_pair *pair, int channels)
{
	const struct mini_side *send = &pair->sides[MINI_SENDING];
	const struct mini_side *receive = &pair->sides[MINI_RECEIVING];

	return (struct work_p2p){
		.send_address = send->op ? send->op->send : NULL,
		.recv_address = receive->op ? receive->op->recv : NULL,
		.send_bytes = send->bytes,
		.recv_bytes = receive->bytes,
		.send_rank = send->peer,
		.recv_rank = receive->peer,
		.channels = (uint8_t) channels,
		.channel_base = (uint8_t) pair->base,
		.send_channels = (uint8_t) send->channels,
		.recv_channels = (uint8_t) receive->channels,
		.chunk_sizes = {send->chunk_code, receive->chunk_code},
		.flags = (uint8_t) ((send->protocol == MINI_LL && send->op) |
				    (receive->protocol == MINI_LL && receive->op) << 1 |
				    is_profiled(receive->op ? receive->op : send->op)
					    << 6),
	};
}

/* Where the operator's argument is, how many hosts there are and how many ranks on each.
 */
static uint32_t coll_flags(const struct ncclComm *comm, const struct mini_coll *coll)
{
	bool is_one_host = comm->topology->nnodes == 1;
	bool is_alone = comm->topology->most_local_ranks == 1 && mini_release() >= 22400;

	return (coll->op->operation.scalar_at != NULL) | (uint32_t) is_one_host << 3 |
	       (uint32_t) is_alone << 6 | (uint32_t) is_profiled(coll->op) << 7;
}

uint64_t mini_operator_argument(const struct mini_operation *operation)
{
	return operation->scalar_at ? (uintptr_t) operation->scalar_at
				    : operation->scalar;
}

static struct work_coll coll_work(const struct ncclComm *comm,
				  const struct mini_coll *coll)
{
	size_t grain = mini_protocol_grain(coll->op->protocol);
	struct work_coll work = {
		.channel_low = (uint32_t) coll->first_channel & 0xff,
		.channel_high = (uint32_t) coll->last_channel & 0xff,
		.warps = (uint32_t) coll->warps & 0xff,
		.flags = coll_flags(comm, coll),
		.root = (uint32_t) coll->op->root,
		.recv = coll->op->recv,
		.send = coll->op->send,
		.operator_argument = mini_operator_argument(&coll->op->operation),
	};
	int part;

	for (part = 0; part < MINI_PARTS; part++) {
		work.counts[part] = coll->counts[part];
		work.chunk_grains |= (uint64_t) (coll->chunks[part] / grain)
				     << (21 * part);
	}
	return work;
}

/* Copies what the release has, to where it has it. */
static void copy_coll(char *to, const struct work_coll *work)
{
	const char *from = (const char *) work;
	enum { BUFFERS = 8, OFFSETS = 24, COUNTS = 56 };

	switch (mini_coll_bytes()) {
	case 64:
		memcpy(to, from, OFFSETS);
		memcpy(to + OFFSETS, from + COUNTS, sizeof(*work) - COUNTS);
		break;
	case 128:
		memset(to, 0, 128);
		memcpy(to, from, BUFFERS);
		memcpy(to + 24, from + BUFFERS, OFFSETS - BUFFERS);
		memcpy(to + 48, from + OFFSETS, sizeof(*work) - OFFSETS);
		break;
	default:
		memcpy(to, from, sizeof(*work));
	}
}

void mini_write_coll(char *to, const struct ncclComm *comm, const struct mini_coll *coll)
{
	struct work_coll work = coll_work(comm, coll);

	copy_coll(to, &work);
}

void mini_write_pair(char *to, const struct mini_pair *pair, int channels)
{
	struct work_p2p work = p2p_work(pair, channels);

	memcpy(to, &work, sizeof(work));
}
