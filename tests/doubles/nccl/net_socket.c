/* SPDX-License-Identifier: MIT */
/*
 * NET/Socket: a connection has one socket for sizes, the control socket, and where
 * NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD say so others for data, which threads of
 * their own move.  A message is 32 bits of size and the payload; from 2.27 on one of at
 * most 128 bytes comes in one piece with its size.  "NCCL 2.28.9: 123" is line 123 of
 * its transport/net_socket.cc.
 */
#include "net_socket.h"

#include "release.h"
#include "settings.h"
#include "truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES sizeof(int32_t)

/* What listen() fills in and connect() goes on with. */
struct stage {
	/* 0: not begun. */
	int state;
	/* Which of the sockets, the control socket last. */
	uint8_t turn;
	size_t moved;
	struct mini_stream stream;
	struct mini_net_connection *connection;
};

struct handle {
	struct sockaddr_in address;
	char room[12];
	uint64_t magic;
	int32_t sockets;
	int32_t threads;
	/* NCCL has all of the stage in it; here its place. */
	struct stage *stage;
};

_Static_assert(sizeof(struct handle) <= MINI_NET_HANDLE_BYTES, "too large");

struct mini_net_listener {
	int fd;
	int sockets;
	int threads;
	struct stage stage;
};

enum { BEGIN, READY, TELL_TURN };

/* There is one: the loopback interface. */
static int device_of(int channel)
{
	(void) channel;
	return 0;
}

/* NCCL 2.28.9: 276-330, where no vendor's adapter has a number of its own. */
static void choose_threads(int *ret_sockets, int *ret_threads)
{
	int threads = (int) mini_number(SET_NCCL_SOCKET_NTHREADS);
	int each = (int) mini_number(SET_NCCL_NSOCKS_PERTHREAD);

	if (threads * each > MINI_SOCKETS)
		each = MINI_SOCKETS / threads;
	*ret_threads = threads;
	*ret_sockets = threads * each;
}

static int socket_listen(int device, void *handle,
			 struct mini_net_listener **ret_listener)
{
	struct mini_net_listener *listener = calloc(1, sizeof(*listener));
	struct handle own = {.magic = MINI_STREAM_MAGIC};

	(void) device;
	if (!listener)
		return -ENOMEM;
	choose_threads(&listener->sockets, &listener->threads);
	own.sockets = listener->sockets;
	own.threads = listener->threads;
	listener->fd = mini_stream_listen(&own.address);
	if (listener->fd < 0) {
		int err = listener->fd;

		free(listener);
		return err;
	}
	memset(handle, 0, MINI_NET_HANDLE_BYTES);
	memcpy(handle, &own, sizeof(own));
	*ret_listener = listener;
	return 0;
}

static struct mini_net_connection *new_connection(bool is_send, int sockets, int threads)
{
	struct mini_net_connection *connection = calloc(1, sizeof(*connection));
	int i;

	if (!connection)
		return NULL;
	connection->is_send = is_send;
	connection->control_fd = -1;
	connection->socket_count = sockets;
	connection->thread_count = threads;
	for (i = 0; i < sockets; i++)
		connection->fds[i] = -1;
	return connection;
}

static void socket_close(struct mini_net_connection *connection)
{
	int i;

	mini_socket_helpers_stop(connection);
	if (connection->control_fd >= 0)
		close(connection->control_fd);
	for (i = 0; i < connection->socket_count; i++) {
		if (connection->fds[i] >= 0)
			close(connection->fds[i]);
	}
	free(connection);
}

static void keep(struct mini_net_connection *connection, int turn, int fd)
{
	if (turn == connection->socket_count)
		connection->control_fd = fd;
	else
		connection->fds[turn] = fd;
}

/* Each socket begins with one byte: which it is (NCCL 2.28.9: 367-460). */
static int step(struct stage *stage, uint8_t *turn)
{
	bool is_send = stage->connection->is_send;
	int err;

	if (stage->state == READY) {
		err = mini_stream_ready(&stage->stream);
		if (err)
			return err;
		stage->state = TELL_TURN;
		stage->moved = 0;
	}
	err = mini_stream_move(stage->stream.fd, is_send, turn, 1, &stage->moved);
	if (err)
		return err;
	if (*turn > stage->connection->socket_count)
		return -EPROTO;
	keep(stage->connection, *turn, stage->stream.fd);
	stage->stream.fd = -1;
	stage->state = BEGIN;
	stage->turn++;
	return 0;
}

static int end_stage(struct stage *stage, int err,
		     struct mini_net_connection **ret_connection)
{
	*ret_connection = NULL;
	if (err == -EAGAIN)
		return err;
	if (err) {
		mini_stream_close(&stage->stream);
		socket_close(stage->connection);
	} else {
		*ret_connection = stage->connection;
	}
	stage->connection = NULL;
	return err;
}

static int socket_connect(int device, void *opaque,
			  struct mini_net_connection **ret_connection)
{
	struct handle *handle = opaque;
	struct stage *stage = handle->stage;
	uint8_t turn;
	int err = 0;

	(void) device;
	if (!stage) {
		stage = handle->stage = calloc(1, sizeof(*stage));
		if (!stage)
			return -ENOMEM;
		stage->stream.fd = -1;
		if (handle->sockets < 0 || handle->sockets > MINI_SOCKETS ||
		    handle->threads < 0 || handle->threads > MINI_SOCKET_THREADS)
			err = -EPROTO;
		stage->connection = new_connection(true, err ? 0 : handle->sockets,
						   err ? 0 : handle->threads);
		if (!stage->connection)
			return -ENOMEM;
	}
	while (!err && stage->turn <= stage->connection->socket_count) {
		turn = stage->turn;
		if (stage->state == BEGIN) {
			mini_stream_connect(&stage->stream, &handle->address,
					    handle->magic, MINI_SOCKET_NET);
			stage->state = READY;
		}
		err = step(stage, &turn);
	}
	err = end_stage(stage, err, ret_connection);
	if (err != -EAGAIN) {
		free(stage);
		handle->stage = NULL;
	}
	return err;
}

static int socket_accept(struct mini_net_listener *listener,
			 struct mini_net_connection **ret_connection)
{
	struct stage *stage = &listener->stage;
	uint8_t turn = UINT8_MAX;
	int err = 0;

	if (!stage->connection) {
		memset(stage, 0, sizeof(*stage));
		stage->stream.fd = -1;
		stage->connection =
			new_connection(false, listener->sockets, listener->threads);
		if (!stage->connection)
			return -ENOMEM;
	}
	while (!err && stage->turn <= stage->connection->socket_count) {
		if (stage->state == BEGIN) {
			mini_stream_accept(&stage->stream, listener->fd,
					   MINI_STREAM_MAGIC, MINI_SOCKET_NET);
			stage->state = READY;
		}
		err = step(stage, &turn);
	}
	return end_stage(stage, err, ret_connection);
}

static void close_listener(struct mini_net_listener *listener)
{
	if (listener->stage.connection) {
		mini_stream_close(&listener->stage.stream);
		socket_close(listener->stage.connection);
	}
	close(listener->fd);
	free(listener);
}

/* Sockets know of no regions. */
static int reg(struct mini_net_connection *connection, void *data, size_t size,
	       struct mini_net_region **ret_region)
{
	(void) connection;
	(void) data;
	(void) size;
	*ret_region = NULL;
	return 0;
}

static int dereg(struct mini_net_connection *connection, struct mini_net_region *region)
{
	(void) connection;
	(void) region;
	return 0;
}

static struct mini_net_request *new_request(struct mini_net_connection *connection,
					    void *data, size_t size)
{
	struct mini_net_request *request = connection->requests;
	int i;

	for (i = 0; i < MINI_NET_REQUESTS; i++, request++) {
		if (request->state != MINI_SOCKET_FREE)
			continue;
		memset(request, 0, sizeof(*request));
		request->connection = connection;
		request->state = MINI_SOCKET_SIZE;
		request->data = data;
		request->size = size;
		request->way.posted_ns = mini_truth_now();
		return request;
	}
	return NULL;
}

static int socket_isend(struct mini_net_connection *connection, const void *data,
			size_t size, int tag, struct mini_net_region *region,
			struct mini_net_request **ret_request)
{
	(void) tag;
	(void) region;
	if (size > INT32_MAX)
		return -EMSGSIZE;
	/* Only read: the type is shared with the receiving side. */
	*ret_request = new_request(connection, (void *) (uintptr_t) data, size);
	return *ret_request ? 0 : -ENOBUFS;
}

static int socket_irecv(struct mini_net_connection *connection, int count,
			void *const *data, const size_t *sizes, const int *tags,
			struct mini_net_region *const *regions,
			struct mini_net_request **ret_request)
{
	(void) tags;
	(void) regions;
	if (count != 1)
		return -EINVAL;
	*ret_request = new_request(connection, data[0], sizes[0]);
	return *ret_request ? 0 : -ENOBUFS;
}

static int socket_iflush(struct mini_net_connection *connection, int count,
			 void *const *data, const size_t *sizes,
			 struct mini_net_region *const *regions,
			 struct mini_net_request **ret_request)
{
	(void) connection;
	(void) count;
	(void) data;
	(void) sizes;
	(void) regions;
	*ret_request = NULL;
	return 0;
}

static size_t inline_bytes(size_t size)
{
	if (mini_release() < 22700 || size > (size_t) mini_number(SET_NCCL_SOCKET_INLINE))
		return 0;
	return size;
}

/* All of it as soon as some of it has moved; 1: there is none yet. */
static int move_all(struct mini_net_request *request, void *data, size_t size)
{
	struct mini_net_connection *connection = request->connection;
	size_t moved = 0;
	int err;

	do {
		err = mini_stream_move(connection->control_fd, connection->is_send, data,
				       size, &moved);
		if (err == -EAGAIN && moved == 0)
			return 1;
	} while (err == -EAGAIN);
	return err;
}

static int send_size(struct mini_net_request *request)
{
	size_t with = inline_bytes(request->size);
	char message[HEADER_BYTES + MINI_SOCKET_INLINE_MOST];
	int32_t size = (int32_t) request->size;

	memcpy(message, &size, HEADER_BYTES);
	memcpy(message + HEADER_BYTES, request->data, with);
	return move_all(request, message, HEADER_BYTES + with);
}

/* A sender may send less than was asked for, never more (NCCL 2.28.9: 556). */
static int receive_size(struct mini_net_request *request)
{
	int32_t size;
	size_t with;
	int err;

	if (!request->is_told) {
		err = move_all(request, &size, sizeof(size));
		if (err)
			return err;
		if (size < 0 || (size_t) size > request->size)
			return -EMSGSIZE;
		request->size = (size_t) size;
		request->is_told = true;
	}
	with = inline_bytes(request->size);
	return with > 0 ? move_all(request, request->data, with) : 0;
}

/* NCCL 2.28.9: 578-596: shares of at least 64 KiB. */
static int divide(struct mini_net_request *request)
{
	struct mini_net_connection *connection = request->connection;
	size_t least = (size_t) mini_number(SET_NCCL_SOCKET_MIN_TASKSIZE);
	size_t rest = request->size - request->moved;
	size_t share;
	size_t begin;
	int err = 0;

	if (connection->socket_count == 0)
		return 0;
	share = (rest + (size_t) connection->socket_count - 1) /
		(size_t) connection->socket_count;
	if (share < least)
		share = least;
	for (begin = request->moved; begin < request->size && !err; begin += share) {
		size_t size = request->size - begin;

		err = mini_socket_task(request, request->data + begin,
				       size < share ? size : share);
	}
	return err;
}

static int move_size(struct mini_net_request *request)
{
	int err =
		request->connection->is_send ? send_size(request) : receive_size(request);

	if (err)
		return err;
	request->state = MINI_SOCKET_DATA;
	request->moved = inline_bytes(request->size);
	return divide(request);
}

static int move_data(struct mini_net_request *request)
{
	struct mini_net_connection *connection = request->connection;
	int err;

	if (request->task_count > 0)
		return mini_socket_tasks(request);
	if (request->moved == request->size)
		return 0;
	err = mini_stream_move(connection->control_fd, connection->is_send, request->data,
			       request->size, &request->moved);
	return err == -EAGAIN ? 1 : err;
}

/* In the order in which they were begun: the control socket has one after the other. */
static int socket_test(struct mini_net_request *request, bool *ret_is_done,
		       size_t *ret_sizes, struct mini_way *ret_way)
{
	int rest = 0;

	*ret_is_done = false;
	if (request->state == MINI_SOCKET_SIZE)
		rest = move_size(request);
	if (!rest)
		rest = move_data(request);
	if (rest)
		return rest < 0 ? rest : 0;
	request->way.done_ns = mini_truth_now();
	if (ret_sizes)
		ret_sizes[0] = request->size;
	if (ret_way)
		*ret_way = request->way;
	request->state = MINI_SOCKET_FREE;
	*ret_is_done = true;
	return 0;
}

static void describe(const struct mini_net_connection *connection,
		     struct mini_truth_connection *told)
{
	int i;

	told->transport = "NET/Socket";
	told->sockets[told->socket_count++] =
		(struct mini_truth_socket){connection->control_fd, "control"};
	for (i = 0;
	     i < connection->socket_count && told->socket_count < MINI_TRUTH_SOCKETS; i++)
		told->sockets[told->socket_count++] =
			(struct mini_truth_socket){connection->fds[i], "data"};
}

const struct mini_net mini_net_socket = {
	.name = "Socket",
	.device_of = device_of,
	.max_receives = 1,
	.listen = socket_listen,
	.connect = socket_connect,
	.accept = socket_accept,
	.reg = reg,
	.dereg = dereg,
	.isend = socket_isend,
	.irecv = socket_irecv,
	.iflush = socket_iflush,
	.test = socket_test,
	.describe = describe,
	.close = socket_close,
	.close_listener = close_listener,
};
