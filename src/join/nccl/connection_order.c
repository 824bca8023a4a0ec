/* SPDX-License-Identifier: MIT */
/*
 * The ends with one thread, client, direction and other thread are a group.  A sender
 * that is not used may be for anything, so it makes the places of later ones doubtful.
 */
#include "join/nccl/connection_order.h"

#include <stdlib.h>

#include "join/nccl/net_client.h"

#define CHANNELS_MAX 64

/* ---- Groups ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t process_of(const struct tap_connection_end *end)
{
	return end ? end->about.process->number : UINT64_MAX;
}

static uint64_t thread_of(const struct tap_connection_end *end)
{
	return end ? (uint64_t) end->tid : 0;
}

/* The number of whom its sender was made for; 0: the process's own rank, or unknown. */
static uint64_t client_of(const struct tap_connection_end *end)
{
	const struct tap_connection_end *sender = end->about.is_send ? end : end->other;

	return sender && sender->may_be_others && sender->client ? sender->client->number
								 : 0;
}

static int compare_groups(const struct tap_connection_end *a,
			  const struct tap_connection_end *b)
{
	int order = compare_numbers(process_of(a), process_of(b));

	if (!order)
		order = compare_numbers(a->about.transport, b->about.transport);
	if (!order)
		order = compare_numbers(b->about.is_send, a->about.is_send);
	if (!order)
		order = compare_numbers(client_of(a), client_of(b));
	if (!order)
		order = compare_numbers(process_of(a->other), process_of(b->other));
	if (!order)
		order = compare_numbers(thread_of(a), thread_of(b));
	return order ? order : compare_numbers(thread_of(a->other), thread_of(b->other));
}

static int compare(const void *left, const void *right)
{
	const struct tap_connection_end *a =
		*(const struct tap_connection_end *const *) left;
	const struct tap_connection_end *b =
		*(const struct tap_connection_end *const *) right;
	int order = compare_groups(a, b);

	if (!order)
		order = compare_numbers(a->ordinal, b->ordinal);
	return order ? order : compare_numbers(a->about.net_id, b->about.net_id);
}

static void set_groups(struct tap_connection_end **ends, size_t count)
{
	size_t first, last, i;

	for (first = 0; first < count; first = last) {
		last = first + 1;
		while (last < count && !compare_groups(ends[first], ends[last]))
			last++;
		for (i = first; i < last; i++) {
			ends[i]->group = ends + first;
			ends[i]->group_count = last - first;
		}
	}
}

/* ---- Places ---- */

/* How many of its group were made before it, and how many are used. */
struct place {
	uint64_t before, used;
	bool is_doubtful;
};

static bool is_sure(enum tap_connection_use use)
{
	return use == TAP_CONNECTION_COLLECTIVES || use == TAP_CONNECTION_TRANSFERS;
}

static struct place place_of(const struct tap_connection_end *end)
{
	struct place place = {0};
	size_t i;

	for (i = 0; i < end->group_count; i++) {
		const struct tap_connection_end *one = end->group[i];
		const bool is_before = one->ordinal && one->ordinal < end->ordinal;

		if (one->use != end->use && is_sure(one->use) && is_sure(end->use))
			continue;
		if (one->is_used && one->use == end->use)
			place.used++;
		else
			place.is_doubtful |= is_before;
		place.before += is_before && one->is_used;
	}
	return place;
}

/* The channels that NCCL has for sends and receives. */
static uint64_t transfer_channels(const struct tap_connection_end *end)
{
	uint64_t channels = 1;

	while (channels < end->channels && channels < CHANNELS_MAX)
		channels *= 2;
	return channels > end->transfer_channels ? channels : end->transfer_channels;
}

/* Why the place at one end says nothing, or TAP_WHY_NONE. */
static enum tap_why doubt(const struct tap_connection_end *end, const struct place *place)
{
	if (end->tid < 0)
		return TAP_WHY_BEFORE;
	if (end->may_be_others || end->has_children || place->is_doubtful ||
	    end->use == TAP_CONNECTION_ANY)
		return TAP_WHY_AMBIGUOUS;
	if (!end->channels)
		return TAP_WHY_NOT_RECORDED;
	/* A peer may have some of the channels alone. */
	if (end->use == TAP_CONNECTION_TRANSFERS)
		return place->used == transfer_channels(end) ? TAP_WHY_NONE
							     : TAP_WHY_AMBIGUOUS;
	if (end->has_trees)
		return TAP_WHY_AMBIGUOUS;
	/* Other peers have the other channels; or this is no channel each. */
	if (place->used < end->channels)
		return TAP_WHY_AMBIGUOUS;
	if (end->use == TAP_CONNECTION_COLLECTIVES)
		return place->used > end->channels ? TAP_WHY_CONTRADICTED : TAP_WHY_NONE;
	/* As many as there are channels may be for either. */
	return place->used > end->channels && place->before < end->channels
		       ? TAP_WHY_NONE
		       : TAP_WHY_AMBIGUOUS;
}

static void infer(struct tap_connection_end *end)
{
	const struct tap_connection_end *sender = end->about.is_send ? end : end->other;
	struct place from, to;

	/* In a damaged trace one of the two may lead elsewhere. */
	if (!end->other || !end->other->other) {
		end->about.why = TAP_WHY_PEER_UNKNOWN;
		return;
	}
	from = place_of(sender);
	to = place_of(sender->other);
	to.before = from.before;
	end->about.why = doubt(sender, &from);
	if (!end->about.why)
		end->about.why = doubt(sender->other, &to);
	if (!end->about.why && !sender->ordinal)
		end->about.why = TAP_WHY_BEFORE;
	if (end->about.why)
		return;
	end->about.channel = (int64_t) from.before;
	end->about.index = end->use == TAP_CONNECTION_TRANSFERS;
	end->about.known = TAP_KNOWN_INFERRED;
}

void tap_connection_order(struct tap_connection_end **ends, size_t count, bool is_whole)
{
	size_t i;

	if (count)
		qsort(ends, count, sizeof(*ends), compare);
	set_groups(ends, count);
	for (i = 0; i < count; i++)
		if (ends[i]->is_used && ends[i]->about.channel < 0 && !is_whole)
			ends[i]->about.why = TAP_WHY_DROPPED;
		else if (ends[i]->is_used && ends[i]->about.channel < 0)
			infer(ends[i]);
}
