/* SPDX-License-Identifier: MIT */
/*
 * Keeps a slot until every rank is in it and has passed it: has made a call with a later
 * number that certainly counts.  Until then a second call of a rank may claim the slot's
 * number, and which of the two counts is unknown.
 */
#include "join/ranks/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The channel of a communicator's collectives, in place of two ranks. */
#define COLLECTIVES UINT64_MAX

/* One rank's numbers in a channel. */
struct tap_sequence {
	struct tap_member *member;
	enum tap_name_kind kind;
	int64_t peer;
	uint64_t last;	  /* the highest number that may count, 0 none */
	uint64_t certain; /* the highest that counts for certain, 0 none */
	/* Calls in slots with no certain number above theirs; the oldest first. */
	TAP_LIST(struct tap_held) unpassed;
	struct tap_queue *unplaced;  /* calls, while its rank is not known */
	struct tap_channel *channel; /* NULL: not looked up yet */
	struct tap_sequence *next;   /* of all */
};

/* ---- Queues ---- */

struct tap_queue *tap_queue_make(struct tap_links *links, enum tap_queue_kind kind)
{
	struct tap_queue *queue = tap_list_take_first(&links->unused, all);

	if (!queue)
		queue = malloc(sizeof(*queue));
	if (!queue)
		return NULL;
	memset(queue, 0, sizeof(*queue));
	queue->kind = kind;
	queue->end = &queue->first;
	tap_list_append(&links->queues, queue, all);
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
	tap_list_remove(&links->queues, queue, all);
	tap_list_prepend(&links->unused, queue, all);
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

/*
 * The channel where the rank's numbers meet those of others.  NULL when memory is short.
 */
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

/* Counts the numbers between the last and this one, which no recorded call has. */
static void count_missing(struct tap_links *links, struct tap_sequence *sequence,
			  uint64_t number)
{
	struct tap_member *member = sequence->member;
	uint64_t missing = number - sequence->last - 1, reported = member->collectives;
	uint64_t not_recorded = 0;

	if (!sequence->last || !missing)
		return;
	/* The tracer had counted these calls when recording began, or began again. */
	if (!has_peers(sequence) && reported > sequence->last)
		not_recorded = reported < number ? reported - sequence->last : missing;
	missing -= not_recorded;
	member->missing += missing;
	member->not_recorded += not_recorded;
	links->context->loss.missing_operations += missing;
	links->context->loss.not_recorded_operations += not_recorded;
}

/* ---- Slots ---- */

void tap_held_pass(struct tap_held *held)
{
	if (held->has_passed)
		return;
	held->has_passed = true;
	tap_list_remove(&held->sequence->unpassed, held, unpassed);
}

/* Emits a slot when all ranks are in it and have passed it. */
static int emit_if_done(struct tap_links *links, struct tap_queue *slot)
{
	int64_t nranks =
		slot->channel->has_peers ? 2 : tap_comm_root(slot->channel->comm)->nranks;

	if (links->is_settling || nranks < 0 || slot->count < (uint64_t) nranks ||
	    slot->passed < slot->count)
		return 0;
	return tap_slot_emit(links, slot);
}

/* Marks the rank's calls with lower numbers as passed. */
static int pass(struct tap_links *links, struct tap_sequence *sequence, uint64_t number)
{
	struct tap_held *held;
	int ret = 0;

	while (!ret && (held = sequence->unpassed.first) && held->number < number) {
		tap_held_pass(held);
		held->slot->passed++;
		ret = emit_if_done(links, held->slot);
	}
	return ret;
}

/* Decides between two calls of one rank with one number.  Takes the newer one. */
static void settle_claim(struct tap_links *links, struct tap_queue *slot,
			 struct tap_held *older, struct tap_held *newer)
{
	if (!older->is_weak && !newer->is_weak) {
		slot->is_ambiguous = true;
	} else if (older->is_weak) {
		/* Had the older one counted, its number would not have come again. */
		older->name = newer->name;
		older->call_id = newer->call_id;
		older->facts = newer->facts;
		older->is_weak = newer->is_weak;
	}
	tap_held_forget(links, newer);
}

/* Finds or makes the slot of a number.  NULL when memory is short. */
static struct tap_queue *get_slot(struct tap_links *links, struct tap_channel *channel,
				  uint64_t number)
{
	uint64_t a = (uintptr_t) channel;
	struct tap_queue *slot = tap_table_find(&links->slots, a, number);

	if (slot)
		return slot;
	slot = tap_queue_make(links, TAP_QUEUE_SLOT);
	if (!slot)
		return NULL;
	slot->channel = channel;
	slot->a = a;
	slot->b = number;
	if (!tap_table_set(&links->slots, a, number, slot))
		return slot;
	drop_queue(links, slot);
	return NULL;
}

static void put(struct tap_queue *slot, struct tap_held *held)
{
	struct tap_sequence *sequence = held->sequence;

	tap_queue_append(slot, held);
	held->slot = slot;
	held->has_passed = held->number < sequence->certain;
	if (held->has_passed) {
		slot->passed++;
		return;
	}
	tap_list_append(&sequence->unpassed, held, unpassed);
}

/* Gives up a call whose number was settled before. */
static void give_up(struct tap_links *links, struct tap_held *held)
{
	struct tap_comm *comm = tap_member_comm(held->member);

	if (held->is_weak) {
		tap_slot_count_unmatched(links, comm);
	} else {
		links->context->loss.ambiguous_operations++;
		comm->ambiguous++;
	}
	tap_held_forget(links, held);
}

/* Places a call whose number is not above all others of its rank. */
static int place_again(struct tap_links *links, struct tap_channel *channel,
		       struct tap_held *held, bool is_settled)
{
	struct tap_member *member = held->member;
	struct tap_queue *slot =
		tap_table_find(&links->slots, (uintptr_t) channel, held->number);
	struct tap_held *other = slot ? slot->first : NULL;

	while (other && other->sequence != held->sequence)
		other = other->next;
	if (other) {
		settle_claim(links, slot, other, held);
		return 0;
	}
	if (!slot && is_settled) {
		give_up(links, held);
		return 0;
	}
	/* The number was counted as missing. */
	if (held->number < held->sequence->last && member->missing) {
		member->missing--;
		links->context->loss.missing_operations--;
	}
	if (!slot)
		slot = get_slot(links, channel, held->number);
	if (!slot) {
		tap_held_forget(links, held);
		return -ENOMEM;
	}
	put(slot, held);
	return emit_if_done(links, slot);
}

/* Puts a call whose rank is known into the slot of its number. */
static int place(struct tap_links *links, struct tap_held *held)
{
	struct tap_sequence *sequence = held->sequence;
	struct tap_channel *channel = find_channel(links, sequence);
	bool is_settled = held->number <= sequence->certain;
	struct tap_queue *slot;
	int ret = channel ? 0 : -ENOMEM;

	if (!ret && !held->is_weak && !is_settled) {
		sequence->certain = held->number;
		ret = pass(links, sequence, held->number);
	}
	if (!ret && held->number <= sequence->last)
		return place_again(links, channel, held, is_settled);
	slot = ret ? NULL : get_slot(links, channel, held->number);
	if (!slot) {
		tap_held_forget(links, held);
		return ret ? ret : -ENOMEM;
	}
	count_missing(links, sequence, held->number);
	sequence->last = held->number;
	put(slot, held);
	return 0;
}

int tap_slots_file(struct tap_links *links, struct tap_held *held)
{
	struct tap_sequence *sequence = find_sequence(links, held);

	held->sequence = sequence;
	if (sequence && (!has_peers(sequence) || held->member->rank >= 0))
		return place(links, held);
	if (sequence && !sequence->unplaced) {
		sequence->unplaced = tap_queue_make(links, TAP_QUEUE_UNPLACED);
		if (sequence->unplaced)
			sequence->unplaced->sequence = sequence;
	}
	if (!sequence || !sequence->unplaced) {
		tap_held_forget(links, held);
		return -ENOMEM;
	}
	tap_queue_append(sequence->unplaced, held);
	return 0;
}

static int file_all(struct tap_links *links, struct tap_held *held)
{
	struct tap_held *next;
	int ret = 0;

	for (; held && !ret; held = next) {
		next = held->next;
		ret = tap_slots_file(links, held);
	}
	tap_held_forget_all(links, held);
	return ret;
}

/* ---- Missing ranks ---- */

/*
 * Whether the member has certainly not called this number.  A call of which there is no later one
 * may have been made before recording began; only of collectives a state dump tells how many.
 */
static bool has_not_come(struct tap_links *links, const struct tap_member *member,
			 uint64_t key, uint64_t number)
{
	const struct tap_sequence *sequence =
		tap_table_find(&links->sequences, member->number, key);

	if (sequence && sequence->last >= number)
		return false;
	if (key == COLLECTIVES)
		return member->collectives < number;
	return sequence || (member->is_made && !links->context->loss.is_window);
}

/* The key of the peer's sequence of a message. */
static uint64_t other_side(const struct tap_link_end *end)
{
	const enum tap_name_kind kind =
		end->name->kind == TAP_NAME_SEND ? TAP_NAME_RECEIVE : TAP_NAME_SEND;

	return (uint64_t) kind << 32 | (uint32_t) end->rank;
}

/* Whether the trace's end may lack calls without a sign of it. */
static bool may_lack_calls(const struct tap_loss *loss)
{
	return loss->discarded_events || loss->discarded_unknown ||
	       loss->damaged_streams || loss->malformed_events || loss->removed_chunks ||
	       loss->unsure_operations || (loss->discarded_packets && !loss->is_window);
}

bool tap_slot_is_pending(struct tap_links *links, const struct tap_link *link)
{
	const bool is_message = link->kind == TAP_LINK_SEND_RECV;
	const uint64_t key = is_message ? other_side(&link->ends[0]) : COLLECTIVES;
	const int64_t missing = is_message ? 1 : link->nranks - (int64_t) link->count;
	const struct tap_member *member;
	int64_t not_come = 0;

	if (!links->is_finishing || missing < 1 || may_lack_calls(&links->context->loss))
		return false;
	for (member = link->comm->members; member; member = member->next) {
		if (is_message ? member->rank != link->peer
			       : tap_link_has_rank(link, member->rank))
			continue;
		/* A second handle of a rank counts as one too many. */
		if (member->rank < 0 ||
		    !has_not_come(links, member, key, link->op_number))
			return false;
		not_come++;
	}
	return not_come == missing;
}

/* ---- Late knowledge ---- */

/* Moves the calls of a slot whose communicator was united with another. */
static int replace(struct tap_links *links, struct tap_queue *slot)
{
	bool is_ambiguous = slot->is_ambiguous;
	uint64_t number = slot->b;
	struct tap_held *held, *next;
	struct tap_channel *channel;
	struct tap_queue *to;

	for (held = slot->first; held; held = held->next)
		tap_held_pass(held);
	for (held = tap_queue_empty(links, slot); held; held = next) {
		next = held->next;
		channel = find_channel(links, held->sequence);
		to = channel ? get_slot(links, channel, number) : NULL;
		if (!to) {
			tap_held_forget_all(links, held);
			return -ENOMEM;
		}
		to->is_ambiguous |= is_ambiguous;
		put(to, held);
	}
	return 0;
}

static void pass_those_over(struct tap_queue *slot)
{
	struct tap_held *held;

	for (held = slot->first; held; held = held->next) {
		if (!held->member->is_over || held->has_passed)
			continue;
		tap_held_pass(held);
		slot->passed++;
	}
}

int tap_slots_settle(struct tap_links *links)
{
	struct tap_queue *queue, *after;
	int ret = 0;

	links->changes = links->context->comms.changes;
	/* Nothing is emitted here, so that the next queue stays where it is. */
	links->is_settling = true;
	for (queue = links->queues.first; queue && !ret; queue = after) {
		after = queue->all.after;
		if (queue->kind == TAP_QUEUE_UNPLACED &&
		    queue->sequence->member->rank >= 0)
			ret = file_all(links, tap_queue_empty(links, queue));
		else if (queue->kind == TAP_QUEUE_SLOT && queue->channel->comm->united)
			ret = replace(links, queue);
	}
	links->is_settling = false;
	for (queue = links->queues.first; queue && !ret; queue = after) {
		after = queue->all.after;
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
