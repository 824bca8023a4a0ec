/* SPDX-License-Identifier: MIT */
/* Connections by their receiving ends. */
#include "join/nccl/net_route.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/process.h"
#include "join/nccl/thread.h"

/* ---- Which ranks ---- */

/* More generations of communicators are not looked at. */
#define DEPTH_MAX 64

/* The same rank of the communicator that this one was split off from, or NULL. */
static const struct tap_member *parent_of(const struct tap_net_routes *routes,
					  const struct tap_member *member)
{
	const uint64_t parent = tap_fields_number(&member->about, "parent_comm_id");

	return parent ? tap_table_find(&routes->context->comms.by_id,
				       member->process->number, parent)
		      : NULL;
}

/*
 * Whether a thread that was made for `served` (NULL: unknown) may work for this member,
 * too: a communicator that was split off may share the threads of the one that it is
 * from.
 */
static bool may_serve(const struct tap_net_routes *routes,
		      const struct tap_member *served, const struct tap_member *member)
{
	unsigned int depth;

	for (depth = 0; served && member && depth < DEPTH_MAX; depth++) {
		if (member == served)
			return true;
		member = parent_of(routes, member);
	}
	return !served;
}

/*
 * Whether the connection was made for this rank.  Another one means that a rank sends on
 * behalf of one on its host, whose kernels are not its own.  A communicator that was
 * split off may use a connection under the number of the one that it is from.
 */
static bool is_made_for(const struct tap_net_routes *routes, int64_t rank,
			const struct tap_member *member)
{
	unsigned int depth;

	for (depth = 0; rank >= 0 && member && depth < DEPTH_MAX; depth++) {
		if (member->rank == rank)
			return true;
		member = parent_of(routes, member);
	}
	return rank < 0;
}

static int add_pairs(struct tap_net_routes *routes, struct tap_net_route *route,
		     const struct tap_member *from, const struct tap_member *served)
{
	const struct tap_member *to;

	for (to = tap_member_comm(from)->members; to; to = to->next) {
		const struct tap_rank_pair pair = {from, to};

		if (to == from || to->process != route->to || to->rank < 0 ||
		    to->rank == from->rank || !may_serve(routes, served, to) ||
		    !is_made_for(routes, route->to_rank, to))
			continue;
		if (tap_vec_add(&route->pairs, pair))
			return -ENOMEM;
		route->ranks += ((uint64_t) from->number << 32 | to->number) + 1;
		route->ranks *= UINT64_C(0x9e3779b97f4a7c15);
	}
	return 0;
}

static int find_pairs(struct tap_net_routes *routes, struct tap_net_route *route)
{
	const struct tap_comms *comms = &routes->context->comms;
	const struct tap_member *sender =
		tap_threads_serves(routes->threads, route->from, route->from_tid);
	const struct tap_member *receiver =
		tap_threads_serves(routes->threads, route->to, route->to_tid);
	size_t i;
	int ret = 0;

	route->changes = comms->changes;
	route->members = comms->member_count;
	route->pairs.count = 0;
	route->ranks = 1;
	for (i = 0; !ret && i < comms->member_count; i++) {
		const struct tap_member *from = comms->members[i];

		if (from->process == route->from && from->rank >= 0 &&
		    may_serve(routes, sender, from) &&
		    is_made_for(routes, route->from_rank, from))
			ret = add_pairs(routes, route, from, receiver);
	}
	return ret;
}

/* ---- Routes ---- */

static int64_t number_of(const struct tap_span *span, const char *name)
{
	uint64_t value;

	return tap_fields_get_unsigned(&span->entry, name, &value) || value > INT32_MAX
		       ? -1
		       : (int64_t) value;
}

/* Which numbers of operations mean what depends on the ranks. */
static void start_order(struct tap_net_route *route)
{
	tap_run_counts_free(&route->order.counts);
	route->order =
		(struct tap_route_order){.begin_least = 1, .begin_most = TAP_RUN_UNKNOWN};
}

static struct tap_net_route *route_of(struct tap_net_routes *routes,
				      const struct tap_net_passed *message)
{
	const struct tap_span *receive = message->receive;
	const uint64_t process = receive->process->number,
		       net_id = receive->work.message.net_id;
	struct tap_net_route *route =
		tap_table_find(&routes->by_receiver, process, net_id);

	if (route)
		return route;
	route = calloc(1, sizeof(*route));
	if (!route || tap_table_set(&routes->by_receiver, process, net_id, route)) {
		free(route);
		return NULL;
	}
	route->next = routes->all;
	routes->all = route;
	route->from = message->send->process;
	route->to = receive->process;
	route->members = SIZE_MAX;
	start_order(route);
	return route;
}

static int update(struct tap_net_routes *routes, struct tap_net_route *route,
		  const struct tap_net_passed *message, bool *ret_has_changed)
{
	const struct tap_comms *comms = &routes->context->comms;
	const int64_t from_tid = message->send->tid, to_tid = message->receive->tid;
	/* Each end names the other one. */
	const int64_t from_rank = number_of(message->receive, "peer_rank");
	const int64_t to_rank = number_of(message->send, "peer_rank");
	const uint64_t before = route->ranks;
	int ret;

	*ret_has_changed = route->changes != comms->changes ||
			   route->members != comms->member_count ||
			   route->from_tid != from_tid || route->to_tid != to_tid ||
			   route->from_rank != from_rank || route->to_rank != to_rank;
	if (!*ret_has_changed)
		return 0;
	route->from_tid = from_tid;
	route->to_tid = to_tid;
	route->from_rank = from_rank;
	route->to_rank = to_rank;
	ret = find_pairs(routes, route);
	if (!ret && route->ranks != before)
		start_order(route);
	return ret;
}

/* ---- Messages ---- */

/* What both ends say; -1 where they differ. */
static int64_t common(const struct tap_net_passed *message, const char *name)
{
	const int64_t sent = number_of(message->send, name),
		      received = number_of(message->receive, name);

	if (sent < 0 || received < 0)
		return sent < 0 ? received : sent;
	return sent == received ? sent : -1;
}

/* Connections for sends and receives have no buffers of their own. */
static int64_t index_of(const struct tap_net_passed *message)
{
	const int64_t index = common(message, "connection_index");

	if (index >= 0)
		return index;
	return message->buffer.protocol ? 0 : message->buffer.is_pool ? 1 : -1;
}

static struct tap_message_times times_of(const struct tap_net_passed *message)
{
	const struct tap_span *send = message->send, *receive = message->receive;

	return (struct tap_message_times){
		.send_begin_ns = send->begin_ns,
		/* A receiver may see the message before the sender knows that. */
		.send_end_ns =
			send->state == TAP_SPAN_COMPLETE ? send->end_ns : send->begin_ns,
		.receive_begin_ns = receive->begin_ns,
		.receive_end_ns = receive->end_ns};
}

/* Files the message by its number, and takes over what its neighbours show. */
static void file(struct tap_net_route *route, struct tap_routed_message *message)
{
	struct tap_routed_message *before = route->messages.last, *other;

	while (before && before->number > message->number)
		before = before->of_route.before;
	tap_list_insert(&route->messages, before, message, of_route);
	if (before && before->arrived_ns > message->arrived_ns)
		message->arrived_ns = before->arrived_ns;
	else if (!before && route->gone && route->gone < message->number &&
		 route->gone_arrived_ns > message->arrived_ns)
		message->arrived_ns = route->gone_arrived_ns;
	other = message->of_route.after;
	if (other && other->posted_ns < message->posted_ns)
		message->posted_ns = other->posted_ns;
	for (; other && other->arrived_ns < message->arrived_ns;
	     other = other->of_route.after)
		other->arrived_ns = message->arrived_ns;
	for (other = before; other && other->posted_ns > message->posted_ns;
	     other = other->of_route.before)
		other->posted_ns = message->posted_ns;
}

int tap_net_routes_add(struct tap_net_routes *routes,
		       const struct tap_net_passed *message,
		       struct tap_net_route **ret_route, bool *ret_has_changed)
{
	struct tap_net_route *route = route_of(routes, message);
	struct tap_routed_message *added;
	int ret = route ? update(routes, route, message, ret_has_changed) : -ENOMEM;

	*ret_route = route;
	if (ret)
		return ret;
	added = malloc(sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = (struct tap_routed_message){
		.route = route,
		.number = message->receive->work.message.number,
		.bytes = message->bytes,
		.send = message->send->work,
		.receive = message->receive->work,
		.send_name = message->send->name,
		.receive_name = message->receive->name,
		.times = times_of(message),
		.facts = {.posted_ns = message->posted_ns,
			  .arrived_ns = message->arrived_ns,
			  .awaited_ns = message->receive->begin_ns,
			  .channel = common(message, "channel"),
			  .index = index_of(message)},
		.posted_ns = message->posted_ns,
		.arrived_ns = message->arrived_ns};
	file(route, added);
	tap_list_append(&routes->messages, added, of_all);
	routes->held++;
	route->held++;
	route->order.fresh++;
	return 0;
}

void tap_net_route_drop(struct tap_net_routes *routes, struct tap_net_route *route,
			struct tap_routed_message *message)
{
	if (message->number > route->gone) {
		route->gone = message->number;
		route->gone_arrived_ns = message->arrived_ns;
	}
	tap_list_remove(&route->messages, message, of_route);
	tap_list_remove(&routes->messages, message, of_all);
	routes->held--;
	route->held--;
	free(message);
}

struct tap_message_facts tap_net_route_facts(const struct tap_routed_message *message)
{
	struct tap_message_facts facts = message->facts;

	facts.posted_ns = message->posted_ns;
	facts.arrived_ns = message->arrived_ns;
	return facts;
}

void tap_net_routes_free(struct tap_net_routes *routes)
{
	struct tap_routed_message *message;
	struct tap_net_route *route;

	while ((message = tap_list_take_first(&routes->messages, of_all)))
		free(message);
	while ((route = routes->all)) {
		routes->all = route->next;
		tap_vec_free(&route->pairs);
		tap_run_counts_free(&route->order.counts);
		free(route);
	}
	tap_table_free(&routes->by_receiver);
}
