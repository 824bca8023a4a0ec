/* SPDX-License-Identifier: MIT */
/* Sockets that are connected, accepted, met and closed, and how their addresses are written. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "intercept/decode.h"
#include "intercept/net/net.h"
#include "intercept/trace.h"

#define ADDRESS_MAX 64

void tap_net_add_address(const void *address, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "?";
	union tap_net_address a;

	memcpy(&a, address, sizeof(a));
	switch (a.any.sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &a.v4.sin_addr, host, sizeof(host));
		snprintf(text, size, "%s:%u", host, ntohs(a.v4.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &a.v6.sin6_addr, host, sizeof(host));
		snprintf(text, size, "[%s]:%u", host, ntohs(a.v6.sin6_port));
		break;
	default:
		snprintf(text, size, "%s", a.any.sa_family == AF_UNIX ? "unix" : "");
		break;
	}
}

void tap_net_write_socket(const struct tap_socket *socket,
			  void (*write)(const struct tap_net_socket_event *event), int error)
{
	char local[ADDRESS_MAX], peer[ADDRESS_MAX];
	const struct tap_net_socket_event event = {
		.socket_id = socket->id,
		.fd = socket->fd,
		.is_accepted = socket->is_accepted,
		.is_whole = socket->is_whole,
		.local = local,
		.peer = peer,
		.error = error,
		.use = socket->handshake.use,
		.index = socket->handshake.use == TAP_NET_USE_DATA
				 ? socket->handshake.index
				 : -1,
		.sent_bytes = socket->out.offset,
		.received_bytes = socket->in.offset,
		.sent_messages = socket->out.message,
		.received_messages = socket->in.message,
	};

	tap_net_add_address(&socket->local, local, sizeof(local));
	tap_net_add_address(&socket->peer, peer, sizeof(peer));
	write(&event);
}

typedef int (*name_function)(int, struct sockaddr *, socklen_t *);

/* Asks for a name; a longer one, of another family, is cut.  errno may change. */
static void ask_name(int fd, name_function ask, union tap_net_address *ret_name)
{
	struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
	socklen_t length = sizeof(name);

	if (ask(fd, (struct sockaddr *) &name, &length))
		name.ss_family = AF_UNSPEC;
	memcpy(ret_name, &name, sizeof(*ret_name));
}

/* NCCL's handshake goes from the side that connects to the one that accepts. */
static void begin_streams(struct tap_socket *socket)
{
	socket->in.is_received = true;
	socket->service_in.is_response = !socket->is_accepted;
	socket->service_out.is_response = socket->is_accepted;
	if (!socket->is_whole || !tap_is_decoding)
		return;
	if (socket->is_accepted)
		socket->in.state = TAP_NET_HANDSHAKE;
	else
		socket->out.state = TAP_NET_HANDSHAKE;
}

static bool is_internet(const union tap_net_address *address)
{
	return address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6;
}

static struct tap_socket *make(struct tap_socket *like)
{
	like->is_whole &= is_internet(&like->local);
	begin_streams(like);
	return tap_sockets_make(like);
}

void tap_net_connected(int fd, const struct sockaddr *peer, socklen_t length, int error)
{
	struct tap_socket like = {.fd = fd, .is_whole = true}, *socket;
	const struct tap_net_events *events;
	struct tap_guard guard;

	events = tap_net_begin_emit(&guard);
	memcpy(&like.peer, peer,
	       length < sizeof(like.peer) ? length : sizeof(like.peer));
	ask_name(fd, getsockname, &like.local);
	socket = make(&like);
	if (events && socket)
		tap_net_write_socket(socket, events->connect, error);
	if (error && socket)
		tap_sockets_drop(socket);
	tap_guard_clear(guard);
}

/*
 * NCCL's service threads are asked by other ranks, too: the addresses of the socket say
 * who does, where what is asked for does not.
 */
void tap_net_caller_connected(int fd, const struct sockaddr *peer, socklen_t length)
{
	char local_text[ADDRESS_MAX], peer_text[ADDRESS_MAX];
	union tap_net_address local, to = {.any.sa_family = AF_UNSPEC};
	const struct tap_net_events *events;
	struct tap_guard guard;

	events = tap_net_begin_emit(&guard);
	if (events && !tap_is_decoding) {
		memcpy(&to, peer, length < sizeof(to) ? length : sizeof(to));
		ask_name(fd, getsockname, &local);
		if (is_internet(&local) && is_internet(&to)) {
			tap_net_add_address(&local, local_text, sizeof(local_text));
			tap_net_add_address(&to, peer_text, sizeof(peer_text));
			events->caller_connect(local_text, peer_text);
		}
	}
	tap_guard_clear(guard);
}

void tap_net_accepted(int fd)
{
	struct tap_socket like = {.fd = fd, .is_whole = true, .is_accepted = true}, *socket;
	const struct tap_net_events *events;
	struct tap_guard guard;

	events = tap_net_begin_emit(&guard);
	ask_name(fd, getsockname, &like.local);
	ask_name(fd, getpeername, &like.peer);
	socket = make(&like);
	if (events && socket)
		tap_net_write_socket(socket, events->accept, 0);
	tap_guard_clear(guard);
}

struct tap_socket *tap_net_meet(int fd)
{
	struct tap_socket like = {.fd = fd}, *socket = NULL;
	const struct tap_net_events *events;
	struct tap_guard guard;

	events = tap_net_begin_emit(&guard);
	ask_name(fd, getsockname, &like.local);
	ask_name(fd, getpeername, &like.peer);
	if (like.local.any.sa_family != AF_UNSPEC)
		socket = make(&like);
	if (events && socket)
		tap_net_write_socket(socket, events->statedump_socket, 0);
	tap_guard_clear(guard);
	return socket;
}

void tap_net_closed(const struct tap_socket *socket)
{
	struct tap_guard guard;
	const struct tap_net_events *events = tap_net_begin_emit(&guard);

	if (events)
		tap_net_write_socket(socket, events->close, 0);
	tap_guard_clear(guard);
}
