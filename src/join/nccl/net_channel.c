/* SPDX-License-Identifier: MIT */
/* Follows requests and answers, which meet by the number of the operation. */
#include "join/nccl/net_channel.h"

#include "join/model/process.h"
#include "join/model/wire.h"

#include <errno.h>
#include <stdlib.h>

/* enum ncclProxyMsgType. */
enum { INIT = 1, SETUP = 3, CONNECT = 4 };

/* Of INIT's and SETUP's numbers. */
enum { INIT_TRANSPORT, INIT_SEND, INIT_VALUES = 5 };
enum { SETUP_RANK, SETUP_REMOTE_RANK = 2, SETUP_CHANNEL = 7, SETUP_INDEX, SETUP_VALUES };

/* A request that is not answered. */
struct tap_service_operation {
	uint64_t type;
	struct tap_net_channel *channel;
};

#define ADAPTERS_MAX 4 /* that NCCL merges into one */

/* The owners of queue pairs that a thread has created for one connection. */
struct owners {
	uint64_t owner; /* whose connection is not found yet */
	uint64_t untold; /* the same, until any socket has been used */
	/* Of queue pairs with none of their own, until the thread's next send. */
	uint64_t made;
	uint64_t adapters[ADAPTERS_MAX]; /* that have a completion queue of it */
	size_t adapter_count;
	bool has_sent; /* sends are recorded */
};

static int64_t value_of(const struct tap_event *event, size_t i, size_t *ret_count)
{
	const struct tap_field *values = tap_fields_find(&event->fields, "values");
	const bool is_array = values && values->kind == TAP_FIELD_ARRAY;

	*ret_count = is_array ? values->value.data.length : 0;
	return i < *ret_count ? (int64_t) tap_fields_array(&event->fields, values)[i] : -1;
}

/* ---- Requests ---- */

static struct tap_net_channel *make_channel(struct tap_net_channels *channels,
					    const struct tap_process *process,
					    const struct tap_event *event)
{
	struct tap_net_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return NULL;
	channel->process = process;
	channel->tid = event->tid;
	channel->made_ns = event->time_ns;
	channel->transport = -1;
	channel->next = channels->all;
	channels->all = channel;
	return channel;
}

static void read_init(struct tap_net_channel *channel, const struct tap_event *event)
{
	size_t count;

	channel->transport = value_of(event, INIT_TRANSPORT, &count);
	channel->is_send = value_of(event, INIT_SEND, &count) == 1;
	if (count != INIT_VALUES)
		channel->transport = -1;
}

static int read_setup(struct tap_net_channels *channels, struct tap_net_channel *channel,
		      const struct tap_event *event)
{
	size_t count;

	channel->rank = value_of(event, SETUP_RANK, &count);
	channel->peer_rank = value_of(event, SETUP_REMOTE_RANK, &count);
	channel->channel = value_of(event, SETUP_CHANNEL, &count);
	channel->index = value_of(event, SETUP_INDEX, &count);
	channel->has_setup = count >= SETUP_VALUES &&
			     channel->transport == TAP_NET_TRANSPORT_NET &&
			     channel->channel >= 0 && channel->channel < 1024 &&
			     channel->peer_rank >= 0;
	return channel->has_setup && !channel->is_send
		       ? tap_table_set(&channels->receivers, channel->process->number,
				       (uint64_t) channel->tid, channel)
		       : 0;
}

/* The address is the receiver's, at both ends. */
static uint64_t hash(const char *address, bool is_send)
{
	return tap_table_hash(address) ^ is_send;
}

static int set_address(struct tap_net_channels *channels, const struct tap_process *process,
		       const struct tap_event *event, struct tap_net_channel *channel)
{
	const char *address = tap_fields_get_string(&event->fields, "address");

	if (!address || !*address || channel->transport != TAP_NET_TRANSPORT_NET)
		return 0;
	return tap_table_set(&channels->addresses, process->number,
			     hash(address, channel->is_send), channel);
}

static int add_operation(struct tap_net_channels *channels,
			 const struct tap_process *process, const struct tap_event *event,
			 uint64_t type, struct tap_net_channel *channel)
{
	const uint64_t number = tap_fields_number(&event->fields, "operation");
	struct tap_service_operation *operation =
		tap_table_find(&channels->operations, process->number, number);

	if (!operation) {
		operation = malloc(sizeof(*operation));
		if (!operation || tap_table_set(&channels->operations, process->number,
						number, operation)) {
			free(operation);
			return -ENOMEM;
		}
	}
	*operation = (struct tap_service_operation){.type = type, .channel = channel};
	return 0;
}

static bool is_asking(const struct tap_net_channels *channels,
		      const struct tap_process *process, const struct tap_event *event)
{
	return tap_table_find(&channels->connected, process->number,
			      tap_fields_number(&event->fields, "socket_id"));
}

static int take_request(struct tap_net_channels *channels, const struct tap_process *process,
			const struct tap_event *event)
{
	const uint64_t type = tap_fields_number(&event->fields, "type");
	const uint64_t pointer = tap_fields_number(&event->fields, "connection");
	struct tap_net_channel *channel =
		tap_table_find(&channels->connections, process->number, pointer);
	int ret = 0;

	/* A thread of NCCL's that asks shows what the service thread will show, too. */
	if (is_asking(channels, process, event))
		return 0;
	if (type == INIT) {
		channel = make_channel(channels, process, event);
		if (!channel)
			return -ENOMEM;
		read_init(channel, event);
		return add_operation(channels, process, event, type, channel);
	}
	if (!channel || (type != SETUP && type != CONNECT))
		return 0;
	if (type == SETUP)
		ret = read_setup(channels, channel, event);
	else
		ret = set_address(channels, process, event, channel);
	return ret ? ret : add_operation(channels, process, event, type, channel);
}

/* What connections have in common that share queue pairs. */
static uint64_t shared_key(const struct tap_net_channel *channel)
{
	return (uint64_t) channel->tid << 40 ^ (uint64_t) channel->peer_rank << 16 ^
	       (uint64_t) channel->channel;
}

/* A sender that is connected without a socket of its own sends over another one. */
static int end_connect(struct tap_net_channels *channels,
		       const struct tap_process *process, struct tap_net_channel *channel)
{
	channel->is_connected = true;
	if (!channel->has_setup || !channel->is_send || channel->index != 1 ||
	    channel->has_socket)
		return 0;
	return tap_table_set(&channels->shared, process->number, shared_key(channel),
			     channel);
}

bool tap_net_channel_is_shared(const struct tap_net_channels *channels,
			       const struct tap_net_channel *channel)
{
	return channel->has_setup && channel->is_send && channel->index == 1 &&
	       tap_table_find(&channels->shared, channel->process->number,
			      shared_key(channel));
}

bool tap_net_channel_may_share(const struct tap_net_channels *channels,
			       const struct tap_net_channel *channel, int64_t rank)
{
	const struct tap_net_channel *other = channels->all;

	while (other && !(other->process == channel->process && other->has_setup &&
			  other->is_send && other->index == 1 && other->rank == rank &&
			  shared_key(other) == shared_key(channel)))
		other = other->next;
	return other;
}

static int take_response(struct tap_net_channels *channels,
			 const struct tap_process *process, const struct tap_event *event)
{
	struct tap_service_operation *operation =
		tap_table_remove(&channels->operations, process->number,
				 tap_fields_number(&event->fields, "operation"));
	const uint64_t pointer = tap_fields_number(&event->fields, "connection");
	int ret = 0;

	if (!operation)
		return 0;
	/* A pointer that was used before names the new connection. */
	if (operation->type == INIT && pointer)
		ret = tap_table_set(&channels->connections, process->number, pointer,
				    operation->channel);
	else if (operation->type == SETUP)
		ret = set_address(channels, process, event, operation->channel);
	else if (operation->type == CONNECT)
		ret = end_connect(channels, process, operation->channel);
	free(operation);
	return ret;
}

/* ---- Queue pairs ---- */

static uint64_t queue_key(uint64_t cq_id)
{
	return UINT64_C(1) << 63 | cq_id;
}

uint64_t tap_net_channel_owner(const struct tap_net_channels *channels,
			       const struct tap_process *process, uint64_t qp_context,
			       uint64_t send_cq_id)
{
	const uint64_t key = queue_key(send_cq_id);
	const void *first = tap_table_find(&channels->queues, process->number, key);

	if (qp_context)
		return qp_context;
	return first ? (uint64_t) (uintptr_t) first : key;
}

static struct owners *owners_of(struct tap_net_channels *channels,
				const struct tap_process *process, int64_t tid)
{
	const uint64_t thread = (uint64_t) tid;
	struct owners *owners = tap_table_find(&channels->threads, process->number, thread);

	if (owners)
		return owners;
	owners = calloc(1, sizeof(*owners));
	if (owners && !tap_table_set(&channels->threads, process->number, thread, owners))
		return owners;
	free(owners);
	return NULL;
}

static bool has_adapter(const struct owners *owners, uint64_t context)
{
	size_t i;

	for (i = 0; i < owners->adapter_count; i++)
		if (owners->adapters[i] == context)
			return true;
	return false;
}

/*
 * NCCL makes all queue pairs of a connection, and then tells the peer.  So a completion queue
 * on another adapter, before the thread has sent anything, is of the same connection.
 */
static int note_queue(struct tap_net_channels *channels, const struct tap_process *process,
		      const struct tap_event *event, struct owners *owners)
{
	const uint64_t context = tap_fields_number(&event->fields, "context_id");
	const uint64_t key = queue_key(tap_fields_number(&event->fields, "send_cq_id"));

	if (tap_table_find(&channels->queues, process->number, key))
		return 0;
	if (!owners->made || !owners->has_sent || owners->adapter_count == ADAPTERS_MAX ||
	    has_adapter(owners, context)) {
		owners->made = key;
		owners->adapter_count = 0;
	}
	owners->adapters[owners->adapter_count++] = context;
	return tap_table_set(&channels->queues, process->number, key,
			     (void *) (uintptr_t) owners->made);
}

/* Adds the owner of a queue pair to those that the thread has yet to tell its peer of. */
static int take_queue_pair(struct tap_net_channels *channels,
			   const struct tap_process *process, const struct tap_event *event)
{
	const uint64_t qp_context = tap_fields_number(&event->fields, "qp_context");
	struct owners *owners = owners_of(channels, process, event->tid);

	if (!owners ||
	    (!qp_context && note_queue(channels, process, event, owners)))
		return -ENOMEM;
	owners->owner = tap_net_channel_owner(
		channels, process, qp_context,
		tap_fields_number(&event->fields, "send_cq_id"));
	owners->untold = owners->owner;
	return 0;
}

static int note_socket(struct tap_net_channels *channels, const struct tap_process *process,
		       const struct tap_event *event)
{
	const bool is_accepted = tap_fields_number(&event->fields, "accepted");
	const uint64_t number = tap_fields_number(&event->fields, "socket_id");
	const char *address =
		tap_fields_get_string(&event->fields, is_accepted ? "local" : "peer");
	struct tap_net_channel *channel =
		address ? tap_table_find(&channels->addresses, process->number,
					 hash(address, !is_accepted))
			: NULL;

	if (channel && !is_accepted)
		channel->has_socket = true;
	if (!is_accepted &&
	    tap_table_set(&channels->connected, process->number, number, channels))
		return -ENOMEM;
	return channel ? tap_table_set(&channels->sockets, process->number, number,
				       channel)
		       : 0;
}

static int take_send(struct tap_net_channels *channels, const struct tap_process *process,
		     const struct tap_event *event)
{
	const uint64_t number = tap_fields_number(&event->fields, "socket_id");
	struct owners *owners = owners_of(channels, process, event->tid);
	struct tap_net_channel *channel;

	if (!owners)
		return -ENOMEM;
	owners->made = 0;
	owners->has_sent = true;
	if (!owners->owner)
		return 0;
	if (owners->untold && number &&
	    tap_table_find(&channels->connected, process->number, number) &&
	    tap_table_set(&channels->numbers, process->number, owners->untold,
			  (void *) (uintptr_t) number))
		return -ENOMEM;
	owners->untold = 0;
	channel = tap_table_find(&channels->sockets, process->number, number);
	if (!channel)
		return 0;
	if (tap_table_set(&channels->owners, process->number, owners->owner, channel))
		return -ENOMEM;
	owners->owner = 0;
	return 0;
}

/* ---- The layer ---- */

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_net_channels *channels = state;

	if (event->kind == TAP_EVENT_VERBS)
		return event->verbs == TAP_VERBS_QP
			       ? take_queue_pair(channels, process, event)
			       : 0;
	switch (event->net) {
	case TAP_NET_SERVICE_REQUEST:
		return take_request(channels, process, event);
	case TAP_NET_SERVICE_RESPONSE:
		return take_response(channels, process, event);
	case TAP_NET_CONNECT:
	case TAP_NET_ACCEPT:
		return note_socket(channels, process, event);
	case TAP_NET_SEND:
		return take_send(channels, process, event);
	default:
		return 0;
	}
}

static void free_values(struct tap_table *table)
{
	size_t i;

	for (i = 0; i < table->size; i++)
		free(table->slots[i].value);
	tap_table_free(table);
}

static void free_all(void *state)
{
	struct tap_net_channels *channels = state;
	struct tap_net_channel *channel;

	while ((channel = channels->all)) {
		channels->all = channel->next;
		free(channel);
	}
	free_values(&channels->operations);
	free_values(&channels->threads);
	tap_table_free(&channels->connections);
	tap_table_free(&channels->addresses);
	tap_table_free(&channels->sockets);
	tap_table_free(&channels->owners);
	tap_table_free(&channels->queues);
	tap_table_free(&channels->connected);
	tap_table_free(&channels->numbers);
	tap_table_free(&channels->receivers);
	tap_table_free(&channels->shared);
}

const struct tap_net_channel *tap_net_channel_at(const struct tap_net_channels *channels,
						 const struct tap_process *process,
						 uint64_t socket, const char *address,
						 bool is_send)
{
	const struct tap_net_channel *channel =
		tap_table_find(&channels->sockets, process->number, socket);

	return channel ? channel
		       : tap_table_find(&channels->addresses, process->number,
					hash(address, is_send));
}

const struct tap_net_channel *
tap_net_channel_named(const struct tap_net_channels *channels,
		      const struct tap_process *process, uint64_t pointer)
{
	return tap_table_find(&channels->connections, process->number, pointer);
}

const struct tap_net_channel *tap_net_channel_of(const struct tap_net_channels *channels,
						 const struct tap_process *process,
						 uint64_t owner)
{
	return tap_table_find(&channels->owners, process->number, owner);
}

uint64_t tap_net_channel_socket(const struct tap_net_channels *channels,
				const struct tap_process *process, uint64_t owner)
{
	return (uintptr_t) tap_table_find(&channels->numbers, process->number, owner);
}

int64_t tap_net_channels_rank(const struct tap_net_channels *channels,
			      const struct tap_process *process, int64_t tid,
			      int64_t since_ns)
{
	const struct tap_net_channel *channel = tap_table_find(
		&channels->receivers, process->number, (uint64_t) tid);

	return channel && channel->made_ns >= since_ns ? channel->rank : -1;
}

bool tap_net_channels_agree(const struct tap_net_channel *a,
			    const struct tap_net_channel *b)
{
	return a->has_setup && b->has_setup && a->is_send != b->is_send &&
	       a->channel == b->channel && a->index == b->index &&
	       a->peer_rank == b->rank && b->peer_rank == a->rank;
}

void tap_net_channel_describe(const struct tap_net_channel *channel,
			      struct tap_fields *fields)
{
	if (!channel || !channel->has_setup)
		return;
	tap_fields_add_unsigned(fields, "channel", (uint64_t) channel->channel);
	tap_fields_add_unsigned(fields, "peer_rank", (uint64_t) channel->peer_rank);
	tap_fields_add_unsigned(fields, "connection_index", (uint64_t) channel->index);
	tap_fields_add_text(fields, "channel_known", "decoded");
}

const struct tap_layer tap_net_channels_layer = {
	.name = "channels",
	.size = sizeof(struct tap_net_channels),
	.events = TAP_TAKES(TAP_EVENT_NET) | TAP_TAKES(TAP_EVENT_VERBS),
	.take = take,
	.free = free_all,
};
