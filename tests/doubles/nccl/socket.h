/* SPDX-License-Identifier: MIT */
/*
 * TCP over loopback as NCCL uses it: each connection begins with a handshake of
 * a magic number and a type, and every wait ends when the communicator is
 * aborted.  Hides polling and partial transfers.
 *
 * All functions return a descriptor, 0 or -errno; -ECONNRESET when the peer
 * closed, -ECANCELED when *aborted became true.
 */
#ifndef MINI_NCCL_SOCKET_H
#define MINI_NCCL_SOCKET_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the connection is for, in the handshake. */
enum mini_socket_type {
	MINI_SOCKET_BOOTSTRAP = 1,
	MINI_SOCKET_PROXY = 2,
	MINI_SOCKET_NET = 3,
	MINI_SOCKET_NET_IB = 4,
	MINI_SOCKET_RAS = 5
};

/* Listens on a free port of 127.0.0.1, which it returns. */
int mini_socket_listen(struct sockaddr_in *ret_address);
/* Listens where it is told to; a port that is 0 becomes a free one. */
int mini_socket_listen_at(struct sockaddr_in *address);
int mini_socket_connect(const struct sockaddr_in *address, uint64_t magic,
			enum mini_socket_type type, const atomic_bool *aborted);
/* Drops connections whose handshake does not fit and waits for the next. */
int mini_socket_accept(int listen_fd, uint64_t magic, enum mini_socket_type type,
		       const atomic_bool *aborted);
int mini_socket_send(int fd, const void *data, size_t size, const atomic_bool *aborted);
int mini_socket_recv(int fd, void *data, size_t size, const atomic_bool *aborted);

#endif
