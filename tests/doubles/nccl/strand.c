/* SPDX-License-Identifier: MIT */
/* Primitives, slice by slice (NCCL 2.28.9, device/prims_simple.h, prims_ll.h,
 * prims_ll128.h). */
#include "strand.h"

#include "comm.h"
#include "reduce.h"

#include <errno.h>
#include <string.h>

/* How many slices are moved before the others have their turn. */
enum { MOST_AT_ONCE = 4 };

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int64_t round_up(int64_t step, int multiple)
{
	return (step + multiple - 1) / multiple * multiple;
}

int mini_strand_flow(struct ncclComm *comm, int peer, int channel, int index,
		     bool is_send, struct mini_flow **ret_flow)
{
	struct mini_end end = {peer, channel, index, is_send};
	struct mini_flow *flow = mini_proxy_flow(&comm->proxy, &end);

	*ret_flow = flow;
	return flow && !flow->is_broken ? 0 : -EIO;
}

int mini_strand_begin(struct mini_strand *strand)
{
	int steps = strand->slice_steps * strand->slices;
	int i;

	for (i = 0; i < strand->from_count; i++) {
		struct mini_flow *from = strand->froms[i];

		from->device_step = round_up(from->device_step, steps);
		mini_flow_set_head(from, from->device_step);
	}
	for (i = 0; i < strand->to_count; i++)
		strand->tos[i]->device_step =
			round_up(strand->tos[i]->device_step, steps);
	return 0;
}

static bool is_turn(const struct mini_strand *strand)
{
	int i;

	for (i = 0; strand->primitive.receives && i < strand->from_count; i++) {
		const struct mini_flow *from = strand->froms[i];

		if (mini_flow_tail(from) < from->device_step + strand->slice_steps)
			return false;
	}
	for (i = 0; strand->primitive.sends && i < strand->to_count; i++) {
		const struct mini_flow *to = strand->tos[i];

		if (mini_flow_head(to) + MINI_STEPS <
		    to->device_step + strand->slice_steps)
			return false;
	}
	return true;
}

static char *slot_of(const struct mini_strand *strand, const struct mini_flow *flow)
{
	return mini_flow_slot(flow, strand->protocol, flow->device_step);
}

/* Where what arrived lies without flags; NULL where a flag is missing. */
static const char *arrived(const struct mini_strand *strand, const struct mini_flow *from,
			   char *room, size_t bytes)
{
	const char *slot = slot_of(strand, from);

	if (strand->protocol == MINI_SIMPLE)
		return slot;
	return mini_protocol_load(strand->protocol, room, slot, bytes,
				  (uint64_t) from->device_step + 1)
		       ? room
		       : NULL;
}

/* Where the result is made: as near as can be to where it has to go. */
static char *result_at(const struct mini_strand *strand,
		       const struct mini_scratch *scratch)
{
	const struct mini_primitive *p = &strand->primitive;

	if (p->sends && strand->protocol == MINI_SIMPLE)
		return slot_of(strand, strand->tos[0]);
	if (p->target)
		return p->target + strand->offset * strand->type_size;
	return scratch->sum;
}

static void take_source(const struct mini_strand *strand, char *result, size_t count)
{
	const struct mini_operation *operation = &strand->op->operation;

	const char *source =
		strand->primitive.source + strand->offset * strand->type_size;

	if (result != source)
		memmove(result, source, count * strand->type_size);
	if (operation->kind == MINI_PRE_MUL_SUM)
		mini_reduce_multiply(result, count, strand->type, operation);
}

/* All that makes the result: what this rank has, and what the others have sent. */
static int gather(const struct mini_strand *strand, const struct mini_scratch *scratch,
		  char *result, size_t count)
{
	const struct mini_primitive *p = &strand->primitive;
	size_t bytes = count * strand->type_size;
	bool is_empty = !p->source;
	const char *data;
	int i;

	if (p->source)
		take_source(strand, result, count);
	for (i = 0; p->receives && i < strand->from_count; i++) {
		data = arrived(strand, strand->froms[i],
			       is_empty ? result : scratch->arrived, bytes);
		if (!data)
			return -EBADMSG;
		if (!is_empty)
			mini_reduce(result, data, count, strand->type,
				    &strand->op->operation);
		else if (data != result)
			memcpy(result, data, bytes);
		is_empty = false;
	}
	if (p->is_last && strand->op->operation.kind == MINI_SUM_POST_DIV)
		mini_reduce_divide(result, count, strand->type, strand->comm->nranks);
	return 0;
}

static void hand_out(const struct mini_strand *strand, const char *result, size_t count)
{
	const struct mini_primitive *p = &strand->primitive;
	size_t bytes = count * strand->type_size;
	char *target = p->target ? p->target + strand->offset * strand->type_size : NULL;
	int i;

	for (i = 0; p->sends && i < strand->to_count; i++) {
		struct mini_flow *to = strand->tos[i];
		char *slot = slot_of(strand, to);

		if (slot != result)
			mini_protocol_store(strand->protocol, slot, result, bytes,
					    (uint64_t) to->device_step + 1);
	}
	if (target && target != result)
		memmove(target, result, bytes);
}

static void pass_turn(struct mini_strand *strand, size_t bytes)
{
	size_t size = mini_protocol_wire(strand->protocol, bytes);
	int i;

	for (i = 0; strand->primitive.receives && i < strand->from_count; i++) {
		struct mini_flow *from = strand->froms[i];

		from->device_step += strand->slice_steps;
		mini_flow_set_head(from, from->device_step);
	}
	for (i = 0; strand->primitive.sends && i < strand->to_count; i++) {
		struct mini_flow *to = strand->tos[i];

		to->slots[to->device_step % MINI_STEPS].size = (int64_t) size;
		to->device_step += strand->slice_steps;
		mini_flow_set_tail(to, to->device_step);
	}
}

static int move_slice(struct mini_strand *strand, const struct mini_scratch *scratch)
{
	size_t count =
		smaller(strand->slice_size, strand->primitive.count - strand->offset);
	char *result;
	int err = 0;

	if (count > 0) {
		result = result_at(strand, scratch);
		err = gather(strand, scratch, result, count);
		if (!err)
			hand_out(strand, result, count);
	}
	if (err)
		return err;
	pass_turn(strand, count * strand->type_size);
	strand->offset += count;
	strand->slice++;
	return 0;
}

/* With SIMPLE a chunk is sent in slices, none of them too small. */
static size_t slice_size(const struct mini_strand *strand, size_t count)
{
	size_t parts = 16 * (size_t) strand->slices;
	size_t size = (count + parts - 1) / parts * 16;

	if (strand->protocol != MINI_SIMPLE)
		return count;
	return size > strand->slice_room / 32 ? size : strand->slice_room / 32;
}

static bool take_primitive(struct mini_strand *strand)
{
	struct mini_primitive *p = &strand->primitive;

	if (strand->has_primitive)
		return true;
	memset(p, 0, sizeof(*p));
	strand->has_primitive = strand->plan(strand, strand->number, p);
	strand->slice = 0;
	strand->offset = 0;
	strand->slice_size = slice_size(strand, p->count);
	return strand->has_primitive;
}

int mini_strand_step(struct mini_strand *strand, const struct mini_scratch *scratch,
		     bool *moved)
{
	int err = 0;
	int i;

	for (i = 0; i < MOST_AT_ONCE && !err; i++) {
		if (!take_primitive(strand))
			return 1;
		if (!is_turn(strand))
			return 0;
		err = move_slice(strand, scratch);
		*moved = true;
		if (strand->slice == strand->slices) {
			strand->has_primitive = false;
			strand->number++;
		}
	}
	return err;
}
