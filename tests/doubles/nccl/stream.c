/* SPDX-License-Identifier: MIT */
/* The steps of a socket of a network (NCCL 2.28.9, misc/socket.cc:442-700). */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int mini_stream_listen(struct sockaddr_in *ret_address)
{
	int fd = mini_socket_listen(ret_address);
	int flags;
	int err;

	if (fd < 0)
		return fd;
	flags = fcntl(fd, F_GETFL);
	if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) >= 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void mini_stream_connect(struct mini_stream *stream, const struct sockaddr_in *address,
			 uint64_t magic, enum mini_socket_type type)
{
	*stream = (struct mini_stream){.fd = -1,
				       .state = MINI_STREAM_CONNECT,
				       .listen_fd = -1,
				       .address = *address,
				       .magic = magic,
				       .type = (int32_t) type};
}

void mini_stream_accept(struct mini_stream *stream, int listen_fd, uint64_t magic,
			enum mini_socket_type type)
{
	*stream = (struct mini_stream){.fd = -1,
				       .state = MINI_STREAM_ACCEPT,
				       .is_accepted = true,
				       .listen_fd = listen_fd,
				       .magic = magic,
				       .type = (int32_t) type};
}

static int set_flags(int fd)
{
	int one = 1;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		return -errno;
	return 0;
}

static int start_to_connect(struct mini_stream *stream)
{
	int err;

	stream->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (stream->fd < 0)
		return -errno;
	err = set_flags(stream->fd);
	if (err)
		return err;
	stream->state = MINI_STREAM_GREET;
	if (connect(stream->fd, (struct sockaddr *) &stream->address,
		    sizeof(stream->address)) == 0)
		return 0;
	stream->state = MINI_STREAM_CONNECTING;
	return errno == EINPROGRESS ? 0 : -errno;
}

static int wait_for_connect(struct mini_stream *stream)
{
	struct pollfd pfd = {.fd = stream->fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int err = 0;

	if (poll(&pfd, 1, 1) <= 0)
		return -EAGAIN;
	if (getsockopt(stream->fd, SOL_SOCKET, SO_ERROR, &err, &size))
		return -errno;
	stream->state = MINI_STREAM_GREET;
	return -err;
}

static int try_to_accept(struct mini_stream *stream)
{
	stream->fd = accept4(stream->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (stream->fd < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	stream->state = MINI_STREAM_GREET;
	stream->moved = 0;
	return set_flags(stream->fd);
}

int mini_stream_move(int fd, bool is_send, void *data, size_t size, size_t *moved)
{
	char *next = (char *) data + *moved;
	ssize_t n;

	if (is_send)
		n = send(fd, next, size - *moved, MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		n = recv(fd, next, size - *moved, MSG_DONTWAIT);
	if (n == 0 && !is_send && size > *moved)
		return -ECONNRESET;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (n > 0)
		*moved += (size_t) n;
	return *moved == size ? 0 : -EAGAIN;
}

static int greet(struct mini_stream *stream)
{
	size_t part;
	int err = 0;

	if (stream->moved < sizeof(stream->magic)) {
		err = mini_stream_move(stream->fd, true, &stream->magic,
				       sizeof(stream->magic), &stream->moved);
		if (err)
			return err;
	}
	part = stream->moved - sizeof(stream->magic);
	err = mini_stream_move(stream->fd, true, &stream->type, sizeof(stream->type),
			       &part);
	stream->moved = sizeof(stream->magic) + part;
	return err;
}

/* Who does not know the magic number is sent away. */
static int be_greeted(struct mini_stream *stream)
{
	size_t part;
	int err = 0;

	if (stream->moved < sizeof(stream->magic)) {
		err = mini_stream_move(stream->fd, false, stream->greeting,
				       sizeof(stream->magic), &stream->moved);
		if (err == -EAGAIN)
			return err;
		if (err ||
		    memcmp(stream->greeting, &stream->magic, sizeof(stream->magic))) {
			mini_stream_close(stream);
			stream->state = MINI_STREAM_ACCEPT;
			return -EAGAIN;
		}
	}
	part = stream->moved - sizeof(stream->magic);
	err = mini_stream_move(stream->fd, false, stream->greeting, sizeof(stream->type),
			       &part);
	stream->moved = sizeof(stream->magic) + part;
	if (!err && memcmp(stream->greeting, &stream->type, sizeof(stream->type)))
		err = -EPROTO;
	return err;
}

int mini_stream_ready(struct mini_stream *stream)
{
	int err = 0;

	if (stream->state == MINI_STREAM_ACCEPT)
		err = try_to_accept(stream);
	if (!err && stream->state == MINI_STREAM_CONNECT)
		err = start_to_connect(stream);
	if (!err && stream->state == MINI_STREAM_CONNECTING)
		err = wait_for_connect(stream);
	if (!err && stream->state == MINI_STREAM_GREET) {
		err = stream->is_accepted ? be_greeted(stream) : greet(stream);
		if (!err)
			stream->state = MINI_STREAM_READY;
	}
	return err;
}

void mini_stream_close(struct mini_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
}
