/* SPDX-License-Identifier: MIT */
/*
 * What is rare of what passes over a socket: handshakes, requests to the service thread, ends,
 * and what cannot be decoded.  What most calls move is in net.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/decode.h"
#include "intercept/dl/nccl_version.h"
#include "intercept/net/net.h"
#include "intercept/trace.h"

#define ADDRESS_MAX 64

/* ---- What is rare ---- */

tap_cold static void write_undecoded(const struct tap_socket *socket, bool is_received,
				     const char *why)
{
	struct tap_guard guard;
	const struct tap_net_events *events = tap_net_begin_emit(&guard);

	if (events)
		events->undecoded(socket->id, is_received, why);
	tap_guard_clear(guard);
}

tap_cold static void write_handshake(const struct tap_socket *socket)
{
	const struct tap_net_handshake *handshake = &socket->handshake;
	struct tap_guard guard;
	const struct tap_net_events *events = tap_net_begin_emit(&guard);

	if (events)
		events->handshake(socket->id, handshake->use,
				  handshake->use == TAP_NET_USE_DATA ? handshake->index
								     : -1);
	tap_guard_clear(guard);
}

tap_cold static void write_end(const struct tap_socket *socket, bool is_received, int error)
{
	struct tap_guard guard;
	const struct tap_net_events *events = tap_net_begin_emit(&guard);

	if (events)
		events->stream_end(socket->id, is_received, error);
	tap_guard_clear(guard);
}

static void write_service(void *data, const struct tap_service_message *message)
{
	const struct tap_socket *socket = data;
	struct tap_net_service_event event = {
		.socket_id = socket->id,
		.type = message->type,
		.connection = message->connection,
		.operation = message->operation,
		.request_bytes = message->request_bytes,
		.response_bytes = message->response_bytes,
		.result = message->result,
		.nr_values = message->nr_values,
		.values = message->values,
	};
	char address[ADDRESS_MAX] = "";
	struct tap_guard guard;
	const struct tap_net_events *events = tap_net_begin_emit(&guard);

	if (events) {
		if (message->address)
			tap_net_add_address(message->address, address, sizeof(address));
		event.address = address;
		if (message->is_response)
			events->service_response(&event);
		else
			events->service_request(&event);
	}
	tap_guard_clear(guard);
}

/* ---- What goes with a header ---- */

#define RELEASE_WITH_INLINE 22700
#define DEFAULT_INLINE 128

bool tap_net_has_env_plugin;

/* As NCCL reads its parameters: once, at its first connection. */
static int64_t setting(void)
{
	static int64_t value = TAP_NET_INLINE_UNKNOWN;
	int64_t read = __atomic_load_n(&value, __ATOMIC_RELAXED);
	const char *text;

	if (read != TAP_NET_INLINE_UNKNOWN)
		return read;
	text = getenv("NCCL_SOCKET_INLINE");
	errno = 0;
	read = text && *text ? strtoll(text, NULL, 0) : DEFAULT_INLINE;
	if (errno)
		read = DEFAULT_INLINE;
	if (read < 0)
		read = 0;
	__atomic_store_n(&value, read, __ATOMIC_RELAXED);
	return read;
}

/* Up to how many bytes of payload the library of the calling thread sends with a header. */
static int64_t inline_bytes(void)
{
	const void *code = (const void *) tap_thread.ccl.routine;
	const uint32_t release = code ? tap_nccl_version_at(code) : 0;
	const int saved_errno = errno;
	int64_t bytes;

	if (!release)
		return TAP_NET_INLINE_UNKNOWN;
	if (release < RELEASE_WITH_INLINE)
		return 0;
	if (__atomic_load_n(&tap_net_has_env_plugin, __ATOMIC_RELAXED))
		return TAP_NET_INLINE_UNKNOWN;
	bytes = setting();
	errno = saved_errno;
	return bytes;
}

/* ---- Which socket of a connection it is ---- */

struct siblings {
	const struct tap_socket *of;
	uint8_t greatest_index;
};

/* All sockets of a connection are connected to one listening socket of its own. */
static const union tap_net_address *listener(const struct tap_socket *socket)
{
	return socket->is_accepted ? &socket->local : &socket->peer;
}

static bool has_one_listener(const struct tap_socket *a, const struct tap_socket *b)
{
	const union tap_net_address *x = listener(a), *y = listener(b);

	if (a->is_accepted != b->is_accepted || x->any.sa_family != y->any.sa_family)
		return false;
	if (x->any.sa_family == AF_INET)
		return x->v4.sin_port == y->v4.sin_port &&
		       x->v4.sin_addr.s_addr == y->v4.sin_addr.s_addr;
	return x->v6.sin6_port == y->v6.sin6_port &&
	       !memcmp(&x->v6.sin6_addr, &y->v6.sin6_addr, sizeof(x->v6.sin6_addr));
}

static void look_at_sibling(void *data, const struct tap_socket *socket)
{
	struct siblings *siblings = data;

	if (socket->handshake.use == TAP_NET_USE_DATA &&
	    has_one_listener(socket, siblings->of) &&
	    socket->handshake.index > siblings->greatest_index)
		siblings->greatest_index = socket->handshake.index;
}

/*
 * Headers go over the last socket of a connection, and tasks over the others: NCCL uses a
 * connection only when all of them are connected.
 */
tap_cold static void find_siblings(const struct tap_socket *socket,
				   struct tap_net_stream *stream)
{
	struct siblings siblings = {.of = socket};

	tap_sockets_each(look_at_sibling, &siblings);
	if (siblings.greatest_index)
		tap_net_stream_set_tasks(stream,
					 socket->handshake.index == siblings.greatest_index,
					 inline_bytes());
	else
		tap_net_stream_set_alone(stream);
}

/* The other direction of a socket for requests has the answers. */
static void begin_answers(struct tap_socket *socket)
{
	struct tap_net_stream *other = socket->is_accepted ? &socket->out : &socket->in;

	if (socket->handshake.use == TAP_NET_USE_PROXY)
		other->state = TAP_NET_SERVICE;
}

/* ---- Bytes ---- */

static void pass_service(struct tap_socket *socket, struct tap_net_stream *stream,
			 const struct tap_net_call *call, size_t bytes)
{
	struct tap_service_stream *service =
		stream->is_received ? &socket->service_in : &socket->service_out;
	const char *why = tap_service_pass(service, call->data, call->asked, bytes,
					   write_service, socket);

	stream->offset += bytes;
	if (likely(!why))
		return;
	stream->state = TAP_NET_OPAQUE;
	write_undecoded(socket, stream->is_received, why);
}

static void pass(struct tap_socket *socket, struct tap_net_stream *stream,
		 const struct tap_net_call *call, size_t bytes,
		 struct tap_net_piece *ret_piece)
{
	if (unlikely(stream->state == TAP_NET_FIRST))
		find_siblings(socket, stream);
	tap_net_stream_pass(stream, call->data, call->asked, bytes, &socket->handshake,
			    ret_piece);
	if (unlikely(ret_piece->is_handshake_over)) {
		begin_answers(socket);
		write_handshake(socket);
	}
	if (unlikely(ret_piece->mismatch))
		write_undecoded(socket, stream->is_received, ret_piece->mismatch);
}

/*
 * Whether the caller's data are a variable of its own or of its callers, as headers are up
 * to NCCL 2.26; payload is in buffers.  The C library keeps a thread's descriptor, which
 * pthread_self() points to, behind the thread's first frame, on the same stack.
 */
static bool is_in_frame(const struct tap_net_call *call)
{
	const uintptr_t data = (uintptr_t) call->data;

	return data > (uintptr_t) __builtin_frame_address(0) &&
	       data < (uintptr_t) pthread_self();
}

static void pass_unread(struct tap_net_stream *stream, const struct tap_net_call *call,
			size_t bytes, struct tap_net_piece *ret_piece)
{
	stream->offset += bytes;
	if (!tap_is_decoding && is_in_frame(call))
		ret_piece->part = TAP_NET_PART_STACK;
}

void tap_net_pass_slowly(struct tap_socket *socket, struct tap_net_stream *stream,
			 const struct tap_net_call *call, size_t bytes,
			 struct tap_net_piece *ret_piece)
{
	if (unlikely(!call->data) && stream->state != TAP_NET_OPAQUE) {
		stream->state = TAP_NET_OPAQUE;
		write_undecoded(socket, stream->is_received, "a call with several buffers");
	}
	if (stream->state == TAP_NET_OPAQUE)
		pass_unread(stream, call, bytes, ret_piece);
	else if (stream->state == TAP_NET_SERVICE)
		pass_service(socket, stream, call, bytes);
	else
		pass(socket, stream, call, bytes, ret_piece);
}

void tap_net_moved_none(struct tap_socket *socket, struct tap_net_stream *stream,
			const struct tap_net_call *call, ssize_t result)
{
	if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		stream->empty_calls++;
	else if (result < 0 || call->asked)
		write_end(socket, stream->is_received, result ? errno : 0);
}
