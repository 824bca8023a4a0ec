/* SPDX-License-Identifier: MIT */
/* Makes a link of a slot, or counts why there is none. */
#include "join/ranks/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

void tap_slot_count_unmatched(struct tap_links *links, struct tap_comm *comm)
{
	links->context->loss.unmatched_operations++;
	comm->unmatched++;
}

static int compare_ends(const void *left, const void *right)
{
	const struct tap_link_end *a = left, *b = right;
	uint64_t x = (uint64_t) a->rank, y = (uint64_t) b->rank;

	if (x == y) {
		x = a->member->number;
		y = b->member->number;
	}
	return x < y ? -1 : x > y;
}

/* Often the calls came in order of rank. */
static void sort_ends(struct tap_link_end *ends, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (compare_ends(&ends[i - 1], &ends[i]) > 0) {
			qsort(ends, count, sizeof(*ends), compare_ends);
			return;
		}
}

/* Sets the ends in order: the send first, or by rank.  Returns 0 or -ENOMEM. */
static int set_ends(struct tap_links *links, const struct tap_queue *slot,
		    struct tap_link *link)
{
	struct tap_link_end *ends;
	const struct tap_held *held;

	if (tap_array_reserve(links->ends, links->end_room, slot->count))
		return -ENOMEM;
	ends = links->ends;
	link->ends = ends;
	link->known = TAP_KNOWN_EXACT;
	for (held = slot->first; held; held = held->next) {
		memset(ends, 0, sizeof(*ends));
		ends->process = held->member->process;
		ends->member = held->member;
		ends->name = held->name;
		ends->call_id = held->call_id;
		ends->rank = held->member->rank;
		ends->facts = held->facts;
		ends++;
		if (held->is_weak)
			link->known = TAP_KNOWN_INFERRED;
	}
	link->count = slot->count;
	if (slot->channel->has_peers && link->count == 2 &&
	    link->ends[0].name->kind == TAP_NAME_RECEIVE) {
		struct tap_link_end send = links->ends[1];

		links->ends[1] = links->ends[0];
		links->ends[0] = send;
	} else if (!slot->channel->has_peers) {
		sort_ends(links->ends, link->count);
	}
	return 0;
}

/* Whether two handles are of one rank, as when a trace is read twice. */
static bool is_rank_twice(const struct tap_link *link)
{
	size_t i;

	if (link->kind == TAP_LINK_SEND_RECV)
		return link->count > 2 ||
		       (link->count == 2 &&
			link->ends[0].name->kind == link->ends[1].name->kind);
	for (i = 1; i < link->count; i++)
		if (link->ends[i].rank >= 0 &&
		    link->ends[i].rank == link->ends[i - 1].rank)
			return true;
	return false;
}

/* Numbers of user-made reductions begin here; each rank has its own. */
#define MADE_REDOPS 5

static bool differs(int64_t a, int64_t b)
{
	return a >= 0 && b >= 0 && a != b;
}

/*
 * How two calls contradict each other.  NCCL moves bytes where it does not reduce, so the
 * types of such calls may differ.
 */
static enum tap_mismatch compare_calls(const struct tap_link_end *left,
				       const struct tap_link_end *right)
{
	const struct tap_operation *a = &left->facts.operation,
				   *b = &right->facts.operation;

	if (left->name->operation != right->name->operation)
		return TAP_MISMATCH_FUNCTION;
	if (a->redop >= 0 && differs(a->datatype, b->datatype))
		return TAP_MISMATCH_DATATYPE;
	if (differs(tap_operation_bytes(a), tap_operation_bytes(b)))
		return TAP_MISMATCH_SIZE;
	if (a->redop < MADE_REDOPS && b->redop < MADE_REDOPS &&
	    differs(a->redop, b->redop))
		return TAP_MISMATCH_REDOP;
	return differs(a->root, b->root) ? TAP_MISMATCH_ROOT : TAP_MISMATCH_NONE;
}

/* Of calls that differ in several ways, the first in the order of the enumeration. */
static enum tap_mismatch find_mismatch(const struct tap_link *link)
{
	enum tap_mismatch mismatch = TAP_MISMATCH_NONE, one;
	size_t i;

	for (i = 1; i < link->count; i++) {
		one = compare_calls(&link->ends[0], &link->ends[i]);
		if (one && (!mismatch || one < mismatch))
			mismatch = one;
	}
	return mismatch;
}

/* Send and receive are two functions, and agree about bytes alone. */
static enum tap_mismatch find_message_mismatch(const struct tap_link *link)
{
	return link->count == 2 &&
			       differs(tap_operation_bytes(&link->ends[0].facts.operation),
				       tap_operation_bytes(&link->ends[1].facts.operation))
		       ? TAP_MISMATCH_SIZE
		       : TAP_MISMATCH_NONE;
}

/* Emits a defect; the program lacks the calls where the trace does not. */
static int note_defect(struct tap_links *links, struct tap_link *link)
{
	link->is_pending = tap_slot_is_pending(links, link);
	if (link->is_pending) {
		links->context->loss.incomplete_operations++;
		links->context->loss.incomplete_alone += link->count == 1;
	}
	return tap_emit_defect(links->context, link);
}

int tap_slot_emit(struct tap_links *links, struct tap_queue *slot)
{
	struct tap_comm *comm = tap_comm_root(slot->channel->comm);
	struct tap_link link = {.comm = comm,
				.op_number = slot->b,
				.peer = slot->first->peer};
	bool is_ambiguous = slot->is_ambiguous;
	struct tap_held *held;
	int ret;

	ret = set_ends(links, slot, &link);
	if (ret)
		return ret;
	for (held = slot->first; held; held = held->next)
		tap_held_pass(held);
	link.nranks = comm->nranks;
	link.is_complete = link.nranks >= 0 && (uint64_t) link.nranks <= link.count;
	if (slot->channel->has_peers) {
		link.kind = TAP_LINK_SEND_RECV;
		link.is_complete = true;
	}
	tap_held_forget_all(links, tap_queue_empty(links, slot));
	if (is_ambiguous || is_rank_twice(&link)) {
		links->context->loss.ambiguous_operations++;
		comm->ambiguous++;
		return 0;
	}
	if (link.count == 1) {
		/* No rank is missing from a communicator of one. */
		if (link.kind != TAP_LINK_SEND_RECV && link.nranks == 1)
			return 0;
		tap_slot_count_unmatched(links, comm);
		link.operation = link.ends[0].name->operation;
		return note_defect(links, &link);
	}
	link.operation = link.ends[0].name->operation;
	link.mismatch = link.kind == TAP_LINK_COLLECTIVE_RANKS
				? find_mismatch(&link)
				: find_message_mismatch(&link);
	if (link.mismatch == TAP_MISMATCH_FUNCTION) {
		link.is_mismatch = true;
		link.operation = NULL;
	}
	if (link.mismatch) {
		links->context->loss.mismatched_operations++;
		comm->mismatched++;
	}
	if (link.is_complete)
		comm->linked++;
	else
		comm->incomplete++;
	if (!link.is_complete || link.mismatch)
		ret = note_defect(links, &link);
	if (ret)
		return ret;
	return tap_emit_link(links->context, &link);
}
