/* SPDX-License-Identifier: MIT */
/* All requests of a message must be known, or else none of its ranks has a part. */
#include "join/nccl/net_share.h"

#include <errno.h>

#include "join/model/context.h"
#include "join/nccl/net_client.h"
#include "join/nccl/net_guest.h"
#include "join/nccl/net_message.h"
#include "join/nccl/net_region.h"

/* ---- Numbers ---- */

/*
 * Requests are missing.  As long as one rank alone has been seen they are taken for its
 * own.
 */
static void miss(struct tap_net_shares *shares, uint64_t count)
{
	size_t i;

	shares->has_missed = true;
	if (shares->all.count == 1)
		shares->all.items[0].next += count;
	else
		for (i = 0; i < shares->all.count; i++)
			shares->all.items[i].next += TAP_NET_SHARE_GAP;
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
	if (!shares->all.count)
		added.next = number;
	/* They may have been of this one. */
	if (shares->all.count == 1 && shares->has_missed)
		shares->all.items[0].next += TAP_NET_SHARE_GAP;
	if (tap_vec_add(&shares->all, added))
		return NULL;
	return &shares->all.items[shares->all.count - 1];
}

/* ---- Parts ---- */

/* What has no bytes has no address; NULL: unknown. */
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

/* Returns false where the rank of a request is not known. */
static bool find_parts(const struct tap_context *context, struct tap_net_message *message)
{
	struct tap_net_client *client;
	unsigned int i;

	for (i = 0; i < message->requests; i++) {
		client = client_of(context, message, i);
		if (!client)
			return false;
		add(message, client, message->lengths[i]);
	}
	return true;
}

int tap_net_share_split(const struct tap_context *context,
			struct tap_net_message *message)
{
	struct tap_net_shares *shares = &message->to->shares;
	const struct tap_net_guests *guests =
		tap_context_state(context, &tap_net_guests_layer);
	struct tap_net_share *share;
	unsigned int i;

	if (!tap_net_guests_are_there(guests, message->from->process, INT64_MIN) ||
	    message->number <= shares->latest)
		return 0;
	if (shares->latest && message->number > shares->latest + 1)
		miss(shares, message->number - shares->latest - 1);
	shares->latest = message->number;
	if (!find_parts(context, message)) {
		message->part_count = 0;
		miss(shares, message->requests);
		return 0;
	}
	for (i = 0; i < message->part_count; i++) {
		share = share_of(shares, message->parts[i].client, message->number);
		if (!share)
			return -ENOMEM;
		message->parts[i].number = share->next;
		share->next += message->parts[i].requests;
	}
	return 0;
}

void tap_net_shares_free(struct tap_net_shares *shares)
{
	tap_vec_free(&shares->all);
}
