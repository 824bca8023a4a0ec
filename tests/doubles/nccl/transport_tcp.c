/* SPDX-License-Identifier: MIT */
/*
 * Messages over TCP as NCCL's NET/Socket frames them: 32 bits of size, then the
 * payload, in one piece with the size when it has no more than 128 bytes; all on
 * one socket, with MSG_DONTWAIT, from the progress thread.
 */
#include "transport.h"

#include "truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INLINE_BYTES 128

struct mini_request {
	struct mini_connection *connection;
	bool is_send;
	bool is_busy;
	char *data;
	size_t size;
	/* Counted from the first byte of the header. */
	size_t moved;
	char header[sizeof(int32_t) + INLINE_BYTES];
	size_t header_size;
	uint64_t posted_ns;
};

struct mini_connection {
	int fd;
	struct mini_request request;
};

static int new_connection(int fd, struct mini_connection **ret_connection)
{
	struct mini_connection *connection = calloc(1, sizeof(*connection));

	if (!connection) {
		close(fd);
		return -ENOMEM;
	}
	connection->fd = fd;
	connection->request.connection = connection;
	*ret_connection = connection;
	return 0;
}

static int tcp_connect(const struct sockaddr_in *address, uint64_t magic,
		       const struct mini_connect_info *info, const atomic_bool *aborted,
		       struct mini_connection **ret_connection)
{
	int fd = mini_socket_connect(address, magic, MINI_SOCKET_NET, aborted);
	int err;

	if (fd < 0)
		return fd;
	err = mini_socket_send(fd, info, sizeof(*info), aborted);
	if (err) {
		close(fd);
		return err;
	}
	return new_connection(fd, ret_connection);
}

static int tcp_accept(int listen_fd, uint64_t magic, struct mini_connect_info *ret_info,
		      const atomic_bool *aborted, struct mini_connection **ret_connection)
{
	int fd = mini_socket_accept(listen_fd, magic, MINI_SOCKET_NET, aborted);
	int err;

	if (fd < 0)
		return fd;
	err = mini_socket_recv(fd, ret_info, sizeof(*ret_info), aborted);
	if (err) {
		close(fd);
		return err;
	}
	return new_connection(fd, ret_connection);
}

/* The receiver reads the first bytes when it wants to. */
static int tcp_finish(struct mini_connection *connection)
{
	(void) connection;
	return 0;
}

static int tcp_isend(struct mini_connection *connection, const void *data, size_t size,
		     int tag, struct mini_request **ret_request)
{
	struct mini_request *request = &connection->request;
	int32_t announced = (int32_t) size;

	(void) tag;
	*ret_request = NULL;
	if (size > INT32_MAX)
		return -EMSGSIZE;
	if (request->is_busy)
		return 0;
	request->is_busy = true;
	request->is_send = true;
	/* Only read: the type is shared with the receiving side. */
	request->data = (char *) (uintptr_t) data;
	request->size = size;
	request->moved = 0;
	request->posted_ns = mini_truth_now();
	memcpy(request->header, &announced, sizeof(announced));
	request->header_size = sizeof(announced);
	if (size > 0 && size <= INLINE_BYTES) {
		memcpy(request->header + sizeof(announced), data, size);
		request->header_size += size;
	}
	*ret_request = request;
	return 0;
}

static int tcp_irecv(struct mini_connection *connection, int count, void *const *data,
		     const size_t *sizes, int tag, struct mini_request **ret_request)
{
	struct mini_request *request = &connection->request;

	(void) count;
	(void) tag;
	*ret_request = NULL;
	if (request->is_busy)
		return 0;
	request->is_busy = true;
	request->is_send = false;
	request->data = data[0];
	request->size = sizes[0];
	request->moved = 0;
	request->posted_ns = mini_truth_now();
	request->header_size = sizeof(int32_t);
	*ret_request = request;
	return 0;
}

/* Moves what the socket takes or has at once: 1 when the piece is complete. */
static int move(struct mini_request *request, char *data, size_t size)
{
	int fd = request->connection->fd;
	ssize_t n;

	if (request->is_send)
		n = send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		n = recv(fd, data, size, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	request->moved += (size_t) n;
	return (size_t) n == size;
}

/* A sender may send less than was asked for, never more. */
static int read_header(struct mini_request *request)
{
	int32_t announced;

	memcpy(&announced, request->header, sizeof(announced));
	if (announced < 0 || (size_t) announced > request->size)
		return -EMSGSIZE;
	request->size = (size_t) announced;
	return 0;
}

static int tcp_test(struct mini_request *request, bool *ret_is_done, size_t *ret_sizes,
		    struct mini_way *ret_way)
{
	size_t total;
	int moved = 1;

	*ret_is_done = false;
	if (request->moved < request->header_size) {
		moved = move(request, request->header + request->moved,
			     request->header_size - request->moved);
		if (moved > 0 && !request->is_send) {
			int err = read_header(request);

			if (err)
				return err;
		}
		if (moved <= 0)
			return moved;
	}
	total = sizeof(int32_t) + request->size;
	if (request->moved < total) {
		size_t offset = request->moved - sizeof(int32_t);

		moved = move(request, request->data + offset, request->size - offset);
	}
	if (moved <= 0)
		return moved;
	request->is_busy = false;
	*ret_is_done = true;
	ret_sizes[0] = request->size;
	ret_way->posted_ns = request->posted_ns;
	ret_way->done_ns = mini_truth_now();
	return 0;
}

static void tcp_close(struct mini_connection *connection)
{
	close(connection->fd);
	free(connection);
}

const struct mini_transport mini_transport_tcp = {
	.max_receives = 1,
	.listen = mini_socket_listen,
	.connect = tcp_connect,
	.accept = tcp_accept,
	.finish = tcp_finish,
	.isend = tcp_isend,
	.irecv = tcp_irecv,
	.test = tcp_test,
	.close = tcp_close,
};
