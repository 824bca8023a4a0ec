/* SPDX-License-Identifier: MIT */
/*
 * A flush waits until all messages received before it are matched.  It then belongs to
 * the latest message at its address, unless an incomplete one may be there.
 */
#include "join/nccl/net_flush.h"

#include "join/model/context.h"
#include "join/model/link.h"
#include "join/nccl/net_span.h"
#include "join/rdma/observer.h"
#include "join/rdma/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Received messages of a connection that are kept for flushes. */
#define RECENT_MAX 512
/* Flushes whose message is not known yet. */
#define WAITING_MAX 256
/* Devices that NCCL merges into one, each with a queue pair for flushes. */
#define DEVICES_MAX 4

struct tap_net_recent {
	uint64_t number;
	uint64_t address;
	int64_t received_ns;
	uint64_t flushed_by[DEVICES_MAX]; /* queue pairs */
	unsigned int flush_count;
};

struct tap_net_flush {
	struct tap_work work;
	const struct tap_name *name;
	uint64_t address;
	int64_t begin_ns;
	uint64_t cts_number; /* latest CTS at that time */
	bool is_after_hole;  /* an earlier request is missing */
};

static int emit(struct tap_context *context, const struct tap_net *net,
		const struct tap_net_flush *flush, const struct tap_net_recent *recent,
		enum tap_why why)
{
	struct tap_link_end ends[2] = {
		{.process = net->process,
		 .name = tap_names_get(&context->names, "net", 3, "net_recv", 8),
		 .work = tap_net_work(net, TAP_WORK_NET_RECEIVE, recent->number),
		 .rank = -1},
		{.process = net->process,
		 .name = flush->name,
		 .work = flush->work,
		 .rank = -1}};
	const struct tap_link link = {.kind = TAP_LINK_FLUSH_MESSAGE,
				      .known = why ? TAP_KNOWN_INFERRED : TAP_KNOWN_EXACT,
				      .why = why,
				      .is_complete = true,
				      .nranks = -1,
				      .operation = flush->name,
				      .ends = ends,
				      .count = 2,
				      .begin_ns = recent->received_ns,
				      .end_ns = flush->begin_ns};

	if (!ends[0].name)
		return -ENOMEM;
	tap_count_match(context, TAP_MATCH_FLUSH_MESSAGE, link.known, why);
	return tap_emit_link(context, &link);
}

/* Whether this queue pair, and so its device, has flushed the message. */
static bool has_flushed(const struct tap_net_recent *recent, uint64_t qp_id)
{
	unsigned int i;

	for (i = 0; i < recent->flush_count; i++)
		if (recent->flushed_by[i] == qp_id)
			return true;
	return false;
}

/* Whether the flush may belong to a later message, which is incomplete. */
static bool may_be_later(const struct tap_net *net, const struct tap_net_recent *found,
			 const struct tap_net_flush *flush)
{
	unsigned int i;

	for (i = 0; i < TAP_NET_LOST; i++)
		if (net->flushes.lost[i] > found->number &&
		    net->flushes.lost[i] <= flush->cts_number)
			return true;
	return tap_net_message_may_be_at(net, flush->address, found->number,
					 flush->cts_number);
}

/* Links a flush to the latest message received before it at its address. */
static int take(struct tap_context *context, const struct tap_net *net,
		const struct tap_net_flush *flush)
{
	const struct tap_net_flushes *flushes = &net->flushes;
	const uint64_t kept =
		flushes->recent_count < RECENT_MAX ? flushes->recent_count : RECENT_MAX;
	struct tap_net_recent *recent, *found = NULL;
	enum tap_why why = TAP_WHY_NONE;
	uint64_t i;

	for (i = 0; i < kept; i++) {
		recent = &flushes->recent[i];
		if (recent->address == flush->address &&
		    recent->received_ns <= flush->begin_ns &&
		    (!found || found->number < recent->number))
			found = recent;
	}
	if (!found || has_flushed(found, flush->work.request.qp_id))
		why = TAP_WHY_PEER_MISSING;
	else if (may_be_later(net, found, flush))
		why = TAP_WHY_AMBIGUOUS;
	if (why) {
		if (net->is_proved)
			tap_count_unmatched(context, TAP_MATCH_FLUSH_MESSAGE, why);
		return 0;
	}
	if (found->flush_count < DEVICES_MAX)
		found->flushed_by[found->flush_count++] = flush->work.request.qp_id;
	/* The address alone also fits a message that is missing. */
	return emit(context, net, flush, found,
		    flushes->lost_count || flush->is_after_hole ? TAP_WHY_UNPROVED
								: TAP_WHY_NONE);
}

/* Drops the first `count` flushes. */
static void drop(struct tap_net_flushes *flushes, size_t count)
{
	flushes->count -= count;
	memmove(flushes->all, flushes->all + count,
		flushes->count * sizeof(*flushes->all));
}

/* Takes the flushes whose messages are known, or all. */
static int take_due(struct tap_context *context, struct tap_net *net, bool is_end)
{
	struct tap_net_flushes *flushes = &net->flushes;
	size_t i = 0;
	int ret = 0;

	while (i < flushes->count && !ret &&
	       (is_end || tap_net_messages_are_known(net, flushes->all[i].begin_ns)))
		ret = take(context, net, &flushes->all[i++]);
	if (i)
		drop(flushes, i);
	return ret;
}

static bool has_room(struct tap_net_flushes *flushes)
{
	if (!flushes->recent)
		flushes->recent = calloc(RECENT_MAX, sizeof(*flushes->recent));
	return flushes->recent;
}

int tap_net_flush_add(struct tap_context *context, struct tap_net *net,
		      const struct tap_rdma_list *list)
{
	struct tap_net_flushes *flushes = &net->flushes;
	struct tap_net_flush *flush;
	int ret = 0;

	if (!flushes->all)
		flushes->all = calloc(WAITING_MAX, sizeof(*flushes->all));
	if (!flushes->all || !has_room(flushes))
		return -ENOMEM;
	if (flushes->count == WAITING_MAX) {
		ret = take(context, net, &flushes->all[0]);
		drop(flushes, 1);
	}
	flush = &flushes->all[flushes->count++];
	*flush = (struct tap_net_flush){
		.work = tap_generation_work(list->generation, TAP_WORK_SEND, list->seq),
		.name = tap_names_get(&context->names, "verbs", 5, "RDMA_READ", 9),
		.address = list->requests[0].remote_addr,
		.begin_ns = list->begin_ns,
		.cts_number = net->number,
		.is_after_hole = tap_work_queue_has_hole_before(&list->generation->sends,
								list->seq)};
	if (!flush->name)
		return -ENOMEM;
	return ret ? ret : take_due(context, net, false);
}

/* A flush may follow, on a queue pair that does not exist yet (2.32). */
int tap_net_flush_received(struct tap_context *context, struct tap_net *net,
			   uint64_t number, uint64_t address, int64_t received_ns)
{
	struct tap_net_flushes *flushes = &net->flushes;

	if (address && !has_room(flushes))
		return -ENOMEM;
	if (address)
		flushes->recent[flushes->recent_count++ % RECENT_MAX] =
			(struct tap_net_recent){.number = number,
						.address = address,
						.received_ns = received_ns};
	return flushes->count ? take_due(context, net, false) : 0;
}

void tap_net_flush_lost(struct tap_net *net, uint64_t number)
{
	net->flushes.lost[net->flushes.lost_count++ % TAP_NET_LOST] = number;
}

int tap_net_flush_finish(struct tap_context *context, struct tap_net *net)
{
	return take_due(context, net, true);
}

void tap_net_flush_free(struct tap_net_flushes *flushes)
{
	free(flushes->recent);
	free(flushes->all);
}
