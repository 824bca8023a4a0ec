/* SPDX-License-Identifier: MIT */
/* Connections by their receiving ends. */
#include "join/nccl/net_route.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/comm.h"
#include "join/model/process.h"
#include "join/nccl/net_channel.h"
#include "join/nccl/net_client.h"
#include "join/nccl/net_share.h"
#include "join/nccl/node.h"
#include "join/nccl/thread.h"

/* ---- Which ranks ---- */

/* More generations of communicators are not looked at. */
#define DEPTH_MAX 64

/* Of threads that ended this is not known any more. */
static bool has_own_threads(struct tap_net_routes *routes,
			    const struct tap_member *member)
{
	const uint64_t number = member->number + UINT64_C(1);

	if (tap_table_find(&routes->owners, number, 0))
		return true;
	if (!tap_threads_are_own(routes->threads, member))
		return false;
	/* Where memory is short, it is found out again. */
	(void) tap_table_set(&routes->owners, number, 0, (void *) member);
	return true;
}

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
 * from, unless it has some of its own.
 */
static bool may_serve(struct tap_net_routes *routes, const struct tap_member *served,
		      const struct tap_member *member)
{
	unsigned int depth;

	for (depth = 0; served && member && depth < DEPTH_MAX; depth++) {
		if (member == served)
			return true;
		if (has_own_threads(routes, member))
			return false;
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

/*
 * The rank of the communicator that a thread was made for, `served`, that this one is:
 * itself or, of a communicator that was split off and may share its threads, an ancestor.
 */
static const struct tap_member *top_of(struct tap_net_routes *routes,
				       const struct tap_member *served,
				       const struct tap_member *member)
{
	unsigned int depth;

	for (depth = 0; served && member && depth < DEPTH_MAX; depth++) {
		if (tap_member_comm(member) == tap_member_comm(served))
			return member;
		if (has_own_threads(routes, member))
			return NULL;
		member = parent_of(routes, member);
	}
	return NULL;
}

static bool is_refuted(const struct tap_net_route *route, const struct tap_member *sender)
{
	size_t i;

	for (i = 0; i < route->refuted.count; i++)
		if (route->refuted.items[i] == sender)
			return true;
	return false;
}

/*
 * Whether the rank may have sent, by the thread that was made for `served`: its own, or
 * that of another rank of its host (PXN).  Where that is not known to be one rank,
 * *ret_made_for is the one that it would be.
 */
static bool may_send(struct tap_net_routes *routes, const struct tap_net_route *route,
		     const struct tap_member *served, const struct tap_member *member,
		     const struct tap_member **ret_made_for)
{
	const bool is_own =
		member->process == route->from && may_serve(routes, served, member);
	const struct tap_member *top = top_of(routes, served, member);
	const bool is_guest =
		top && top != served &&
		tap_nodes_may_be_one(routes->nodes, member->process, route->from);

	*ret_made_for = NULL;
	if (route->client && (route->is_part || route->from_rank < 0)) {
		const struct tap_net_client *client = route->client;

		if (client->rank >= 0)
			return (is_own && is_made_for(routes, client->rank, member)) ||
			       (is_guest && top->rank == client->rank);
		if (tap_net_client_receives(client))
			return is_own;
		*ret_made_for = top;
		return top && tap_net_client_may_be(client, top) &&
		       (tap_net_client_is_own(client) ? is_own : is_guest);
	}
	if (!route->is_shared && (route->from_rank >= 0 || !route->has_guests))
		return (is_own && is_made_for(routes, route->from_rank, member)) ||
		       (is_guest && top->rank == route->from_rank);
	*ret_made_for = top;
	return top && (is_own || is_guest) && !is_refuted(route, top);
}

static int add_pairs(struct tap_net_routes *routes, struct tap_net_route *route,
		     const struct tap_member *from, const struct tap_member *made_for,
		     const struct tap_member *served)
{
	const struct tap_member *to;

	for (to = tap_member_comm(from)->members; to; to = to->next) {
		const struct tap_rank_pair pair = {from, to, made_for};

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

/*
 * Finds whom the threads serve that move the messages.  Of messages that are told late
 * they may have ended.
 */
static void find_served(struct tap_net_routes *routes, struct tap_net_route *route)
{
	struct tap_route_served *from = &route->from_served, *to = &route->to_served;
	const struct tap_member *member;
	enum tap_known known = TAP_KNOWN_EXACT;

	if (!route->has_guests && !route->is_shared && !route->client)
		member = tap_threads_serves(routes->threads, route->from, route->from_tid,
					    &known);
	else
		member = tap_threads_served(routes->threads, route->from, route->from_tid,
					    &known);
	if (member)
		*from = (struct tap_route_served){member, known};
	known = TAP_KNOWN_EXACT;
	member = tap_threads_serves(routes->threads, route->to, route->to_tid, &known);
	if (member)
		*to = (struct tap_route_served){member, known};
}

static int find_pairs(struct tap_net_routes *routes, struct tap_net_route *route)
{
	const struct tap_comms *comms = &routes->context->comms;
	const struct tap_route_served *sender = &route->from_served;
	const struct tap_route_served *receiver = &route->to_served;
	const struct tap_member *made_for;
	size_t i;
	int ret = 0;

	find_served(routes, route);

	route->changes = comms->changes;
	route->thread_changes = tap_threads_changes(routes->threads);
	route->members = comms->member_count;
	route->pairs.count = 0;
	route->ranks = 1;
	route->client_changes = route->client ? tap_net_client_changes(route->client) : 0;
	route->is_inferred = sender->known == TAP_KNOWN_INFERRED ||
			     receiver->known == TAP_KNOWN_INFERRED ||
			     (route->has_guests && route->from_rank < 0);
	for (i = 0; !ret && i < comms->member_count; i++) {
		const struct tap_member *from = comms->members[i];

		if (from->rank >= 0 &&
		    may_send(routes, route, sender->member, from, &made_for))
			ret = add_pairs(routes, route, from, made_for, receiver->member);
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

static uint64_t last_number(const struct tap_net_route *route)
{
	const struct tap_routed_message *last = route->messages.last;

	return last && last->number > route->gone ? last->number : route->gone;
}

/* Of those of a connection the one that the message is of; NULL: there is none yet. */
static struct tap_net_route *find_route(struct tap_net_route *first,
					const struct tap_net_passed *message)
{
	const uint64_t epoch = message->number / TAP_NET_SHARE_GAP;
	struct tap_net_route *route = first;
	const bool is_only = first && !first->other && !first->is_shared;

	while (route && (route->client != message->client || route->epoch != epoch))
		route = route->other;
	if (route || !is_only)
		return route;
	/* For whom it is may become known later, and a message may not show it. */
	if (!message->client)
		return message->is_shared || message->is_grouped ? NULL : first;
	if (first->client || !message->is_makers || last_number(first) >= message->number)
		return NULL;
	first->client = message->client;
	return first;
}

/*
 * Adds a route to those of the connection that ends at net_id of this process.  NULL:
 * memory is short.
 */
static struct tap_net_route *add_route(struct tap_net_routes *routes,
				       const struct tap_process *from,
				       const struct tap_process *to, uint64_t net_id,
				       const struct tap_net_maker *maker)
{
	struct tap_net_route *first =
		tap_table_find(&routes->by_receiver, to->number, net_id);
	struct tap_net_route *route = calloc(1, sizeof(*route));

	if (!route || tap_table_set(&routes->by_receiver, to->number, net_id, route)) {
		free(route);
		return NULL;
	}
	route->connection = first ? first->connection : ++routes->connections;
	route->has_several = first && first->has_several;
	route->other = first;
	route->next = routes->all;
	routes->all = route;
	route->from = from;
	route->to = to;
	route->members = SIZE_MAX;
	route->maker = *maker;
	start_order(route);
	return route;
}

static struct tap_net_route *route_of(struct tap_net_routes *routes,
				      const struct tap_net_passed *message)
{
	const struct tap_span *receive = message->receive;
	const uint64_t net_id = receive->work.message.net_id;
	struct tap_net_route *route =
		find_route(tap_table_find(&routes->by_receiver, receive->process->number,
					  net_id),
			   message);

	if (route)
		return route;
	route = add_route(routes, message->send->process, receive->process, net_id,
			  &message->maker);
	if (!route)
		return NULL;
	route->client = message->client;
	route->epoch = message->number / TAP_NET_SHARE_GAP;
	return route;
}

static int update(struct tap_net_routes *routes, struct tap_net_route *route,
		  const struct tap_net_passed *message, bool *ret_has_changed)
{
	const struct tap_comms *comms = &routes->context->comms;
	const int64_t from_tid = message->send->tid, to_tid = message->receive->tid;
	struct tap_net_route *other;
	/* Each end names the other one. */
	const int64_t from_rank = number_of(message->receive, "peer_rank");
	const int64_t to_rank = number_of(message->send, "peer_rank");
	const uint64_t before = route->ranks;
	const bool may_have =
		from_rank < 0 &&
		tap_net_services_may_own(tap_context_state(routes->context,
							   &tap_net_services_layer),
					 &route->maker);
	const bool are_several = message->is_shared || (may_have && message->is_grouped);
	const bool is_shared = are_several && !route->client;
	const bool is_part = (are_several || route->other) && route->client;
	int ret;

	if (message->is_of_data && !route->is_of_data)
		start_order(route);
	route->is_of_data |= message->is_of_data;
	route->channel = message->channel;

	*ret_has_changed =
		route->changes != comms->changes ||
		route->thread_changes != tap_threads_changes(routes->threads) ||
		route->members != comms->member_count || route->from_tid != from_tid ||
		route->to_tid != to_tid || route->from_rank != from_rank ||
		route->to_rank != to_rank || (may_have && !route->has_guests) ||
		(is_shared && !route->is_shared) || (is_part && !route->is_part) ||
		(route->client &&
		 route->client_changes != tap_net_client_changes(route->client));
	if (!*ret_has_changed)
		return 0;
	for (other = route->other; other; other = other->other)
		other->is_part |= other->client && other->client != route->client;
	if (route->from_tid != from_tid)
		route->from_served = (struct tap_route_served){0};
	if (route->to_tid != to_tid)
		route->to_served = (struct tap_route_served){0};
	route->from_tid = from_tid;
	route->to_tid = to_tid;
	route->from_rank = from_rank;
	route->to_rank = to_rank;
	route->has_guests |= may_have;
	route->is_shared |= is_shared;
	route->is_part |= is_part;
	ret = find_pairs(routes, route);
	if (!ret && route->ranks != before)
		start_order(route);
	return ret;
}

const struct tap_member *tap_net_route_sender(const struct tap_net_route *route,
					      const struct tap_member *before)
{
	const struct tap_member *next = NULL;
	size_t i;

	for (i = 0; i < route->pairs.count; i++) {
		const struct tap_member *one = route->pairs.items[i].made_for;

		if (one && (!before || one->number > before->number) &&
		    (!next || one->number < next->number))
			next = one;
	}
	return next;
}

int tap_net_route_refute(struct tap_net_routes *routes, struct tap_net_route *route,
			 const struct tap_member *sender)
{
	int ret = route->client ? tap_net_client_refute(route->client, sender)
				: tap_vec_add(&route->refuted, sender);

	if (!ret)
		ret = find_pairs(routes, route);
	start_order(route);
	return ret;
}

bool tap_net_route_settle(struct tap_net_route *route, const struct tap_member *sender)
{
	const struct tap_comm *comm = tap_member_comm(sender);
	const struct tap_member *member;
	int64_t ranks = 0;

	if (!route->client)
		return true;
	for (member = comm->members; member; member = member->next)
		ranks += member->rank >= 0;
	if (comm->nranks < 0 || ranks < comm->nranks)
		return false;
	tap_net_client_settle(route->client, sender);
	return true;
}

int tap_net_route_refresh(struct tap_net_routes *routes, struct tap_net_route *route,
			  bool *ret_has_changed)
{
	const uint64_t before = route->ranks;
	int ret;

	*ret_has_changed = route->client &&
			   route->client_changes != tap_net_client_changes(route->client);
	if (!*ret_has_changed)
		return 0;
	ret = find_pairs(routes, route);
	*ret_has_changed = route->ranks != before;
	if (!ret && *ret_has_changed)
		start_order(route);
	return ret;
}

/* ---- What has no bytes ---- */

/* Whether the rank has asked for the connection, where that is known. */
static bool may_share(const struct tap_net_routes *routes,
		      const struct tap_net_route *route, const struct tap_member *sender)
{
	return !sender || !route->channel ||
	       tap_net_channel_may_share(tap_context_state(routes->context,
							   &tap_net_channels_layer),
					 route->channel, sender->rank);
}

bool tap_net_route_may_have_empty(const struct tap_net_routes *routes,
				  const struct tap_net_route *route,
				  const struct tap_rank_pair *pair)
{
	return tap_net_empties_may_be_on(&routes->empties, pair, route->connection) &&
	       may_share(routes, route, pair->made_for);
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

/*
 * Buffers tell it or, where they do not, what the rank called when the connection was
 * made, unless that may be another rank's.
 */
static int64_t index_of(const struct tap_net_route *route,
			const struct tap_net_passed *message)
{
	const int64_t index = common(message, "connection_index");

	if (index >= 0)
		return index;
	if (message->buffer.protocol)
		return 0;
	if (message->buffer.is_of_sends)
		return 1;
	return route->client || route->has_guests || route->is_shared
		       ? -1
		       : message->maker.index;
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

/* Of several requests each may be of another operation, unless all have none. */
static uint64_t bytes_of(const struct tap_net_passed *message)
{
	const bool is_one = message->requests == 1 && !message->is_grouped;

	return is_one || !message->bytes ? message->bytes : TAP_BYTES_UNKNOWN;
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

static void note_others(struct tap_routed_message *added,
			const struct tap_net_passed *message)
{
	unsigned int i;

	for (i = 0; i < message->part_count; i++)
		if (message->parts[i].client)
			added->others[added->nr_others++] = message->parts[i].client;
}

bool tap_net_route_has_other(const struct tap_routed_message *message,
			     const struct tap_member *sender)
{
	unsigned int i;

	for (i = 0; i < message->nr_others; i++)
		if (tap_net_client_is(message->others[i], sender))
			return true;
	return false;
}

/*
 * Whether the message shows that several ranks send over its connection: each request of
 * one message is of another one, and so are data from another one's memory.
 */
static bool shows_several(const struct tap_net_route *first,
			  const struct tap_net_passed *message)
{
	const struct tap_net_route *other = message->is_of_data ? first : NULL;

	while (other && !(other->is_of_data && other->client && message->client &&
			  other->client != message->client))
		other = other->other;
	return message->is_grouped || other;
}

static void note_several(const struct tap_net_routes *routes, struct tap_net_route *route,
			 const struct tap_net_passed *message)
{
	struct tap_net_route *first;

	if (route->has_several || !(message->is_grouped || message->is_of_data))
		return;
	first = tap_table_find(&routes->by_receiver, route->to->number,
			       message->receive->work.message.net_id);
	if (shows_several(first, message))
		for (; first; first = first->other)
			first->has_several = true;
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
	note_several(routes, route, message);
	added = malloc(sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = (struct tap_routed_message){.route = route,
					     .number = message->number,
					     .requests = message->requests,
					     .is_guess = message->is_guess,
					     .protocol = message->buffer.protocol,
					     .bytes = message->bytes,
					     .largest = message->largest,
					     .send = message->send->work,
					     .receive = message->receive->work,
					     .send_name = message->send->name,
					     .receive_name = message->receive->name,
					     .times = times_of(message),
					     .facts = {.posted_ns = message->posted_ns,
						       .arrived_ns = message->arrived_ns,
						       .awaited_ns =
							       message->receive->begin_ns,
						       .channel =
							       common(message, "channel"),
						       .index = index_of(route, message),
						       .bytes = bytes_of(message)},
					     .posted_ns = message->posted_ns,
					     .arrived_ns = message->arrived_ns};
	note_others(added, message);
	file(route, added);
	tap_list_append(&routes->messages, added, of_all);
	routes->held++;
	route->held++;
	route->taken += added->requests;
	route->order.fresh++;
	return 0;
}

void tap_net_route_drop(struct tap_net_routes *routes, struct tap_net_route *route,
			struct tap_routed_message *message)
{
	const uint64_t last = message->number + message->requests - 1;

	if (last > route->gone) {
		route->gone = last;
		route->gone_arrived_ns = message->arrived_ns;
	}
	tap_list_remove(&route->messages, message, of_route);
	tap_list_remove(&routes->messages, message, of_all);
	routes->held--;
	route->held--;
	free(message);
}

void tap_net_route_leave(struct tap_net_routes *routes, struct tap_net_route *route,
			 struct tap_routed_message *message)
{
	if (!route->has_left || route->left_ns < message->facts.posted_ns)
		route->left_ns = message->facts.posted_ns;
	route->has_left = true;
	tap_net_route_drop(routes, route, message);
}

/* Of the connection, whose messages may be of several ranks; NULL: there is none yet. */
static struct tap_net_route *find_shared(const struct tap_net_routes *routes,
					 const struct tap_routed_message *message)
{
	const struct tap_net_route *own = message->route;
	struct tap_net_route *route =
		tap_table_find(&routes->by_receiver, own->to->number,
			       message->receive.message.net_id);

	while (route &&
	       (route->client || !route->is_shared || route->epoch != own->epoch))
		route = route->other;
	return route;
}

/* NULL: memory is short. */
static struct tap_net_route *make_shared(struct tap_net_routes *routes,
					 const struct tap_routed_message *message)
{
	const struct tap_net_route *own = message->route;
	struct tap_net_route *route =
		add_route(routes, own->from, own->to, message->receive.message.net_id,
			  &own->maker);

	if (!route)
		return NULL;
	route->epoch = own->epoch;
	route->channel = own->channel;
	route->from_tid = own->from_tid;
	route->to_tid = own->to_tid;
	route->from_served = own->from_served;
	route->to_served = own->to_served;
	route->from_rank = own->from_rank;
	route->to_rank = own->to_rank;
	route->has_guests = own->has_guests;
	route->is_shared = true;
	return find_pairs(routes, route) ? NULL : route;
}

int tap_net_route_share(struct tap_net_routes *routes, struct tap_routed_message *message,
			struct tap_net_route **ret_route, bool *ret_is_new)
{
	struct tap_net_route *own = message->route,
			     *shared = find_shared(routes, message);
	const uint64_t last = message->number + message->requests - 1;

	*ret_is_new = !shared;
	if (!shared)
		shared = make_shared(routes, message);
	if (!shared)
		return -ENOMEM;
	/* More ranks and threads may be known than when it was made. */
	if (shared->changes != routes->context->comms.changes ||
	    shared->thread_changes != tap_threads_changes(routes->threads) ||
	    shared->members != routes->context->comms.member_count) {
		shared->has_guests |= own->has_guests;
		if (find_pairs(routes, shared))
			return -ENOMEM;
		*ret_is_new = true;
	}
	if (last > own->gone) {
		own->gone = last;
		own->gone_arrived_ns = message->arrived_ns;
	}
	tap_list_remove(&own->messages, message, of_route);
	own->held--;
	message->route = shared;
	message->is_guess = false;
	message->tries = 0;
	file(shared, message);
	shared->held++;
	shared->taken += message->requests;
	*ret_route = shared;
	return 0;
}

struct tap_message_facts tap_net_route_facts(const struct tap_routed_message *message)
{
	struct tap_message_facts facts = message->facts;

	/* Messages of several ranks have no order. */
	if (message->route->is_shared)
		return facts;
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
		tap_vec_free(&route->refuted);
		tap_run_counts_free(&route->order.counts);
		free(route);
	}
	tap_table_free(&routes->by_receiver);
	tap_net_empties_free(&routes->empties);
	tap_table_free(&routes->owners);
}
