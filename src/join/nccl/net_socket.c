/* SPDX-License-Identifier: MIT */
/* Finds connections by the addresses of their sockets. */
#include "join/nccl/net_socket.h"

#include "join/model/process.h"
#include "join/nccl/net_channel.h"
#include "join/nccl/net_occasion.h"
#include "join/nccl/netib.h"
#include "join/nccl/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define USE_DATA 3	   /* enum tap_net_use of the tracer */
#define HANDSHAKE_BYTES 13 /* of a socket for data */

/* One end of a socket. */
struct tap_socket_end {
	const struct tap_process *process;
	uint64_t number;
	int64_t tid;	 /* of the thread that made it, -1 unknown */
	int64_t made_ns; /* when that was; INT64_MIN unknown */
	bool is_accepted;
	char *local, *peer;
	uint64_t use;
	int64_t index; /* of data: which of its connection's */
	struct tap_socket_end *other;
	struct tap_socket_net *net; /* of data */
	struct tap_stream_tasks tasks;
	struct tap_call_stream calls; /* of data that are not decoded */
	struct tap_socket_end *next_of_net;
	struct tap_socket_end *next; /* of all */
};

/* ---- Addresses ---- */

static const char *listener(const struct tap_socket_end *socket)
{
	return socket->is_accepted ? socket->local : socket->peer;
}

/* An address of loopback means another socket on each host. */
static bool is_local(const char *address)
{
	return !strncmp(address, "127.", 4) || !strncmp(address, "[::1]", 5);
}

static uint64_t hash(const struct tap_socket_end *socket, const char *address)
{
	const uint64_t hashed = tap_table_hash(address);

	return is_local(address) ? hashed ^ tap_table_hash(socket->process->host)
				 : hashed;
}

/* ---- The other end ---- */

static void join_nets(struct tap_socket_end *socket)
{
	struct tap_socket_end *other = socket->other;

	if (!other || !socket->net || !other->net || socket->net->end.peer ||
	    other->net->end.peer)
		return;
	socket->net->end.peer = &other->net->end;
	other->net->end.peer = &socket->net->end;
}

/* Waits under the address that connected and the one that listened, for the other side.
 */
static int find_other(struct tap_net_sockets *sockets, struct tap_socket_end *socket)
{
	const char *from = socket->is_accepted ? socket->peer : socket->local;
	const uint64_t a = hash(socket, from), b = hash(socket, listener(socket));
	struct tap_socket_end *other;

	if (!*from || !*listener(socket))
		return 0;
	other = tap_table_find(&sockets->waiting, a, b);
	if (!other || other->is_accepted == socket->is_accepted)
		return tap_table_set(&sockets->waiting, a, b, socket);
	tap_table_remove(&sockets->waiting, a, b);
	socket->other = other;
	other->other = socket;
	join_nets(socket);
	return 0;
}

/* ---- Connections ---- */

static int make_net(struct tap_net_sockets *sockets, struct tap_socket_end *socket,
		    uint64_t key)
{
	struct tap_netib *netib = tap_context_state(sockets->context, &tap_netib_layer);
	struct tap_socket_net *net = calloc(1, sizeof(*net));

	if (!net)
		return -ENOMEM;
	net->end.process = socket->process;
	net->end.is_sender = !socket->is_accepted;
	net->end.net_id = tap_netib_new_id(netib, socket->process);
	net->key = key;
	net->end.maker = (struct tap_net_maker){
		.process = socket->process,
		.tid = socket->tid,
		.made_ns = socket->made_ns,
		.index = tap_net_occasion_index(
			tap_context_state(sockets->context, &tap_net_occasions_layer),
			socket->process, socket->made_ns)};
	net->ordinal = net->end.socket = socket->number;
	net->listener = strdup(listener(socket));
	net->end.listener = is_local(listener(socket)) ? NULL : net->listener;
	net->next = sockets->all_nets;
	sockets->all_nets = net;
	socket->net = net;
	if (!net->listener || !net->end.net_id)
		return -ENOMEM;
	return tap_table_set(&sockets->nets, socket->process->number, key, net);
}

const struct tap_net_channel *
tap_socket_net_channel(const struct tap_net_channels *channels,
		       const struct tap_socket_net *net)
{
	return tap_net_channel_at(channels, net->end.process, net->ordinal, net->listener,
				  net->end.is_sender);
}

/* Whether the connection has such a socket: the next one is of another, at the same port.
 */
static bool has_socket(const struct tap_socket_net *net, int64_t index)
{
	return index >= 0 && index <= 255 && net->end.turns[index];
}

/* A port is free again when its connection is closed. */
static void leave_port(struct tap_net_sockets *sockets,
		       const struct tap_socket_end *socket)
{
	const struct tap_socket_net *net = socket->net;
	const uint64_t process = socket->process->number;

	if (net && tap_table_find(&sockets->nets, process, net->key) == net)
		tap_table_remove(&sockets->nets, process, net->key);
}

/* Which socket has headers shows when they pass; before, each may be for tasks. */
static void add_turn(struct tap_socket_end *socket)
{
	struct tap_stream_end *end = &socket->net->end;

	if (socket->index < 0 || socket->index > 255)
		return;
	end->turns[socket->index] = &socket->tasks;
	/* The last one is for headers. */
	if ((unsigned int) socket->index > end->turn_count)
		end->turn_count = (unsigned int) socket->index;
}

static int join_connection(struct tap_net_sockets *sockets, struct tap_socket_end *socket)
{
	uint64_t key;
	int ret;

	if (socket->net || !*listener(socket))
		return 0;
	key = hash(socket, listener(socket)) ^ socket->is_accepted;
	socket->net = tap_table_find(&sockets->nets, socket->process->number, key);
	if (socket->net && has_socket(socket->net, socket->index))
		socket->net = NULL;
	ret = socket->net ? 0 : make_net(sockets, socket, key);
	if (ret)
		return ret;
	socket->next_of_net = socket->net->sockets;
	socket->net->sockets = socket;
	socket->net->socket_count++;
	/* The one that is connected last is used last before who asked is answered. */
	if (socket->number > socket->net->end.socket)
		socket->net->end.socket = socket->number;
	add_turn(socket);
	join_nets(socket);
	return 0;
}

static int set_use(struct tap_net_sockets *sockets, struct tap_socket_end *socket,
		   const struct tap_event *event)
{
	socket->use = tap_fields_number(&event->fields, "use");
	if (tap_fields_get_signed(&event->fields, "index", &socket->index))
		socket->index = -1;
	return socket->use == USE_DATA ? join_connection(sockets, socket) : 0;
}

/* Whether the thread moves data, and nothing else; a socket of the host's is not NCCL's.
 */
static bool is_for_data(const struct tap_net_sockets *sockets,
			const struct tap_socket_end *socket, int64_t tid)
{
	const struct tap_nccl_thread *thread =
		tap_threads_find(tap_context_state(sockets->context, &tap_threads_layer),
				 socket->process, tid);

	return thread && strchr(listener(socket), ':') &&
	       (thread->role == TAP_THREAD_PROGRESS || thread->role == TAP_THREAD_SOCKET);
}

/* ---- Data ---- */

/* Of the sender: NCCL connects the socket that has the headers last. */
static struct tap_socket_end *control_of(const struct tap_socket_net *from)
{
	struct tap_socket_end *socket, *latest = NULL;

	for (socket = from->sockets; socket; socket = socket->next_of_net)
		if (!latest || socket->number > latest->number)
			latest = socket;
	return latest;
}

static int make_calls(struct tap_socket_net *net, struct tap_socket_end *control)
{
	struct tap_calls_end *calls = &net->calls;
	struct tap_socket_end *socket;

	free(calls->tasks);
	*calls = (struct tap_calls_end){.control = &control->calls,
					.tasks = calloc(net->socket_count,
							sizeof(*calls->tasks))};
	if (!calls->tasks)
		return -ENOMEM;
	for (socket = net->sockets; socket; socket = socket->next_of_net)
		if (socket != control)
			calls->tasks[calls->task_count++] = &socket->calls;
	return 0;
}

/*
 * Whether both ends of all sockets are there, none is decoded, and NCCL has not said what
 * the connection is for: then decoding is switched off.
 */
static bool is_undecoded(const struct tap_net_sockets *sockets,
			 const struct tap_socket_net *from,
			 const struct tap_socket_net *to)
{
	const struct tap_net_channels *channels =
		tap_context_state(sockets->context, &tap_net_channels_layer);
	const struct tap_socket_end *socket;

	if (from->socket_count != to->socket_count)
		return false;
	for (socket = from->sockets; socket; socket = socket->next_of_net)
		if (!socket->other || socket->other->net != to || socket->use ||
		    socket->other->use)
			return false;
	return !tap_socket_net_channel(channels, from) &&
	       !tap_socket_net_channel(channels, to);
}

static bool is_sorted(const struct tap_socket_net *net)
{
	return net->calls.control && net->calls.task_count + 1 == net->socket_count;
}

static int sort_out(struct tap_socket_net *from, struct tap_socket_net *to)
{
	struct tap_socket_end *control = control_of(from);
	const int ret = make_calls(from, control);

	return ret ? ret : make_calls(to, control->other);
}

static void give_up(struct tap_socket_net *net)
{
	struct tap_socket_end *socket;

	for (socket = net->sockets; socket; socket = socket->next_of_net)
		tap_calls_give_up(&socket->calls);
}

/* Whether NCCL at either end is seen to send short payloads with their headers: both do.
 */
static bool has_beside(const struct tap_net_sockets *sockets,
		       const struct tap_socket_net *from)
{
	return tap_table_find(&sockets->beside, from->end.process->number, 0) ||
	       tap_table_find(&sockets->beside, from->end.peer->process->number, 0);
}

static int note_beside(struct tap_net_sockets *sockets, struct tap_socket_net *from)
{
	const int ret =
		tap_table_set(&sockets->beside, from->end.process->number, 0, from);

	return ret ? ret
		   : tap_table_set(&sockets->beside, from->end.peer->process->number, 0,
				   from);
}

/* Emits the messages that what has passed over a connection shows. */
static int infer(struct tap_net_sockets *sockets, struct tap_socket_net *from,
		 struct tap_socket_net *to, bool is_end)
{
	struct tap_calls_message message;
	enum tap_calls_next next = TAP_CALLS_MESSAGE;
	int ret = 0;

	while (!ret && next == TAP_CALLS_MESSAGE) {
		next = tap_calls_next(&from->calls, &to->calls, has_beside(sockets, from),
				      is_end, &message);
		if (message.is_beside)
			ret = note_beside(sockets, from);
		if (!ret && next == TAP_CALLS_MESSAGE)
			ret = tap_streams_pass(&sockets->streams, &from->end, &to->end,
					       &message);
	}
	if (ret || next != TAP_CALLS_UNKNOWN)
		return ret;
	from->is_unknown = true;
	give_up(from);
	give_up(to);
	/* Else sockets have bytes alone. */
	if (from->end.whole)
		tap_count_unmatched(sockets->context, TAP_MATCH_SOCKET_MESSAGE,
				    TAP_WHY_AMBIGUOUS);
	return 0;
}

static int infer_of(struct tap_net_sockets *sockets, struct tap_socket_net *net,
		    bool is_end)
{
	struct tap_socket_net *peer = (struct tap_socket_net *) net->end.peer;
	struct tap_socket_net *from = net->end.is_sender ? net : peer;
	struct tap_socket_net *to = net->end.is_sender ? peer : net;
	int ret = 0;

	if (!peer || from->is_unknown)
		return 0;
	if (!is_sorted(from) || !is_sorted(to)) {
		if (!is_undecoded(sockets, from, to))
			return 0;
		ret = sort_out(from, to);
	}
	return ret ? ret : infer(sockets, from, to, is_end);
}

static int take_undecoded(struct tap_net_sockets *sockets, struct tap_socket_end *socket,
			  const struct tap_event *event)
{
	int ret = 0;

	if (tap_calls_are(event))
		ret = tap_calls_take(&socket->calls, event);
	if (!ret && !socket->net &&
	    (socket->calls.is_greeting || is_for_data(sockets, socket, event->tid)))
		ret = join_connection(sockets, socket);
	return ret || !socket->net ? ret : infer_of(sockets, socket->net, false);
}

/* Data flow from the side that connects. */
static int take_moved(struct tap_net_sockets *sockets, struct tap_socket_end *socket,
		      const struct tap_event *event)
{
	int ret = 0;

	if ((event->net == TAP_NET_RECV) != socket->is_accepted)
		return 0;
	if (!socket->use)
		ret = take_undecoded(sockets, socket, event);
	if (ret || !socket->net)
		return ret;
	socket->net->is_used |=
		tap_fields_number(&event->fields, "offset") >= HANDSHAKE_BYTES;
	return tap_streams_take(&sockets->streams, &socket->net->end, &socket->tasks,
				event);
}

/* ---- Events ---- */

static char *copy(const struct tap_event *event, const char *name)
{
	const char *text = tap_fields_get_string(&event->fields, name);

	return strdup(text ? text : "");
}

static int make_socket(struct tap_net_sockets *sockets, const struct tap_process *process,
		       const struct tap_event *event, uint64_t number)
{
	struct tap_socket_end *socket = calloc(1, sizeof(*socket));
	int ret;

	if (!socket)
		return -ENOMEM;
	socket->process = process;
	socket->number = number;
	socket->tid = event->net == TAP_NET_STATEDUMP ? -1 : event->tid;
	socket->made_ns = event->net == TAP_NET_STATEDUMP ? INT64_MIN : event->time_ns;
	socket->index = -1;
	socket->is_accepted = tap_fields_number(&event->fields, "accepted");
	socket->local = copy(event, "local");
	socket->peer = copy(event, "peer");
	socket->next = sockets->all;
	sockets->all = socket;
	if (!socket->local || !socket->peer)
		return -ENOMEM;
	ret = tap_table_set(&sockets->sockets, process->number, number, socket);
	if (!ret)
		ret = find_other(sockets, socket);
	return ret || event->net != TAP_NET_STATEDUMP ? ret
						      : set_use(sockets, socket, event);
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_net_sockets *sockets = state;
	const uint64_t number = tap_fields_number(&event->fields, "socket_id");
	struct tap_socket_end *socket =
		tap_table_find(&sockets->sockets, process->number, number);

	switch (event->net) {
	case TAP_NET_CONNECT:
		if (tap_fields_number(&event->fields, "error"))
			return 0;
		return socket ? 0 : make_socket(sockets, process, event, number);
	case TAP_NET_ACCEPT:
	case TAP_NET_STATEDUMP:
		return socket ? 0 : make_socket(sockets, process, event, number);
	case TAP_NET_HANDSHAKE:
		return socket ? set_use(sockets, socket, event) : 0;
	case TAP_NET_CLOSE:
		if (socket)
			leave_port(sockets, socket);
		return 0;
	case TAP_NET_RECV:
	case TAP_NET_SEND:
		return socket ? take_moved(sockets, socket, event) : 0;
	default:
		return 0;
	}
}

static void describe(void *data, const struct tap_stream_end *end,
		     struct tap_fields *fields)
{
	const struct tap_net_sockets *sockets = data;
	const struct tap_socket_net *net = (const struct tap_socket_net *) end;
	struct tap_net_channels *channels =
		tap_context_state(sockets->context, &tap_net_channels_layer);

	tap_net_channel_describe(tap_socket_net_channel(channels, net), fields);
}

static void begin(void *state)
{
	struct tap_net_sockets *sockets = state;

	sockets->streams = (struct tap_streams){.context = sockets->context,
						.describe = describe,
						.data = sockets};
}

static int finish(void *state)
{
	struct tap_net_sockets *sockets = state;
	struct tap_socket_net *net;
	int ret = 0;

	for (net = sockets->all_nets; net && !ret; net = net->next) {
		if (net->end.is_sender)
			ret = infer_of(sockets, net, true);
		if (!ret)
			ret = tap_streams_finish(&sockets->streams, &net->end);
	}
	return ret;
}

static void free_all(void *state)
{
	struct tap_net_sockets *sockets = state;
	struct tap_socket_end *socket;
	struct tap_socket_net *net;

	while ((net = sockets->all_nets)) {
		sockets->all_nets = net->next;
		tap_streams_free(&sockets->streams, &net->end);
		free(net->calls.tasks);
		free(net->listener);
		free(net);
	}
	while ((socket = sockets->all)) {
		sockets->all = socket->next;
		tap_stream_tasks_free(&socket->tasks);
		tap_calls_free(&socket->calls);
		free(socket->local);
		free(socket->peer);
		free(socket);
	}
	tap_table_free(&sockets->sockets);
	tap_table_free(&sockets->nets);
	tap_table_free(&sockets->waiting);
	tap_table_free(&sockets->beside);
}

const struct tap_layer tap_net_sockets_layer = {
	.name = "sockets",
	.size = sizeof(struct tap_net_sockets),
	.events = TAP_TAKES(TAP_EVENT_NET),
	.begin = begin,
	.take = take,
	.finish = finish,
	.free = free_all,
};
