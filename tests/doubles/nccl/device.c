/* SPDX-License-Identifier: MIT */
/*
 * The channels of a kernel: each does its works in their order, transfers of one batch at
 * the same time.
 */
#include "device.h"

#include "comm.h"
#include "order.h"
#include "settings.h"
#include "strand.h"

#include <errno.h>
#include <stdlib.h>

struct block {
	int channel;
	/* Of the plan's parts, those of the channel; the first that has not begun. */
	size_t next;
	struct mini_strand *strands;
	struct mini_kernel_profile *profile;
	bool is_done;
};

struct mini_device {
	struct mini_plan *plan;
	struct block blocks[MINI_MAX_CHANNELS];
	int count;
	struct mini_scratch scratch;
	/* Where MININCCL_ORDER draws in which order channels are gone on with. */
	uint64_t order;
};

/* Each communicator has one, since one of its kernels runs at a time. */
static int find_scratch(struct mini_device *device, struct ncclComm *comm)
{
	size_t room = mini_protocol_room(MINI_LL128,
					 mini_protocol_buffer(MINI_LL128) / MINI_STEPS);
	size_t other =
		mini_protocol_room(MINI_LL, mini_protocol_buffer(MINI_LL) / MINI_STEPS);

	if (other > room)
		room = other;
	if (!comm->scratch)
		comm->scratch = malloc(2 * room);
	device->scratch.sum = comm->scratch;
	device->scratch.arrived = comm->scratch + room;
	return comm->scratch ? 0 : -ENOMEM;
}

int mini_device_create(struct mini_plan *plan)
{
	struct mini_device *device = calloc(1, sizeof(*device));
	int channel;

	if (!device)
		return -ENOMEM;
	device->plan = plan;
	device->order = (uint64_t) mini_number(SET_MININCCL_ORDER);
	for (channel = 0; channel < MINI_MAX_CHANNELS; channel++) {
		if (plan->channel_mask >> channel & 1)
			device->blocks[device->count++].channel = channel;
	}
	plan->device = device;
	return find_scratch(device, plan->comm);
}

static void drop_strands(struct block *block)
{
	struct mini_strand *strand;

	while (block->strands) {
		strand = block->strands;
		block->strands = strand->next;
		free(strand);
	}
}

void mini_device_destroy(struct mini_device *device)
{
	int i;

	if (!device)
		return;
	for (i = 0; i < device->count; i++) {
		drop_strands(&device->blocks[i]);
		free(device->blocks[i].profile);
	}
	free(device);
}

static const struct mini_part *next_part(const struct mini_plan *plan,
					 struct block *block)
{
	while (block->next < plan->part_count &&
	       plan->parts[block->next].channel != block->channel)
		block->next++;
	return block->next < plan->part_count ? &plan->parts[block->next] : NULL;
}

/* A collective, or the transfers of a batch. */
static int begin_works(struct mini_plan *plan, struct block *block)
{
	const struct mini_part *first = next_part(plan, block);
	const struct mini_part *part = first;
	int err = 0;

	MINI_PROFILE(kernel_end(block->profile));
	block->is_done = !first;
	if (first && !first->work->is_pair) {
		block->next++;
		MINI_PROFILE(kernel_begin(&block->profile, plan, first));
		return mini_collective_strands(plan->comm, &first->work->coll,
					       block->channel, &block->strands);
	}
	while (part && part->work->is_pair && part->batch == first->batch && !err) {
		MINI_PROFILE(kernel_begin(&block->profile, plan, part));
		err = mini_transfer_strands(plan->comm, &part->work->pair, block->channel,
					    &block->strands);
		block->next++;
		part = next_part(plan, block);
	}
	return err;
}

static int step_block(struct mini_device *device, struct block *block, bool *moved)
{
	struct mini_strand **place = &block->strands;
	struct mini_strand *strand;
	int res;

	if (!block->strands)
		return begin_works(device->plan, block);
	while (*place) {
		strand = *place;
		res = mini_strand_step(strand, &device->scratch, moved);
		if (res < 0)
			return res;
		if (res == 0) {
			place = &strand->next;
			continue;
		}
		*place = strand->next;
		free(strand);
		*moved = true;
	}
	return 0;
}

int mini_device_step(struct mini_device *device, bool *moved)
{
	int first = (int) mini_order(&device->order, (size_t) device->count);
	bool is_done = true;
	int err = 0;
	int i;

	for (i = 0; i < device->count && !err; i++) {
		struct block *block = &device->blocks[(first + i) % device->count];

		if (!block->is_done)
			err = step_block(device, block, moved);
		is_done = is_done && block->is_done;
	}
	return err ? err : is_done;
}
