/* SPDX-License-Identifier: MIT */
/*
 * The wrappers of the calls on sockets, and the layer.  On a thread that is not NCCL's own
 * they test one flag of the thread and jump; close() tests whether the descriptor is one of
 * NCCL's sockets, whoever closes it.
 */
#include "intercept/net/net.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/thread.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/real.h"
#include "intercept/layer.h"
#include "intercept/start.h"
#include "intercept/trace.h"

static const int never;
const int *tap_net_on[TAP_NET_HOT_NR] = {[0 ... TAP_NET_HOT_NR - 1] = &never};

/* The sockets are this process's; a child of vfork() has the same memory. */
static pid_t process;

/* ---- Events ---- */

/* Once LTTng has started. */
static void point_switches(void)
{
	unsigned i;

	for (i = 0; i < TAP_NET_HOT_NR; i++)
		__atomic_store_n(&tap_net_on[i], tap_events_table->net.on[i],
				 __ATOMIC_RELEASE);
}

static void reconsider(void)
{
	if (tap_has_started())
		point_switches();
}

const struct tap_net_events *tap_net_begin_emit(struct tap_guard *ret_guard)
{
	*ret_guard = tap_guard_set();
	if (ret_guard->was_inside || tap_start(ret_guard) != TAP_STARTED)
		return NULL;
	if (unlikely(tap_net_on[0] == &never))
		point_switches();
	if (*tap_net_on[0] || *tap_events_table->open_call_on)
		tap_announce();
	return &tap_events_table->net;
}

/* ---- Wrappers ---- */

/*
 * WRAP(name, type, parameters, arguments, condition, system_call): the exported function, which
 * jumps to libc's unless the condition says that on_`name`() has work.  Constructors look
 * libc's up, before all others of this library: one of these starts a thread that loads
 * LTTng and holds the linker's lock, and waits for a thread of LTTng's that connects.  So
 * until then a call goes to the kernel, and never to the linker.
 */
/* clang-format off */
#define WRAP(name, type, params, args, condition, system_call) \
	static type early_##name params; \
	static type (*real_##name) params = early_##name; \
	__attribute__((constructor(101))) static void look_up_##name(void) \
	{ \
		type (*found) params = (type (*) params) tap_real_dlsym(RTLD_NEXT, #name); \
		if (found) \
			__atomic_store_n(&real_##name, found, __ATOMIC_RELAXED); \
	} \
	tap_cold static type early_##name params \
	{ \
		return (type) syscall system_call; \
	} \
	static type on_##name params; \
	tap_exported tap_hot type name params \
	{ \
		if (likely(!(condition))) \
			return __atomic_load_n(&real_##name, __ATOMIC_RELAXED) args; \
		return on_##name args; \
	}
/* clang-format on */

WRAP(send, ssize_t, (int fd, const void *data, size_t size, int flags),
     (fd, data, size, flags), tap_thread.is_ccl,
     (SYS_sendto, fd, data, size, flags, NULL, 0))
WRAP(recv, ssize_t, (int fd, void *data, size_t size, int flags), (fd, data, size, flags),
     tap_thread.is_ccl, (SYS_recvfrom, fd, data, size, flags, NULL, NULL))
WRAP(sendmsg, ssize_t, (int fd, const struct msghdr *message, int flags),
     (fd, message, flags), tap_thread.is_ccl, (SYS_sendmsg, fd, message, flags))
WRAP(recvmsg, ssize_t, (int fd, struct msghdr *message, int flags), (fd, message, flags),
     tap_thread.is_ccl, (SYS_recvmsg, fd, message, flags))
WRAP(connect, int, (int fd, const struct sockaddr *peer, socklen_t length),
     (fd, peer, length), tap_thread.is_ccl || tap_thread.inside || tap_thread.function,
     (SYS_connect, fd, peer, length))
WRAP(accept, int, (int fd, struct sockaddr *peer, socklen_t *length), (fd, peer, length),
     tap_thread.is_ccl, (SYS_accept4, fd, peer, length, 0))
WRAP(accept4, int, (int fd, struct sockaddr *peer, socklen_t *length, int flags),
     (fd, peer, length, flags), tap_thread.is_ccl, (SYS_accept4, fd, peer, length, flags))
WRAP(close, int, (int fd), (fd), tap_sockets_find(fd) || unlikely(tap_has_started_late),
     (SYS_close, fd))

/* ---- What passes ---- */

static uint32_t cut(size_t bytes)
{
	return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t) bytes;
}

/*
 * Not in the guard: it spares a tenth of an event.  Nobody cancels a thread of NCCL's, and
 * errno means nothing after a call that moved bytes, but is kept all the same.
 */
static inline void write_moved(const struct tap_socket *socket,
			       const struct tap_net_stream *stream,
			       const struct tap_net_call *call,
			       const struct tap_net_piece *piece, size_t bytes)
{
	const struct tap_net_send record = {
		.begin_ns = call->begin_ns,
		.socket_id = socket->id,
		.offset = stream->offset - bytes,
		.length = cut(call->asked),
		.bytes = cut(bytes),
		.empty_calls = stream->empty_calls,
		.part = (uint8_t) piece->part,
		.message = piece->message,
		.size = piece->size,
		.left = piece->left,
	};
	const int saved_errno = errno;

	_Static_assert(sizeof(struct tap_net_recv) == sizeof(record), "of one row");
	tap_thread.in_tracer = true;
	tap_announce();
	tap_events_table->net.write[call->event](&record, sizeof(record));
	tap_thread.in_tracer = false;
	errno = saved_errno;
}

/*
 * Follows the stream whether somebody records or not: a recording that begins late has the
 * right offsets and numbers.
 */
static inline void moved(struct tap_socket *socket, const struct tap_net_call *call,
			 ssize_t result)
{
	struct tap_net_stream *stream =
		call->event == TAP_NET_HOT_send ? &socket->out : &socket->in;
	struct tap_net_piece piece = {.part = TAP_NET_PART_OTHER};

	if (unlikely(result <= 0)) {
		tap_net_moved_none(socket, stream, call, result);
		return;
	}
	if (!call->data ||
	    !tap_net_stream_pass_quickly(stream, call->data, call->asked, (size_t) result,
					 &piece))
		tap_net_pass_slowly(socket, stream, call, (size_t) result, &piece);
	if (call->begin_ns)
		write_moved(socket, stream, call, &piece, (size_t) result);
	stream->empty_calls = 0;
}

/* What a call moves; NULL: the tracer does not look at it. */
static inline struct tap_socket *begin(int fd, enum tap_net_hot event, const void *data,
				       size_t asked, struct tap_net_call *ret_call)
{
	struct tap_socket *socket;

	if (tap_thread.in_tracer)
		return NULL;
	socket = tap_sockets_find(fd);
	if (unlikely(!socket))
		socket = tap_net_meet(fd);
	*ret_call = (struct tap_net_call){.event = event, .data = data, .asked = asked};
	if (*__atomic_load_n(&tap_net_on[event], __ATOMIC_RELAXED))
		ret_call->begin_ns = (uint64_t) tap_now_ns();
	return socket;
}

tap_hot static ssize_t on_send(int fd, const void *data, size_t size, int flags)
{
	struct tap_net_call call;
	struct tap_socket *const socket = begin(fd, TAP_NET_HOT_send, data, size, &call);
	const ssize_t result = real_send(fd, data, size, flags);

	if (likely(socket))
		moved(socket, &call, result);
	return result;
}

tap_hot static ssize_t on_recv(int fd, void *data, size_t size, int flags)
{
	struct tap_net_call call;
	struct tap_socket *const socket = begin(fd, TAP_NET_HOT_recv, data, size, &call);
	const ssize_t result = real_recv(fd, data, size, flags);

	/* A look takes nothing from the stream. */
	if (likely(socket && !(flags & MSG_PEEK)))
		moved(socket, &call, result);
	return result;
}

/*
 * Fills in where the bytes are, if in one buffer, and how many of them all buffers take. Only
 * a call that did not fail has shown that the message can be read.
 */
static void note_buffers(const struct msghdr *message, struct tap_net_call *call)
{
	size_t i;

	for (i = 0; i < message->msg_iovlen; i++)
		call->asked += message->msg_iov[i].iov_len;
	if (message->msg_iovlen == 1)
		call->data = message->msg_iov[0].iov_base;
}

static void moved_message(struct tap_socket *socket, struct tap_net_call *call,
			  const struct msghdr *message, ssize_t result)
{
	if (result >= 0)
		note_buffers(message, call);
	moved(socket, call, result);
}

static ssize_t on_sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct tap_net_call call;
	struct tap_socket *const socket = begin(fd, TAP_NET_HOT_send, NULL, 0, &call);
	const ssize_t result = real_sendmsg(fd, message, flags);

	if (socket)
		moved_message(socket, &call, message, result);
	return result;
}

static ssize_t on_recvmsg(int fd, struct msghdr *message, int flags)
{
	struct tap_net_call call;
	struct tap_socket *const socket = begin(fd, TAP_NET_HOT_recv, NULL, 0, &call);
	const ssize_t result = real_recvmsg(fd, message, flags);

	if (socket && !(flags & MSG_PEEK))
		moved_message(socket, &call, message, result);
	return result;
}

static int on_connect(int fd, const struct sockaddr *peer, socklen_t length)
{
	const int result = real_connect(fd, peer, length);
	const int error = result && errno != EINPROGRESS ? errno : 0;

	/* A second call asks whether the first has succeeded. */
	if (tap_thread.in_tracer || !peer || error == EALREADY || error == EISCONN ||
	    error == EBADF || error == ENOTSOCK || error == EFAULT)
		return result;
	if (tap_thread.is_ccl)
		tap_net_connected(fd, peer, length, error);
	else if (!error)
		tap_net_caller_connected(fd, peer, length);
	return result;
}

static int on_accept(int fd, struct sockaddr *peer, socklen_t *length)
{
	const int result = real_accept(fd, peer, length);

	if (result >= 0 && !tap_thread.in_tracer)
		tap_net_accepted(result);
	return result;
}

static int on_accept4(int fd, struct sockaddr *peer, socklen_t *length, int flags)
{
	const int result = real_accept4(fd, peer, length, flags);

	if (result >= 0 && !tap_thread.in_tracer)
		tap_net_accepted(result);
	return result;
}

/* LTTng calls it, under its lock, for a number that is not one of LTTng's. */
static int note_foreign(int fd)
{
	(void) fd;
	return 0;
}

/*
 * Where LTTng was loaded late its own guard of its descriptors is not there (descriptors.c
 * says what that is for).  LTTng is only asked: its lock must not be held while a close
 * waits, as that of a socket that lingers.
 *
 * close() may be called in a handler of a signal.  LTTng is not made for that: the first
 * question of a thread allocates that thread's variables of LTTng's.
 */
static int close_sparing(int fd)
{
	if (unlikely(tap_has_started_late) && tap_has_events() &&
	    tap_events_table->close_one(fd, note_foreign))
		return -1;
	return real_close(fd);
}

/* The descriptor is another's as soon as it is closed, so it is dropped before. */
static int on_close(int fd)
{
	struct tap_socket *const socket = tap_sockets_find(fd);
	struct tap_socket closed;
	int result;

	if (__atomic_load_n(&process, __ATOMIC_RELAXED) != getpid())
		return real_close(fd);
	if (!socket)
		return close_sparing(fd);
	closed = *socket;
	tap_sockets_drop(socket);
	result = real_close(fd);
	tap_net_closed(&closed);
	return result;
}

/* ---- The layer ---- */

__attribute__((constructor)) static void note_process(void)
{
	process = getpid();
}

static void prepare(void)
{
	const char *magic = getenv("NCCL_SOCKET_MAGIC");

	if (magic)
		tap_net_stream_set_magic(strtoull(magic, NULL, 0));
}

#define ENV_PLUGIN "ncclEnvPlugin_v"

/*
 * NCCL asks a plugin for its table.  tap:library names a network plugin; one for parameters
 * is noted.  The program gets what it asked for.
 */
static void *note_plugin(const char *name, void *found)
{
	struct tap_guard guard;

	if (tap_thread.in_tracer)
		return NULL;
	if (!strncmp(name, ENV_PLUGIN, strlen(ENV_PLUGIN))) {
		__atomic_store_n(&tap_net_has_env_plugin, true, __ATOMIC_RELAXED);
		return NULL;
	}
	guard = tap_guard_set();
	tap_library_traced(found, "net");
	tap_guard_clear(guard);
	return NULL;
}

static const char *const plugins[] = {"ncclNetPlugin_v", "ncclCollNetPlugin_v", ENV_PLUGIN,
				      NULL};

static void write_one(void *data, const struct tap_socket *socket)
{
	(void) data;
	tap_net_write_socket(socket, tap_events_table->net.statedump_socket, 0);
}

static void write_statedump(struct tap_state_counts *counts)
{
	(void) counts;
	tap_sockets_each(write_one, NULL);
}

/* The child has none of the threads that use them. */
static void fork_child(void)
{
	process = getpid();
	tap_sockets_drop_all();
}

const struct tap_layer tap_layer_net = {
	.lock = &tap_sockets_lock,
	.is_locked_by_fork = true,
	.prepare = prepare,
	.reconsider = reconsider,
	.stand_in = note_plugin,
	.prefixes = plugins,
	.write_statedump = write_statedump,
	.fork_child = fork_child,
};
