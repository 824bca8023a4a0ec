/* SPDX-License-Identifier: MIT */
/* Blocking transfers that an abort can end. */
#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long an abort may go unnoticed. */
#define POLL_MS 20

struct handshake {
	uint64_t magic;
	int32_t type;
} __attribute__((packed));

static int wait_for(int fd, short events, const atomic_bool *aborted)
{
	struct pollfd pfd = {.fd = fd, .events = events};

	while (!atomic_load(aborted)) {
		int ready = poll(&pfd, 1, POLL_MS);

		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
	return -ECANCELED;
}

int mini_socket_listen_at(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *) address, sizeof(*address)) ||
	    listen(fd, SOMAXCONN) ||
	    getsockname(fd, (struct sockaddr *) address, &length)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int mini_socket_listen(struct sockaddr_in *ret_address)
{
	*ret_address = (struct sockaddr_in){.sin_family = AF_INET};
	ret_address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return mini_socket_listen_at(ret_address);
}

/* A short part of an answer would wait until the parts before it are acknowledged. */
static void send_at_once(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

int mini_socket_connect(const struct sockaddr_in *address, uint64_t magic,
			enum mini_socket_type type, const atomic_bool *aborted)
{
	struct handshake hello = {magic, type};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	send_at_once(fd);
	if (connect(fd, (const struct sockaddr *) address, sizeof(*address)))
		err = -errno;
	if (!err)
		err = mini_socket_send(fd, &hello, sizeof(hello), aborted);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int mini_socket_accept(int listen_fd, uint64_t magic, enum mini_socket_type type,
		       const atomic_bool *aborted)
{
	struct handshake hello;
	int fd;
	int err;

	for (;;) {
		err = wait_for(listen_fd, POLLIN, aborted);
		if (err)
			return err;
		fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			return -errno;
		send_at_once(fd);
		err = mini_socket_recv(fd, &hello, sizeof(hello), aborted);
		if (!err && hello.magic == magic && hello.type == (int32_t) type)
			return fd;
		close(fd);
		if (err == -ECANCELED)
			return err;
	}
}

int mini_socket_send(int fd, const void *data, size_t size, const atomic_bool *aborted)
{
	const char *next = data;
	ssize_t sent;
	int err;

	while (size > 0) {
		sent = send(fd, next, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (sent < 0) {
			err = wait_for(fd, POLLOUT, aborted);
			if (err)
				return err;
			continue;
		}
		next += sent;
		size -= (size_t) sent;
	}
	return 0;
}

int mini_socket_recv(int fd, void *data, size_t size, const atomic_bool *aborted)
{
	char *next = data;
	ssize_t got;
	int err;

	while (size > 0) {
		got = recv(fd, next, size, MSG_DONTWAIT);
		if (got == 0)
			return -ECONNRESET;
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (got < 0) {
			err = wait_for(fd, POLLIN, aborted);
			if (err)
				return err;
			continue;
		}
		next += got;
		size -= (size_t) got;
	}
	return 0;
}
