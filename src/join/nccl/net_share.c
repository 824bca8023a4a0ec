/* SPDX-License-Identifier: MIT */
/* All requests of a message must be known, or else none of its ranks has a part. */
#include "join/nccl/net_share.h"

#include <errno.h>

#include "join/model/context.h"
#include "join/nccl/net_channel.h"
#include "join/nccl/net_client.h"
#include "join/nccl/net_service.h"
#include "join/nccl/net_message.h"
#include "join/nccl/net_region.h"

/* ---- Numbers ---- */

/*
 * Whether requests may be of several ranks: what has no bytes is then of any of them.
 * Each request of one message is of another rank (attribution.c, find_empty()).
 */
static bool are_several(const struct tap_context *context,
			const struct tap_net_message *message)
{
	const struct tap_net_channel *channel = message->from->channel;

	return message->requests > 1 || message->to->shares.all.count > 1 ||
	       (channel &&
		tap_net_channel_is_shared(tap_context_state(context,
							    &tap_net_channels_layer),
					  channel));
}

/* The ranks' numbers go on elsewhere. */
static void leap(struct tap_net_shares *shares)
{
	size_t i;

	for (i = 0; i < shares->all.count; i++)
		shares->all.items[i].next += TAP_NET_SHARE_GAP;
}

/* One rank alone was seen, and had all requests; from now on only data are numbered. */
static void divide(struct tap_net_shares *shares)
{
	if (!shares->is_divided && shares->has_missed)
		leap(shares);
	shares->is_divided = true;
}

/*
 * Requests are missing.  As long as one rank alone has been seen they are taken for its
 * own.
 */
static void miss(struct tap_net_shares *shares, uint64_t count)
{
	shares->has_missed = true;
	if (shares->is_divided)
		leap(shares);
	else if (shares->all.count)
		shares->all.items[0].next += count;
}

/* NULL: memory is short. */
static struct tap_net_share *share_of(struct tap_net_shares *shares,
				      struct tap_net_client *client, uint64_t number)
{
	struct tap_net_share added = {.client = client, .next = 1};
	size_t i;

	for (i = 0; i < shares->all.count; i++)
		if (shares->all.items[i].client == client)
			return &shares->all.items[i];
	if (shares->all.count)
		divide(shares);
	else if (!shares->is_divided)
		added.next = number;
	if (tap_vec_add(&shares->all, added))
		return NULL;
	return &shares->all.items[shares->all.count - 1];
}

/* ---- Parts ---- */

/* NULL: unknown. */
static struct tap_net_client *client_of(const struct tap_context *context,
					const struct tap_net_message *message,
					unsigned int request)
{
	const struct tap_process *process = message->from->process;
	const struct tap_net_regions *regions =
		tap_context_state(context, &tap_net_regions_layer);
	const struct tap_net_clients *clients =
		tap_context_state(context, &tap_net_clients_layer);

	return tap_net_client_at(clients, process,
				 tap_net_regions_answered(regions, process,
							  message->sources[request]));
}

static void add(struct tap_net_message *message, struct tap_net_client *client,
		uint64_t bytes)
{
	struct tap_net_part *part = message->parts;

	while (part < message->parts + message->part_count && part->client != client)
		part++;
	if (part == message->parts + message->part_count)
		message->parts[message->part_count++] =
			(struct tap_net_part){.client = client};
	part->requests++;
	part->bytes += bytes;
	if (bytes > part->largest)
		part->largest = bytes;
}

/*
 * What has no bytes has no address, and is of no client.  Returns false where the rank of
 * a request that has some is not known.
 */
static bool find_parts(const struct tap_context *context, struct tap_net_message *message)
{
	struct tap_net_client *client;
	unsigned int i;

	for (i = 0; i < message->requests; i++) {
		client = message->lengths[i] ? client_of(context, message, i) : NULL;
		if (!client && message->lengths[i])
			return false;
		add(message, client, message->lengths[i]);
	}
	return true;
}

/* Whether a request of the message has no bytes. */
static bool has_empty(const struct tap_net_message *message)
{
	unsigned int i;

	for (i = 0; i < message->requests; i++)
		if (!message->lengths[i])
			return true;
	return false;
}

/* Numbers what the ranks have of the message.  Returns 0 or -ENOMEM. */
static int number_parts(struct tap_net_shares *shares, struct tap_net_message *message)
{
	struct tap_net_share *share;
	unsigned int i;

	for (i = 0; i < message->part_count; i++) {
		struct tap_net_part *part = &message->parts[i];

		if (!part->client) {
			part->number = message->number;
			continue;
		}
		share = share_of(shares, part->client, message->number);
		if (!share)
			return -ENOMEM;
		part->number = share->next;
		part->is_of_data = shares->is_divided;
		share->next += part->requests;
	}
	return 0;
}

int tap_net_share_split(const struct tap_context *context,
			struct tap_net_message *message)
{
	struct tap_net_shares *shares = &message->to->shares;
	const struct tap_net_services *services =
		tap_context_state(context, &tap_net_services_layer);

	if (!tap_net_services_may_share(services, &message->from->maker) ||
	    message->number <= shares->latest)
		return 0;
	if (are_several(context, message))
		divide(shares);
	if (shares->latest && message->number > shares->latest + 1)
		miss(shares, message->number - shares->latest - 1);
	shares->latest = message->number;
	if (!find_parts(context, message) ||
	    (!shares->is_divided && has_empty(message))) {
		message->part_count = 0;
		miss(shares, message->requests);
		return 0;
	}
	return number_parts(shares, message);
}

void tap_net_shares_free(struct tap_net_shares *shares)
{
	tap_vec_free(&shares->all);
}
