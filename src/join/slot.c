/* SPDX-License-Identifier: MIT */
/*
 * A slot is kept until every rank is there and has gone on to a later number:
 * until then a second call of a rank may claim the number, and which of them is
 * real is known only then.
 */
#include "join/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The channel of a communicator's collectives, in place of two ranks. */
#define COLLECTIVES UINT64_MAX

/* What counts its numbers apart: collectives, or messages between two ranks. */
struct tap_channel {
	struct tap_comm *comm;
	bool has_peers;
	struct tap_channel *next; /* of all */
};

/* One rank's numbers in a channel. */
struct tap_sequence {
	struct tap_member *member;
	enum tap_name_kind kind;
	int64_t peer;
	uint64_t last;		     /* the highest number that counted, 0 none */
	struct tap_queue *slot;	     /* of that number, while it is held */
	struct tap_queue *unplaced;  /* calls, while its rank is not known */
	struct tap_channel *channel; /* NULL not asked yet */
	struct tap_sequence *next;   /* of all */
};

/* ---- Queues ---- */

struct tap_queue *tap_queue_make(struct tap_links *links, enum tap_queue_kind kind)
{
	struct tap_queue *queue = links->free_queues;

	if (queue)
		links->free_queues = queue->newer;
	else
		queue = malloc(sizeof(*queue));
	if (!queue)
		return NULL;
	memset(queue, 0, sizeof(*queue));
	queue->kind = kind;
	queue->end = &queue->first;
	queue->older = links->newest;
	if (links->newest)
		links->newest->newer = queue;
	else
		links->oldest = queue;
	links->newest = queue;
	return queue;
}

static void drop_queue(struct tap_links *links, struct tap_queue *queue)
{
	if (queue->kind == TAP_QUEUE_GROUP)
		tap_table_remove(&links->groups, queue->a, queue->b);
	else if (queue->kind == TAP_QUEUE_SLOT)
		tap_table_remove(&links->slots, queue->a, queue->b);
	else if (queue->kind == TAP_QUEUE_UNSURE)
		queue->member->unsure = NULL;
	else
		queue->sequence->unplaced = NULL;
	if (queue->older)
		queue->older->newer = queue->newer;
	else
		links->oldest = queue->newer;
	if (queue->newer)
		queue->newer->older = queue->older;
	else
		links->newest = queue->older;
	queue->newer = links->free_queues;
	links->free_queues = queue;
}

void tap_queue_append(struct tap_queue *queue, struct tap_held *held)
{
	held->next = NULL;
	*queue->end = held;
	queue->end = &held->next;
	queue->count++;
}

struct tap_held *tap_queue_empty(struct tap_links *links, struct tap_queue *queue)
{
	struct tap_held *first = queue->first;

	drop_queue(links, queue);
	return first;
}

void tap_held_forget(struct tap_links *links, struct tap_held *held)
{
	held->next = links->free_held;
	links->free_held = held;
	links->held--;
}

void tap_held_forget_all(struct tap_links *links, struct tap_held *held)
{
	struct tap_held *next;

	for (; held; held = next) {
		next = held->next;
		tap_held_forget(links, held);
	}
}

/* ---- Numbers ---- */

static struct tap_sequence *find_sequence(struct tap_links *links, struct tap_held *held)
{
	enum tap_name_kind kind = held->name->kind;
	bool has_peer = kind == TAP_NAME_SEND || kind == TAP_NAME_RECEIVE;
	uint64_t b =
		has_peer ? (uint64_t) kind << 32 | (uint32_t) held->peer : COLLECTIVES;
	struct tap_sequence *sequence = held->member->sequence;

	if (has_peer || !sequence)
		sequence = tap_table_find(&links->sequences, held->member->number, b);
	if (sequence)
		return sequence;
	sequence = calloc(1, sizeof(*sequence));
	if (!sequence)
		return NULL;
	if (tap_table_set(&links->sequences, held->member->number, b, sequence)) {
		free(sequence);
		return NULL;
	}
	sequence->member = held->member;
	sequence->kind = has_peer ? kind : TAP_NAME_COLLECTIVE;
	sequence->peer = held->peer;
	sequence->next = links->all_sequences;
	links->all_sequences = sequence;
	if (!has_peer)
		held->member->sequence = sequence;
	return sequence;
}

static bool has_peers(const struct tap_sequence *sequence)
{
	return sequence->kind != TAP_NAME_COLLECTIVE;
}

/* Where the rank's numbers meet those of others.  NULL when memory is short. */
static struct tap_channel *find_channel(struct tap_links *links,
					struct tap_sequence *sequence)
{
	struct tap_channel *channel = sequence->channel;
	uint32_t rank = (uint32_t) sequence->member->rank, peer = sequence->peer;
	struct tap_comm *comm;
	uint64_t b;

	if (channel && !channel->comm->united)
		return channel;
	comm = tap_member_comm(sequence->member);
	b = !has_peers(sequence)	      ? COLLECTIVES
	    : sequence->kind == TAP_NAME_SEND ? (uint64_t) rank << 32 | peer
					      : (uint64_t) peer << 32 | rank;
	channel = tap_table_find(&links->channels, comm->number, b);
	if (!channel) {
		channel = calloc(1, sizeof(*channel));
		if (!channel)
			return NULL;
		if (tap_table_set(&links->channels, comm->number, b, channel)) {
			free(channel);
			return NULL;
		}
		channel->comm = comm;
		channel->has_peers = has_peers(sequence);
		channel->next = links->all_channels;
		links->all_channels = channel;
	}
	sequence->channel = channel;
	return channel;
}

/* Numbers between the last and this one are in no call that was seen. */
static void count_missing(struct tap_links *links, struct tap_sequence *sequence,
			  uint64_t number)
{
	struct tap_member *member = sequence->member;
	uint64_t missing = number - sequence->last - 1, told = member->collectives;
	uint64_t not_recorded = 0;

	if (!sequence->last || !missing)
		return;
	/* They had been counted when recording began, or began again. */
	if (!has_peers(sequence) && told > sequence->last)
		not_recorded = told < number ? told - sequence->last : missing;
	missing -= not_recorded;
	member->missing += missing;
	member->not_recorded += not_recorded;
	links->loss->missing_operations += missing;
	links->loss->not_recorded_operations += not_recorded;
}

/* ---- Slots ---- */

static void count_unmatched(struct tap_links *links, struct tap_comm *comm)
{
	links->loss->unmatched_operations++;
	comm->unmatched++;
}

void tap_slots_count_unmatched(struct tap_links *links, const struct tap_queue *queue)
{
	const struct tap_held *held;

	for (held = queue->first; held; held = held->next)
		count_unmatched(links, tap_member_comm(held->member));
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

/* In order: the send first, or by rank.  Returns 0 or -ENOMEM. */
static int set_ends(struct tap_links *links, const struct tap_queue *slot,
		    struct tap_link *link)
{
	struct tap_link_end *ends = links->ends;
	const struct tap_held *held;

	if (slot->count > links->end_room) {
		ends = realloc(ends, slot->count * 2 * sizeof(*ends));
		if (!ends)
			return -ENOMEM;
		links->ends = ends;
		links->end_room = slot->count * 2;
	}
	link->ends = ends;
	link->known = TAP_KNOWN_EXACT;
	for (held = slot->first; held; held = held->next) {
		ends->member = held->member;
		ends->name = held->name;
		ends->call_id = held->call_id;
		ends->rank = held->member->rank;
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
		qsort(links->ends, link->count, sizeof(*links->ends), compare_ends);
	}
	return 0;
}

/* Two handles of one rank, as when a trace is there twice, are no two ranks. */
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

static bool is_mismatch(const struct tap_link *link)
{
	size_t i;

	for (i = 1; i < link->count; i++)
		if (link->ends[i].name->operation != link->ends[0].name->operation)
			return true;
	return false;
}

int tap_slot_emit(struct tap_links *links, struct tap_queue *slot)
{
	struct tap_comm *comm = tap_comm_root(slot->channel->comm);
	struct tap_link link = {.comm = comm, .op_number = slot->b};
	bool is_ambiguous = slot->is_ambiguous;
	struct tap_held *held;
	int ret;

	ret = set_ends(links, slot, &link);
	if (ret)
		return ret;
	for (held = slot->first; held; held = held->next)
		if (held->sequence->slot == slot)
			held->sequence->slot = NULL;
	link.nranks = comm->nranks;
	link.is_complete = link.nranks >= 0 && (uint64_t) link.nranks <= link.count;
	if (slot->channel->has_peers) {
		link.kind = TAP_LINK_SEND_RECV;
		link.is_complete = true;
	}
	tap_held_forget_all(links, tap_queue_empty(links, slot));
	if (is_ambiguous || is_rank_twice(&link)) {
		links->loss->ambiguous_operations++;
		comm->ambiguous++;
		return 0;
	}
	if (link.count == 1) {
		/* A rank that is alone in its communicator lacks nobody. */
		if (link.kind == TAP_LINK_SEND_RECV || link.nranks != 1)
			count_unmatched(links, comm);
		return 0;
	}
	link.operation = link.ends[0].name->operation;
	if (link.kind == TAP_LINK_COLLECTIVE_RANKS && is_mismatch(&link)) {
		link.is_mismatch = true;
		link.operation = NULL;
		links->loss->mismatched_operations++;
		comm->mismatched++;
	}
	if (link.is_complete)
		comm->linked++;
	else
		comm->incomplete++;
	return links->link ? links->link(links->data, &link) : 0;
}

/* Emits a slot when all ranks are there and have gone on. */
static int emit_if_done(struct tap_links *links, struct tap_queue *slot)
{
	int64_t nranks =
		slot->channel->has_peers ? 2 : tap_comm_root(slot->channel->comm)->nranks;

	if (links->is_settling || nranks < 0 || slot->count < (uint64_t) nranks ||
	    slot->passed < slot->count)
		return 0;
	return tap_slot_emit(links, slot);
}

/* The rank has gone on from the last number that it used. */
static int pass(struct tap_links *links, struct tap_sequence *sequence)
{
	struct tap_queue *slot = sequence->slot;

	if (!slot)
		return 0;
	sequence->slot = NULL;
	slot->passed++;
	return emit_if_done(links, slot);
}

/* Two calls of one rank have one number.  Takes the newer one. */
static void settle_claim(struct tap_links *links, struct tap_queue *slot,
			 struct tap_held *older, struct tap_held *newer)
{
	if (!older->is_weak && !newer->is_weak) {
		slot->is_ambiguous = true;
	} else if (older->is_weak) {
		/* Had the older one counted, its number would not have come again. */
		older->name = newer->name;
		older->call_id = newer->call_id;
		older->is_weak = newer->is_weak;
	}
	tap_held_forget(links, newer);
}

/* Puts a call into the slot of its number; it is given to the slot, or forgotten. */
static int place(struct tap_links *links, struct tap_held *held, bool is_new)
{
	struct tap_sequence *sequence = held->sequence;
	struct tap_channel *channel = find_channel(links, sequence);
	struct tap_queue *slot;
	struct tap_held *other = NULL;

	if (!channel)
		goto short_of_memory;
	slot = tap_table_find(&links->slots, (uintptr_t) channel, held->number);
	if (!slot && !is_new) {
		/* The number has been dealt with. */
		if (held->is_weak) {
			count_unmatched(links, tap_member_comm(held->member));
		} else {
			links->loss->ambiguous_operations++;
			tap_member_comm(held->member)->ambiguous++;
		}
		tap_held_forget(links, held);
		return 0;
	}
	if (!slot) {
		slot = tap_queue_make(links, TAP_QUEUE_SLOT);
		if (!slot)
			goto short_of_memory;
		slot->channel = channel;
		slot->a = (uintptr_t) channel;
		slot->b = held->number;
		if (tap_table_set(&links->slots, slot->a, slot->b, slot)) {
			drop_queue(links, slot);
			goto short_of_memory;
		}
	} else if (!is_new) {
		for (other = slot->first; other; other = other->next)
			if (other->sequence == sequence)
				break;
	}
	if (other) {
		settle_claim(links, slot, other, held);
		return 0;
	}
	tap_queue_append(slot, held);
	if (held->number == sequence->last) {
		sequence->slot = slot;
		return 0;
	}
	slot->passed++;
	return emit_if_done(links, slot);

short_of_memory:
	tap_held_forget(links, held);
	return -ENOMEM;
}

int tap_slots_file(struct tap_links *links, struct tap_held *held)
{
	struct tap_sequence *sequence = find_sequence(links, held);
	struct tap_member *member = held->member;
	bool is_new;
	int ret = 0;

	held->sequence = sequence;
	if (sequence && has_peers(sequence) && member->rank < 0) {
		if (!sequence->unplaced)
			sequence->unplaced = tap_queue_make(links, TAP_QUEUE_UNPLACED);
		if (sequence->unplaced) {
			sequence->unplaced->sequence = sequence;
			tap_queue_append(sequence->unplaced, held);
			return 0;
		}
		sequence = NULL;
	}
	if (!sequence) {
		tap_held_forget(links, held);
		return -ENOMEM;
	}
	is_new = held->number > sequence->last;
	if (is_new) {
		count_missing(links, sequence, held->number);
		sequence->last = held->number;
		ret = pass(links, sequence);
	} else if (held->is_weak && held->number < sequence->last && member->missing) {
		/* It was long in coming, and taken for lost. */
		member->missing--;
		links->loss->missing_operations--;
	}
	if (ret) {
		tap_held_forget(links, held);
		return ret;
	}
	return place(links, held, is_new);
}

int tap_slots_file_all(struct tap_links *links, struct tap_held *held, bool is_weak)
{
	struct tap_held *next;
	int ret = 0;

	for (; held && !ret; held = next) {
		next = held->next;
		held->is_weak |= is_weak;
		ret = tap_slots_file(links, held);
	}
	tap_held_forget_all(links, held);
	return ret;
}

/* ---- What has become known late ---- */

static int replace(struct tap_links *links, struct tap_queue *slot)
{
	struct tap_held *held, *next;
	bool is_ambiguous = slot->is_ambiguous;
	int ret = 0;

	for (held = slot->first; held; held = held->next)
		if (held->sequence->slot == slot)
			held->sequence->slot = NULL;
	for (held = tap_queue_empty(links, slot); held && !ret; held = next) {
		next = held->next;
		ret = place(links, held, true);
		if (!ret && is_ambiguous) {
			slot = tap_table_find(&links->slots,
					      (uintptr_t) held->sequence->channel,
					      held->number);
			slot->is_ambiguous = true;
		}
	}
	tap_held_forget_all(links, held);
	return ret;
}

static void pass_those_over(struct tap_queue *slot)
{
	struct tap_held *held;

	for (held = slot->first; held; held = held->next) {
		if (!held->member->is_over || held->sequence->slot != slot)
			continue;
		held->sequence->slot = NULL;
		slot->passed++;
	}
}

int tap_slots_settle(struct tap_links *links)
{
	struct tap_queue *queue, *newer;
	int ret = 0;

	links->changes = links->comms->changes;
	/* Nothing is emitted here, so that the next queue stays where it is. */
	links->is_settling = true;
	for (queue = links->oldest; queue && !ret; queue = newer) {
		newer = queue->newer;
		if (queue->kind == TAP_QUEUE_UNPLACED &&
		    queue->sequence->member->rank >= 0)
			ret = tap_slots_file_all(links, tap_queue_empty(links, queue),
						 false);
		else if (queue->kind == TAP_QUEUE_SLOT && queue->channel->comm->united)
			ret = replace(links, queue);
	}
	links->is_settling = false;
	for (queue = links->oldest; queue && !ret; queue = newer) {
		newer = queue->newer;
		if (queue->kind != TAP_QUEUE_SLOT)
			continue;
		pass_those_over(queue);
		ret = emit_if_done(links, queue);
	}
	return ret;
}

void tap_slots_free(struct tap_links *links)
{
	struct tap_sequence *sequence;
	struct tap_channel *channel;

	while ((sequence = links->all_sequences)) {
		links->all_sequences = sequence->next;
		free(sequence);
	}
	while ((channel = links->all_channels)) {
		links->all_channels = channel->next;
		free(channel);
	}
	tap_table_free(&links->sequences);
	tap_table_free(&links->channels);
	tap_table_free(&links->slots);
}
