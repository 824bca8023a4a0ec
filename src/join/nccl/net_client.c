/* SPDX-License-Identifier: MIT */
/* The socket over which a service thread has passed something last is the connection's.
 */
#include "join/nccl/net_client.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/comm.h"
#include "join/model/process.h"
#include "join/nccl/net_asker.h"
#include "join/nccl/net_caller.h"
#include "join/nccl/net_channel.h"
#include "join/nccl/thread.h"

/* ---- Clients ---- */

static const struct tap_net_callers *callers_of(const struct tap_net_client *client)
{
	return tap_context_state(client->clients->context, &tap_net_callers_layer);
}

static int add_client(struct tap_net_clients *clients, const struct tap_process *process,
		      struct tap_net_service *service, uint64_t socket,
		      const struct tap_event *event)
{
	struct tap_net_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->clients = clients;
	client->service = service;
	client->number = ++clients->count;
	client->rank = -1;
	client->caller_key = tap_net_caller_key(event);
	client->is_first = !service->clients;
	client->next = service->clients;
	service->clients = client;
	client->before = clients->latest;
	clients->latest = client;
	return tap_table_set(&clients->sockets, process->number, socket, client);
}

static struct tap_net_service *service_of(const struct tap_net_clients *clients,
					  const struct tap_process *process,
					  const struct tap_event *event)
{
	return tap_net_service_find(tap_context_state(clients->context,
						      &tap_net_services_layer),
				    process, event->tid);
}

static int take_accepted(struct tap_net_clients *clients,
			 const struct tap_process *process, const struct tap_event *event)
{
	const uint64_t socket = tap_fields_number(&event->fields, "socket_id");
	const char *local = tap_fields_get_string(&event->fields, "local");
	struct tap_net_service *service = service_of(clients, process, event);

	/* What the thread is for may become known later; only a service thread answers.
	 */
	if (!local || !service)
		return 0;
	return service->address == tap_table_hash(local)
		       ? add_client(clients, process, service, socket, event)
		       : tap_table_set(&clients->accepted, process->number, socket,
				       service);
}

/* ---- What is done for them ---- */

static void note_receiver(struct tap_net_client *client)
{
	client->service->changes += !client->receives;
	client->clients->answers += !client->receives;
	client->receives = true;
}

/* The thread answers: what it was busy with is done. */
static int take_answer(struct tap_net_clients *clients, const struct tap_process *process,
		       struct tap_net_client *client)
{
	struct tap_net_service *service = client->service;
	const uint64_t socket = service->latest;

	/* Who only tells the thread to end is not answered. */
	if (!client->is_answered) {
		client->is_answered = true;
		service->count++;
		service->changes++;
		clients->answers++;
	}
	if (!socket || tap_table_find(&clients->made, process->number, socket))
		return 0;
	service->made = socket;
	if (tap_table_find(&clients->accepted, process->number, socket))
		note_receiver(client);
	return tap_table_set(&clients->made, process->number, socket, client);
}

static int take_moved(struct tap_net_clients *clients, const struct tap_process *process,
		      const struct tap_event *event)
{
	const uint64_t socket = tap_fields_number(&event->fields, "socket_id");
	struct tap_net_service *service = service_of(clients, process, event);
	struct tap_net_client *client;
	int ret = 0;

	if (!service)
		return 0;
	service->made = 0;
	client = tap_table_find(&clients->sockets, process->number, socket);
	if (client && client->service == service && event->net == TAP_NET_SEND)
		ret = take_answer(clients, process, client);
	service->latest = client ? 0 : socket;
	return ret;
}

/* Only the network's requests say for which rank they are. */
static void take_request(const struct tap_net_clients *clients,
			 const struct tap_process *process, const struct tap_event *event)
{
	struct tap_net_client *client =
		tap_table_find(&clients->sockets, process->number,
			       tap_fields_number(&event->fields, "socket_id"));
	const struct tap_net_channel *channel =
		tap_net_channel_named(tap_context_state(clients->context,
							&tap_net_channels_layer),
				      process,
				      tap_fields_number(&event->fields, "connection"));

	if (!client || !channel || !channel->has_setup || client->rank >= 0)
		return;
	client->rank = channel->rank;
	client->service->changes++;
}

/* ---- What the thread shows of them ---- */

static struct tap_net_client *find(const struct tap_table *table,
				   const struct tap_process *process, uint64_t socket)
{
	struct tap_net_client *client =
		socket ? tap_table_find(table, process->number, socket) : NULL;

	return client && client->service->count > 1 ? client : NULL;
}

struct tap_net_client *tap_net_client_of(const struct tap_net_clients *clients,
					 const struct tap_process *process,
					 uint64_t socket)
{
	return find(&clients->made, process, socket);
}

struct tap_net_client *tap_net_client_at(const struct tap_net_clients *clients,
					 const struct tap_process *process,
					 uint64_t socket)
{
	return find(&clients->sockets, process, socket);
}

struct tap_net_client *tap_net_client_ranked(struct tap_net_client *client, int64_t rank)
{
	struct tap_net_client *other;

	if (client->rank == rank)
		return client;
	for (other = client->service->clients; other; other = other->next)
		if (other->rank == rank)
			return other;
	return NULL;
}

/* NULL: not known (yet). */
static const struct tap_net_caller *caller_of(const struct tap_net_client *client)
{
	return tap_net_caller_of(callers_of(client), client->service->process,
				 client->caller_key);
}

/* Whether another process has connected its socket. */
static bool is_stranger(const struct tap_net_client *client)
{
	const struct tap_net_caller *caller = caller_of(client);

	return caller && caller->process != client->service->process;
}

bool tap_net_client_receives(const struct tap_net_client *client)
{
	const struct tap_net_client *other;

	/* The thread may have been busy with what it has not done yet for its own rank.
	 */
	if (is_stranger(client))
		return false;
	for (other = client->service->clients; other; other = other->next)
		if (other->is_first && other->receives && !is_stranger(other))
			return other == client;
	return client->receives;
}

/* Whether it is the thread's own rank, as far as the thread itself shows it. */
static bool is_own(const struct tap_net_client *client)
{
	const struct tap_net_client *other;

	if (is_stranger(client))
		return false;
	if (client->receives || !client->is_first)
		return tap_net_client_receives(client);
	for (other = client->service->clients; other; other = other->next)
		if (other->receives && !is_stranger(other))
			return false;
	return true;
}

/* ---- Who asks several threads ---- */

static const struct tap_net_asker *asker_of(const struct tap_net_client *client)
{
	const struct tap_net_caller *caller = caller_of(client);

	/* One that is no job may have used these addresses, too. */
	if (!caller || caller->is_again)
		return NULL;
	return tap_net_asker_of(tap_context_state(client->clients->context,
						  &tap_net_askers_layer),
				client->service->process, client->caller_key);
}

/* The communicator that a service thread was made for; NULL: unknown, or it is none. */
static const struct tap_member *served_by(struct tap_net_service *service)
{
	const struct tap_threads *threads =
		tap_context_state(service->services->context, &tap_threads_layer);
	const struct tap_nccl_thread *thread =
		service->member ? NULL : tap_net_service_thread(service);
	enum tap_known known;

	/* Later the thread may have ended. */
	if (thread && thread->role == TAP_THREAD_SERVICE)
		service->member = tap_threads_served(threads, service->process,
						     service->tid, &known);
	return service->member;
}

/*
 * The rank that asks one service thread as its own one over sockets that are this
 * client's, too; NULL: not known, or there are several.
 */
static const struct tap_member *rank_elsewhere(const struct tap_net_client *client)
{
	const struct tap_net_asker *asker = asker_of(client);
	const struct tap_member *found = NULL;
	struct tap_net_service *service;

	for (service = asker ? client->service->services->all : NULL; service;
	     service = service->next) {
		const struct tap_member *member = served_by(service);
		const struct tap_net_client *own = member ? service->clients : NULL;

		while (own && !(is_own(own) && asker_of(own) == asker))
			own = own->next;
		if (own && found)
			return NULL;
		if (own)
			found = member;
	}
	return found;
}

/* Whether it is known to be a rank of the same communicator. */
static bool is_among(const struct tap_member *rank, const struct tap_member *member)
{
	return rank && member && tap_member_comm(rank) == tap_member_comm(member);
}

/* ---- Who they are ---- */

bool tap_net_client_is_own(const struct tap_net_client *client)
{
	const struct tap_member *rank = rank_elsewhere(client);
	const struct tap_member *own = served_by(client->service);

	return is_among(rank, own) ? rank == own : is_own(client);
}

static bool is_refuted(const struct tap_net_client *client,
		       const struct tap_member *member)
{
	size_t i;

	for (i = 0; i < client->refuted.count; i++)
		if (client->refuted.items[i] == member)
			return true;
	return false;
}

bool tap_net_client_may_be(const struct tap_net_client *client,
			   const struct tap_member *member)
{
	const struct tap_net_caller *caller = caller_of(client);
	const struct tap_member *rank;
	const struct tap_net_client *other;

	if (client->is)
		return client->is == member;
	rank = rank_elsewhere(client);
	if (is_among(rank, member) && rank != member)
		return false;
	if (caller && !tap_net_caller_may_be(callers_of(client), caller, member))
		return false;
	if (is_refuted(client, member))
		return false;
	for (other = client->service->clients; other; other = other->next)
		if (other->is == member)
			return false;
	return true;
}

int tap_net_client_refute(struct tap_net_client *client, const struct tap_member *member)
{
	if (is_refuted(client, member))
		return 0;
	client->service->changes++;
	return tap_vec_add(&client->refuted, member);
}

bool tap_net_client_is(const struct tap_net_client *client,
		       const struct tap_member *member)
{
	return client->rank >= 0 ? client->rank == member->rank : client->is == member;
}

void tap_net_client_settle(struct tap_net_client *client, const struct tap_member *member)
{
	client->service->changes += client->is != member;
	client->is = member;
}

uint64_t tap_net_client_changes(const struct tap_net_client *client)
{
	const struct tap_net_clients *clients = client->clients;
	const struct tap_net_askers *askers =
		tap_context_state(clients->context, &tap_net_askers_layer);

	/* Where it is known who asks, what others are answered says more of it, too. */
	return client->service->changes + callers_of(client)->changes + askers->changes +
	       (askers->sockets.count ? clients->answers : 0);
}

/* ---- The layer ---- */

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_net_clients *clients = state;

	switch (event->net) {
	case TAP_NET_ACCEPT:
		return take_accepted(clients, process, event);
	case TAP_NET_SEND:
	case TAP_NET_RECV:
		return take_moved(clients, process, event);
	case TAP_NET_SERVICE_REQUEST:
		take_request(clients, process, event);
		return 0;
	default:
		return 0;
	}
}

static void free_all(void *state)
{
	struct tap_net_clients *clients = state;
	struct tap_net_client *client;

	while ((client = clients->latest)) {
		clients->latest = client->before;
		tap_vec_free(&client->refuted);
		free(client);
	}
	tap_table_free(&clients->sockets);
	tap_table_free(&clients->accepted);
	tap_table_free(&clients->made);
}

const struct tap_layer tap_net_clients_layer = {
	.name = "clients",
	.size = sizeof(struct tap_net_clients),
	.events = TAP_TAKES(TAP_EVENT_NET),
	.take = take,
	.free = free_all,
};
